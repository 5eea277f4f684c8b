"""Flags that derive from the settings."""

import inspect
from typing import Any

from relaybook.cli.flags import takes_settings
from relaybook.settings.configuration import FLAGS


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


def test_the_help_says_what_may_be_written_and_what_is_taken_otherwise() -> None:
    @takes_settings()
    def every(**flags: Any) -> int:
        return len(flags)

    parameters = inspect.signature(every).parameters
    texts = {name: parameters[name].annotation.__metadata__[0].help for name in FLAGS}
    assert texts["durability"].endswith(" (process or power; default: process)")
    assert texts["drain_timeout"].endswith(" (default: 30 s)")
    assert texts["header_prefix"].endswith(" (default: Service, Relaybook)")
    assert "(" not in texts["hosts"]
