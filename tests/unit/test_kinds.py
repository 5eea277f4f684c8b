"""Test how the path determines the kind of a request, and test the error event for streams of each kind."""

import json

import pytest

from relaybook.kinds import Kind, kind_of, stream_error_event


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/chat/completions", "chat"),
        ("/chat/completions/", "chat"),
        ("/completions", "completion"),
        ("/responses", "response"),
        ("/embeddings", "embedding"),
        ("/messages", "message"),
        ("/messages/count_tokens", "message"),
        ("/messages/batches", "other"),
        ("/models", "models"),
        ("/models/org%2Fmodel", "models"),
        ("/audio/speech", "other"),
        ("", "other"),
    ],
)
def test_the_kind_is_determined_by_the_path(path: str, kind: str) -> None:
    assert kind_of(path) == kind


@pytest.mark.parametrize("kind", ["chat", "completion", "response"])
def test_the_error_event_of_a_stream_is_one_complete_event(kind: Kind) -> None:
    event = stream_error_event(kind, "upstream_stream_interrupted", "It broke: ü.")
    assert event is not None
    assert event.startswith(b"data: ")
    assert event.endswith(b"\n\n")
    assert event.count(b"\n") == 2
    error = json.loads(event[6:])["error"]
    assert (error["code"], error["message"]) == ("upstream_stream_interrupted", "It broke: ü.")


def test_the_error_event_of_a_message_stream_has_anthropics_structure() -> None:
    event = stream_error_event("message", "upstream_stream_interrupted", "It broke.")
    assert event is not None
    name, data, *rest = event.split(b"\n")
    assert (name, rest) == (b"event: error", [b"", b""])
    assert json.loads(data.removeprefix(b"data: ")) == {
        "type": "error",
        "error": {"type": "api_error", "message": "It broke."},
    }


@pytest.mark.parametrize("kind", ["embedding", "models", "other"])
def test_a_kind_without_event_streams_has_no_error_event(kind: Kind) -> None:
    assert stream_error_event(kind, "upstream_stream_interrupted", "It broke.") is None
