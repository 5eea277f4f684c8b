"""Test that facts are unknown by default and can be stored."""

import msgspec

from relaybook.log.formats.facts import RequestFacts, ResponseFacts


def test_facts_are_unknown_by_default() -> None:
    assert not any(msgspec.structs.astuple(RequestFacts()))
    assert not any(msgspec.structs.astuple(ResponseFacts()))


def test_facts_do_not_share_their_metadata() -> None:
    first = RequestFacts()
    first.metadata["a"] = "b"
    assert RequestFacts().metadata == {}


def test_facts_can_be_written_as_json() -> None:
    assert msgspec.json.decode(msgspec.json.encode(ResponseFacts(input_tokens=3)))["input_tokens"] == 3
