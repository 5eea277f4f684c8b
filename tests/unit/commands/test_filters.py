"""Filter arguments of commands."""

import pytest

from relaybook.commands.failure import BadArgument
from relaybook.commands.filters import read_terms


def test_arguments_are_names_and_values() -> None:
    assert read_terms(["namespace=a=b", "from=-15m", "not.status=error", "property.user_id=7"]) == [
        ("namespace", "a=b"),
        ("from", "-15m"),
        ("not.status", "error"),
        ("property.user_id", "7"),
    ]


@pytest.mark.parametrize(
    ("arguments", "query"),
    [
        (["refund"], "refund"),
        (["where is my refund"], '"where is my refund"'),
        (["duration:>2s", "-model:gpt-4o*"], "duration:>2s -model:gpt-4o*"),
        (["namespace:my channel"], 'namespace:"my channel"'),
        (["model:o1 refund status:error"], "model:o1 refund status:error"),
        (["refund -model:o1"], "refund -model:o1"),
        (["see http://x"], '"see http://x"'),
        (["at 10:30 sharp"], '"at 10:30 sharp"'),
        (['-"5"'], '-"5"'),
        (['"quoted already" -late'], '"quoted already" -late'),
        (["a==b"], None),
    ],
)
def test_everything_else_is_the_query_language(arguments: list[str], query: str | None) -> None:
    if query is None:
        with pytest.raises(BadArgument):
            read_terms(arguments)
    else:
        assert read_terms(["status=error", *arguments]) == [("status", "error"), ("q", query)]


@pytest.mark.parametrize(
    "bad", ["staging:x", "namspace=x", "status=99999", "from=yesterday", "--", "duration:2s", "-12"]
)
def test_what_the_api_would_refuse_is_refused_here(bad: str) -> None:
    with pytest.raises(BadArgument):
        read_terms([bad])


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ("12:30", """'12:30': '12' is no name here. To look for this text, write '"12:30"'."""),
        ("duration>2s", """'duration>2s': a name is followed by a colon: write duration:>2s."""),
        ("limit=5", "'limit=5' is no filter: how many are shown says -n, as in -n 5."),
    ],
)
def test_what_to_write_instead_can_be_typed_into_a_shell(bad: str, said: str) -> None:
    with pytest.raises(BadArgument) as refused:
        read_terms([bad])
    assert str(refused.value).startswith(said)
