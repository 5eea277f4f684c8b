"""Wishes: where they are read, and that all of them are documented."""

import re

import pytest
from tests.support.tree import ROOT

from relaybook_demo.simulator.directive_values import BadDirective
from relaybook_demo.simulator.directives import NAMES, NO_DIRECTIVES, header_name, read_directives

DOCUMENT = ROOT / "docs" / "reference" / "simulator.md"


def test_request_without_wishes_has_the_one_empty_wish() -> None:
    assert read_directives([(b"Host", b"x"), (b"Simple", b"y")], "a=sim_", {"similar": "1"}) is NO_DIRECTIVES


def test_header_wins_over_query_over_metadata() -> None:
    header = [(b"SIM-Delay-ms", b"3")]
    assert read_directives([], "", {"sim_delay_ms": 1}).delay_ms == 1
    assert read_directives([], "sim_delay_ms=2", {"sim_delay_ms": "1"}).delay_ms == 2
    assert read_directives(header, "sim_delay_ms=2", {"sim_delay_ms": "1"}).delay_ms == 3


def test_header_lines_add_up_and_others_do_not() -> None:
    directives = read_directives(
        [(b"sim-header", b"a: 1"), (b"Sim-Header", b"b: 2"), (b"sim-tag", b"x"), (b"sim-tag", b"y")], "", None
    )
    assert directives.header == ((b"a", b"1"), (b"b", b"2"))
    assert directives.tag == "y"


@pytest.mark.parametrize(("header", "told"), [(b"Sim-Brake", "Sim-Brake is no wish"), (b"Sim-Delay-Ms", "a number")])
def test_misspelt_wish_is_refused(header: bytes, told: str) -> None:
    with pytest.raises(BadDirective, match=told):
        read_directives([(header, b"x")], "", None)


def test_error_event_has_two_forms() -> None:
    assert read_directives([(b"Sim-Error-Event", b"2")], "", None).error_event == (2, False)
    assert read_directives([], "sim_error_event=2+event", None).error_event == (2, True)


def test_every_wish_is_documented_and_no_other() -> None:
    documented = set(re.findall(r"`(Sim-[A-Za-z-]+)", DOCUMENT.read_text()))
    assert documented == {header_name(name) for name in NAMES}
