"""Flags that derive from the settings."""

import inspect
from typing import Any

from relaybook.configuration import FLAGS
from relaybook.flags import takes_settings


@takes_settings(("data", "hosts"))
def some(word: str, *, loud: bool = False, **flags: Any) -> int:
    return len(word) + loud + len(flags)


def test_flags_take_the_place_of_the_keywords() -> None:
    assert list(inspect.signature(some).parameters) == ["word", "loud", "config", "data", "hosts"]


def test_a_flag_is_none_unless_given() -> None:
    parameters = inspect.signature(some).parameters
    assert parameters["data"].default is None
    assert parameters["data"].kind is inspect.Parameter.KEYWORD_ONLY


def test_every_setting_has_its_flag_by_default() -> None:
    @takes_settings()
    def every(**flags: Any) -> int:
        return len(flags)

    assert list(inspect.signature(every).parameters) == ["config", *FLAGS]
