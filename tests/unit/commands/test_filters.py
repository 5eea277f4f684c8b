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


@pytest.mark.parametrize("bad", ["staging", "namspace=x", "status=99999", "from=yesterday", "q=x"])
def test_what_the_api_would_refuse_is_refused_here(bad: str) -> None:
    with pytest.raises(BadArgument):
        read_terms([bad])
