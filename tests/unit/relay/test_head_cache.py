"""Claims about heads that are known: what is recalled is what reading would have found."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relaybook.relay.fingerprints import Fingerprints
from relaybook.relay.head_cache import HeadCache
from relaybook.relay.request_head import RequestHead, RequestHeadReader
from relaybook.tags import TagReader

READER = RequestHeadReader(TagReader(["Service"], "default", "full").is_tag, Fingerprints(b"secret"))
LINES = (b"Host: here", b"Authorization: Bearer sk-secret-1", b"Service-Namespace: ios", b"X-a: 1")


def raw(length: bytes = b"10", *lines: bytes, name: bytes = b"Content-Length", version: bytes = b"1.1") -> bytes:
    first = b"POST /v1/x HTTP/" + version
    return b"\r\n".join([first, *(lines or LINES), name + b": " + length, b"X-z: 9", b"", b""])


def read(data: bytes) -> RequestHead:
    head = READER.read(data)
    head.wire = b"\r\n".join([b"POST /there HTTP/1.1", *head.lines, b"", b""])
    return head


def facts(head: RequestHead) -> dict[str, object]:
    """All that a head tells but its lines, which the wire is made of."""
    names = [name for name, value in vars(RequestHead).items() if not (name.startswith("_") or callable(value))]
    return {name: getattr(head, name) for name in names}


def memory_of(data: bytes) -> HeadCache:
    memory = HeadCache()
    memory.remember(data, read(data))
    return memory


@given(st.integers(1, 10**12 - 1), st.binary(max_size=40))
def test_what_is_recalled_is_what_reading_would_have_found(length: int, body: bytes) -> None:
    data = raw(b"%d" % length)
    found = memory_of(raw()).recall(data + body)
    assert found is not None
    head, start = found
    assert start == len(data)
    assert facts(head) == facts(read(data))


def test_two_heads_that_were_recalled_do_not_share_their_lengths() -> None:
    memory = memory_of(raw())
    one, two = memory.recall(raw(b"5")), memory.recall(raw(b"77"))
    assert one is not None
    assert two is not None
    assert (one[0].length, two[0].length) == (5, 77)


@pytest.mark.parametrize(
    "other",
    [
        raw(b"0"),
        raw(b"05"),
        raw(b"+5"),
        raw(b"5 "),
        raw(b"5,5"),
        raw(b"5\n"),
        raw(b""),
        raw(b"1234567890123"),
        raw(b"\xb2"),
        raw(b"5", *LINES[:-1], b"X-a: 2"),
        raw(b"5", *LINES, b"X-b: 1"),
        raw(b"5", name=b"content-length"),
        raw(b"5", version=b"1.0"),
        raw(b"5").replace(b"X-z: 9", b"X-z: 8"),
        raw(b"5").replace(b"X-z: 9\r\n", b"X-z: 9\r\nTransfer-Encoding: chunked\r\n"),
        raw(b"5")[:-1],
        raw(b"5")[:40],
        b"",
    ],
)
def test_any_other_head_has_to_be_read(other: bytes) -> None:
    assert memory_of(raw()).recall(other) is None


@pytest.mark.parametrize(
    "odd",
    [
        raw(b"007"),
        raw(version=b"1.0"),
        raw(b"10", *LINES, b"Connection: close"),
        raw(b"10", *LINES, b"Expect: 100-continue"),
        raw(b"10", *LINES, b"X-big: " + b"x" * 5000),
        b"GET /v1/x HTTP/1.1\r\nHost: here\r\n\r\n",
        b"POST /v1/x HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n",
    ],
)
def test_odd_heads_are_not_remembered(odd: bytes) -> None:
    assert memory_of(odd).recall(odd) is None


def test_a_caller_whose_heads_always_differ_is_left_alone_for_longer_and_longer() -> None:
    memory, kept = HeadCache(), 0
    for number in range(500):
        data = raw(b"10", *LINES, b"traceparent: %d" % number)
        assert memory.recall(data) is None
        memory.remember(data, read(data))
        kept += memory.recall(data) is not None
    assert 5 < kept < 20


def test_secrets_stay_replaced_in_what_the_log_gets() -> None:
    found = memory_of(raw()).recall(raw(b"5"))
    assert found is not None
    assert b"sk-secret-1" not in found[0].logged
    assert found[0].logged.endswith(b"Content-Length: 5\r\nX-z: 9")
