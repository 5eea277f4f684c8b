"""Test the flags that are derived from settings."""

import inspect
from typing import Any

from relaybook.cli.flags import takes_settings
from relaybook.settings.configuration import FLAGS


@takes_settings(("data", "hosts"))
def some(word: str, *, loud: bool = False, **flags: Any) -> int:
    return len(word) + loud + len(flags)


def test_flags_replace_the_keyword_arguments() -> None:
    assert list(inspect.signature(some).parameters) == ["word", "loud", "config", "data", "hosts"]


def test_an_unused_flag_is_none() -> None:
    parameters = inspect.signature(some).parameters
    assert parameters["data"].default is None
    assert parameters["data"].kind is inspect.Parameter.KEYWORD_ONLY


def test_by_default_every_setting_has_a_flag() -> None:
    @takes_settings()
    def every(**flags: Any) -> int:
        return len(flags)

    assert list(inspect.signature(every).parameters) == ["config", *FLAGS]


def test_the_help_contains_choices_and_default() -> None:
    @takes_settings()
    def every(**flags: Any) -> int:
        return len(flags)

    parameters = inspect.signature(every).parameters
    texts = {name: parameters[name].annotation.__metadata__[0].help for name in FLAGS}
    assert texts["durability"].endswith(" (process or power; default: process)")
    assert texts["drain_timeout"].endswith(" (default: 30 s)")
    assert texts["header_prefix"].endswith(" (default: Service, Relaybook)")
    assert "(" not in texts["hosts"]
