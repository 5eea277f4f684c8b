"""Heads of answers."""

from relaybook_demo.simulator import heads
from relaybook_demo.simulator.replies import Stamp

STAMP = Stamp("0123456789abcdef0123", 784_111_777)


def test_date_is_written_as_http_does() -> None:
    assert heads.http_date(784_111_777) == b"Sun, 06 Nov 1994 08:49:37 GMT"


def test_status_line_knows_its_reason() -> None:
    assert heads.status_line(404, "1.1") == b"HTTP/1.1 404 Not Found"
    assert heads.status_line(299, "1.0") == b"HTTP/1.0 299 "


def test_full_set_is_as_large_as_the_real_one() -> None:
    assert len(heads.openai_headers(STAMP, 5, b"x/y")) >= 22
    assert len(heads.few_headers(STAMP, 5, b"x/y")) == 5


def test_values_are_written_as_they_are() -> None:
    assert heads.write_head(b"L", [(b"A", b"\x00\xff")]) == b"L\r\nA: \x00\xff\r\n\r\n"


def test_interim_response_is_a_head() -> None:
    assert heads.interim_head(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
    assert b"link: " in heads.interim_head(103)
