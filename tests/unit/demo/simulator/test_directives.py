"""Test where directives can be given, and that all directives are documented."""

import re

import pytest
from tests.support.tree import ROOT

from relaybook_demo.simulator.directive_values import BadDirective
from relaybook_demo.simulator.directives import NAMES, NO_DIRECTIVES, header_name, read_directives

DOCUMENT = ROOT / "docs" / "reference" / "simulator.md"


def test_a_request_without_directives_has_the_shared_empty_directives() -> None:
    assert read_directives([(b"Host", b"x"), (b"Simple", b"y")], "a=sim_", {"similar": "1"}) is NO_DIRECTIVES


def test_headers_precede_the_query_and_the_query_metadata() -> None:
    header = [(b"SIM-Delay-ms", b"3")]
    assert read_directives([], "", {"sim_delay_ms": 1}).delay_ms == 1
    assert read_directives([], "sim_delay_ms=2", {"sim_delay_ms": "1"}).delay_ms == 2
    assert read_directives(header, "sim_delay_ms=2", {"sim_delay_ms": "1"}).delay_ms == 3


def test_only_header_directives_accumulate() -> None:
    directives = read_directives(
        [(b"sim-header", b"a: 1"), (b"Sim-Header", b"b: 2"), (b"sim-tag", b"x"), (b"sim-tag", b"y")], "", None
    )
    assert directives.header == ((b"a", b"1"), (b"b", b"2"))
    assert directives.tag == "y"


@pytest.mark.parametrize(
    ("header", "message"), [(b"Sim-Brake", "Sim-Brake is not a directive"), (b"Sim-Delay-Ms", "a number")]
)
def test_a_misspelled_directive_is_rejected(header: bytes, message: str) -> None:
    with pytest.raises(BadDirective, match=message):
        read_directives([(header, b"x")], "", None)


def test_a_directive_without_a_reader_is_parsed_by_its_type() -> None:
    query = "sim_status=429&sim_done=no&sim_usage=null&sim_first_token_ms=250&sim_raw=YQ==&sim_script=null&sim_http=1.0"
    directives = read_directives([], query, {"sim_stream": 1})
    assert (directives.status, directives.done, directives.usage) == (429, False, "null")
    assert (directives.first_token_ms, directives.raw, directives.script) == (250.0, b"a", "null")
    assert (directives.http, directives.stream) == ("1.0", True)


def test_an_error_event_has_two_forms() -> None:
    assert read_directives([(b"Sim-Error-Event", b"2")], "", None).error_event == (2, False)
    assert read_directives([], "sim_error_event=2+event", None).error_event == (2, True)


def test_exactly_the_existing_directives_are_documented() -> None:
    documented = set(re.findall(r"`(Sim-[A-Za-z-]+)", DOCUMENT.read_text()))
    assert documented == {header_name(name) for name in NAMES}
