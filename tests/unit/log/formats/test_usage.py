"""Test that token counts are read under all names that providers use."""

import pytest

from relaybook.log.formats.facts import ResponseFacts, Usage
from relaybook.log.formats.usage import set_usage


def counts(usage: Usage) -> tuple[int | None, int | None, int | None, int | None]:
    facts = ResponseFacts()
    set_usage(facts, usage)
    return facts.input_tokens, facts.output_tokens, facts.cached_tokens, facts.reasoning_tokens


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (
            {
                "prompt_tokens": 9,
                "completion_tokens": 5,
                "prompt_tokens_details": {"cached_tokens": 4},
                "completion_tokens_details": {"reasoning_tokens": 3},
            },
            (9, 5, 4, 3),
        ),
        (
            {
                "input_tokens": 9,
                "output_tokens": 5,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens_details": {"reasoning_tokens": 0},
            },
            (9, 5, 0, 0),
        ),
        ({"prompt_tokens": 9, "total_tokens": 9}, (9, None, None, None)),
        ({"prompt_tokens": 9, "completion_tokens": 1, "prompt_cache_hit_tokens": 8}, (9, 1, 8, None)),
        ({"prompt_tokens": 9.0, "completion_tokens": 1.5, "prompt_tokens_details": None}, (9, None, None, None)),
        ({"prompt_tokens": True, "completion_tokens": "5", "prompt_tokens_details": 4}, (None, None, None, None)),
        ({"prompt_tokens": 1e300}, (None, None, None, None)),
        (
            {
                "prompt_tokens": 32,
                "completion_tokens": 9,
                "total_tokens": 135,
                "completion_tokens_details": {"reasoning_tokens": 94},
            },
            (32, 103, None, 94),
        ),
        (
            {
                "prompt_tokens": 32,
                "completion_tokens": 103,
                "total_tokens": 135,
                "completion_tokens_details": {"reasoning_tokens": 94},
            },
            (32, 103, None, 94),
        ),
        (
            {"prompt_tokens": 0, "completion_tokens": 2**62, "total_tokens": 2**63 - 1, "reasoning_tokens": 2**62 - 1},
            (0, 2**63 - 1, None, 2**62 - 1),
        ),
    ],
)
def test_counts_are_read_under_every_name(usage: Usage, expected: tuple[int | None, ...]) -> None:
    assert counts(usage) == expected
