"""Test the heads of responses."""

from relaybook_demo.simulator import heads
from relaybook_demo.simulator.replies import Stamp

STAMP = Stamp("0123456789abcdef0123", 784_111_777)


def test_dates_are_in_http_format() -> None:
    assert heads.http_date(784_111_777) == b"Sun, 06 Nov 1994 08:49:37 GMT"


def test_the_status_line_has_a_reason() -> None:
    assert heads.status_line(404, "1.1") == b"HTTP/1.1 404 Not Found"
    assert heads.status_line(299, "1.0") == b"HTTP/1.0 299 "


def test_the_openai_headers_are_complete() -> None:
    assert len(heads.openai_headers(STAMP, 5, b"x/y")) >= 22
    assert len(heads.few_headers(STAMP, 5, b"x/y")) == 5


def test_values_are_written_unchanged() -> None:
    assert heads.write_head(b"L", [(b"A", b"\x00\xff")]) == b"L\r\nA: \x00\xff\r\n\r\n"


def test_an_interim_response_is_a_head() -> None:
    assert heads.interim_head(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
    assert b"link: " in heads.interim_head(103)
