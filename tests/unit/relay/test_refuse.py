"""Claims about the relay's own answers."""

import json

import pytest

from relaybook.errors import RelayError
from relaybook.relay import refuse


@pytest.mark.parametrize("error", list(RelayError))
def test_every_refusal_has_openais_shape_and_our_header(error: RelayError) -> None:
    head, _, body = refuse.answer(error, "What to do: naïve.", "Service").partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 %d " % error.status)
    assert f"Service-Error: {error.code}".encode() in head
    assert b"Content-Length: %d" % len(body) in head
    fields = json.loads(body)["error"]
    assert fields == {"message": "What to do: naïve.", "type": "relay_error", "param": None, "code": error.code}


def test_a_caller_learns_when_to_try_again() -> None:
    for error in (RelayError.OVERLOADED, RelayError.LOG_UNAVAILABLE, RelayError.SHUTTING_DOWN):
        assert b"retry-after-ms: " in refuse.answer(error, "", "Service")
    assert b"retry-after-ms" not in refuse.answer(RelayError.BAD_REQUEST, "", "Service")


def test_an_admitted_refusal_names_its_record() -> None:
    assert b"x-request-id: abc" in refuse.error_lines(RelayError.UPSTREAM_RESET, b"{}", "Service", "abc")


def test_the_event_of_a_broken_stream_is_one_whole_event() -> None:
    event = refuse.stream_error_event("It broke.")
    assert event.startswith(b"data: ")
    assert event.endswith(b"\n\n")
    assert event.count(b"\n") == 2
    assert json.loads(event[6:])["error"]["code"] == "upstream_stream_interrupted"


def test_the_last_answer_of_a_connection_says_so() -> None:
    assert b"\r\nConnection: close\r\n\r\nok\n" in refuse.text_answer(200, "ok\n", is_last=True)
    assert b"Connection" not in refuse.text_answer(200, "ok\n")


def test_a_head_has_no_body() -> None:
    assert refuse.text_answer(200, "ok\n", head_only=True).endswith(b"Content-Length: 3\r\n\r\n")
