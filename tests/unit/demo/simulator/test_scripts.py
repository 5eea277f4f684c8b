"""Test that scripts define the bytes of a response exactly."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relaybook_demo.simulator.plans import CLOSE, KEEP
from relaybook_demo.simulator.scripts import Raw, Script, plan_script, read_script, split_bytes, wire_bytes


@given(st.binary(max_size=50), st.lists(st.integers(0, 9)))
def test_splitting_loses_nothing(data: bytes, sizes: list[int]) -> None:
    chunks = list(split_bytes(data, sizes))
    assert b"".join(chunks) == data
    assert all(chunks)


def test_only_framing_is_added() -> None:
    script = Script(headers=[("A", "é"), ("b", Raw(b"\xff"))], body=b"abc")
    assert wire_bytes(script) == b"HTTP/1.1 200 OK\r\nA: \xe9\r\nb: \xff\r\ncontent-length: 3\r\n\r\nabc"
    script.framing = "raw"
    assert wire_bytes(script) == b"HTTP/1.1 200 OK\r\nA: \xe9\r\nb: \xff\r\n\r\nabc"


def test_chunks_have_the_given_sizes() -> None:
    script = Script(body=b"abcdef", framing="chunked", chunk_sizes=[1, 2], trailers=[("t", "1")], prelude="x\n")
    head = b"x\nHTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
    assert wire_bytes(script) == head + b"1\r\na\r\n2\r\nbc\r\n3\r\ndef\r\n0\r\nt: 1\r\n\r\n"


def test_a_head_request_gets_no_body() -> None:
    plan = plan_script(Script(body=b"abc"), "HEAD")
    assert b"".join(plan.parts).endswith(b"content-length: 3\r\n\r\n")


def test_close_framing_or_after_closes_the_connection() -> None:
    assert plan_script(Script(framing="close"), "GET").after == CLOSE
    assert plan_script(Script(framing="raw"), "GET").after == KEEP
    assert plan_script(Script(after="rst"), "GET").after.ending == "rst"


def test_a_script_is_parsed_from_json() -> None:
    script = read_script(b'{"status_line": {"base64": "/w=="}, "body": "YWJj", "headers": [["a", "b"]]}')
    assert (script.status_line, script.body, script.headers) == (Raw(b"\xff"), b"abc", [("a", "b")])
    with pytest.raises(msgspec.DecodeError, match="bodyy"):
        read_script(b'{"bodyy": ""}')
