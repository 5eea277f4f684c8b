"""Test what the finish reasons of each API mean."""

import pytest

from relaybook.log.finish_reasons import finish_of


@pytest.mark.parametrize(
    ("reasons", "finish"),
    [
        (("tool_calls", "function_call", "tool_use"), "tool_calls"),
        (("length", "max_output_tokens", "max_tokens"), "token_limit"),
        (("model_context_window_exceeded", "model_length"), "context_window"),
        (("content_filter", "refusal"), "filtered"),
        (("stop", "end_turn", "stop_sequence", "pause_turn", "completed", "no_such_reason", "", None), None),
    ],
)
def test_each_finish_reason_has_one_meaning(reasons: tuple[str | None, ...], finish: str | None) -> None:
    assert [finish_of(reason) for reason in reasons] == [finish] * len(reasons)


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("stop,length", "token_limit"),
        ("tool_calls,length,stop", "token_limit"),
        ("tool_calls,refusal", "filtered"),
        ("stop,stop", None),
        ("lengthy,stop", None),
    ],
)
def test_of_several_choices_the_one_that_is_least_complete_counts(reason: str, finish: str | None) -> None:
    assert finish_of(reason) == finish
