"""Test the error responses that the relay makes itself."""

import json

import pytest

from relaybook.errors import RelayError
from relaybook.relay import response_lines


@pytest.mark.parametrize("error", list(RelayError))
def test_every_error_has_openais_format_and_the_error_header(error: RelayError) -> None:
    head, _, body = response_lines.error_response(error, "What to do: naïve.", "Service").partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 %d " % error.status)
    assert f"Service-Error: {error.code}".encode() in head
    assert b"Content-Length: %d" % len(body) in head
    fields = json.loads(body)["error"]
    assert fields == {"message": "What to do: naïve.", "type": "relay_error", "param": None, "code": error.code}


def test_retryable_errors_have_retry_after_ms() -> None:
    for error in (RelayError.OVERLOADED, RelayError.LOG_UNAVAILABLE, RelayError.SHUTTING_DOWN):
        assert b"retry-after-ms: " in response_lines.error_response(error, "", "Service")
    assert b"retry-after-ms" not in response_lines.error_response(RelayError.BAD_REQUEST, "", "Service")


def test_405_lists_the_supported_methods() -> None:
    head, _, _ = response_lines.error_response(RelayError.METHOD_NOT_ALLOWED, "", "Service").partition(b"\r\n\r\n")
    assert b"Allow: GET, HEAD, POST" in head
    assert b"TRACE" not in head


def test_426_names_the_protocol_to_use() -> None:
    """RFC 9110 §15.5.22 requires Upgrade, and §7.8 requires the connection option."""
    head, _, _ = response_lines.error_response(RelayError.UPGRADE_REQUIRED, "", "Service").partition(b"\r\n\r\n")
    lines = head.split(b"\r\n")
    assert lines[0] == b"HTTP/1.1 426 Upgrade Required"
    assert b"Upgrade: HTTP/1.1" in lines
    assert [line for line in lines if line.lower().startswith(b"connection:")] == [b"Connection: close, upgrade"]


def test_the_error_of_an_admitted_request_has_its_record_id() -> None:
    assert b"x-request-id: abc" in response_lines.error_lines(RelayError.UPSTREAM_RESET, b"{}", "Service", "abc")


def test_the_last_response_of_a_connection_has_connection_close() -> None:
    assert b"\r\nConnection: close\r\n\r\nok\n" in response_lines.text_response(200, "ok\n", is_last=True)
    assert b"Connection" not in response_lines.text_response(200, "ok\n")


def test_a_response_to_head_has_no_body() -> None:
    assert response_lines.text_response(200, "ok\n", head_only=True).endswith(b"Content-Length: 3\r\n\r\n")
