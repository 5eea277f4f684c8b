"""Test how responses are delivered: the bytes, how the bytes are split into writes, and broken responses."""

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relaybook_demo.simulator.delivery import deliver, frame, until_break
from relaybook_demo.simulator.directive_values import Break, PacedWrites
from relaybook_demo.simulator.plans import Plan


class FakeWriter:
    """Records every write."""

    def __init__(self) -> None:
        self.writes: list[bytes] = []
        self.content = b""

    def write(self, data: bytes) -> None:
        self.writes.append(data)

    def count(self, content: bytes) -> None:
        self.content += content

    async def drain(self) -> None:
        pass


def deliver_plan(**plan: Any) -> tuple[FakeWriter, str]:
    writer = FakeWriter()
    ending = asyncio.run(deliver(writer, Plan(**{"head": b"HEAD", "parts": [b"one", b"four"], **plan})))
    return writer, ending


def test_a_response_is_head_chunks_and_tail() -> None:
    writer, ending = deliver_plan(framing="chunked", tail=b"0\r\n\r\n", interim=(b"100",))
    assert writer.writes == [b"100", b"HEAD", b"3\r\none\r\n", b"4\r\nfour\r\n", b"0\r\n\r\n"]
    assert (writer.content, ending) == (b"onefour", "complete")


@pytest.mark.parametrize(
    ("break_", "writes", "content"),
    [
        (Break("head", 0, 0, "rst"), [], b""),
        (Break("head", 0, 2, "rst"), [b"HE"], b""),
        (Break("byte", 0, 0, "rst"), [b"HEAD"], b""),
        (Break("byte", 0, 3, "rst"), [b"HEAD", b"3\r\none\r\n"], b"one"),
        (Break("byte", 0, 5, "rst"), [b"HEAD", b"3\r\none\r\n", b"4\r\nfo"], b"onefo"),
        (Break("event", 1, 0, "rst"), [b"HEAD", b"3\r\none\r\n"], b"one"),
        (Break("event", 0, 1, "rst"), [b"HEAD", b"3\r\no"], b"o"),
        (Break("event", 9, 0, "rst"), [b"HEAD", b"3\r\none\r\n", b"4\r\nfour\r\n"], b"onefour"),
        (Break("end", 0, 0, "rst"), [b"HEAD", b"3\r\none\r\n", b"4\r\nfour\r\n"], b"onefour"),
    ],
)
def test_a_break_is_exact_and_omits_the_tail(break_: Break, writes: list[bytes], content: bytes) -> None:
    writer, ending = deliver_plan(framing="chunked", tail=b"0\r\n\r\n", break_=break_)
    assert (writer.writes, writer.content, ending) == (writes, content, "rst")


def test_paced_writes_are_separate() -> None:
    writer, _ = deliver_plan(head_writes=PacedWrites(3, 0), body_writes=PacedWrites(2, 0), tail=b"t")
    assert writer.writes == [b"HEA", b"D", b"on", b"e", b"fo", b"ur", b"t"]


@given(st.lists(st.binary(min_size=1, max_size=9)), st.integers(0, 60))
def test_a_byte_break_sends_exactly_that_many_bytes(parts: list[bytes], offset: int) -> None:
    sent = b"".join(part[:length] for part, length in until_break(parts, Break("byte", 0, offset, "fin")))
    assert sent == b"".join(parts)[:offset]


def test_a_frame_declares_the_size_of_the_whole_part() -> None:
    assert frame(b"abc", 1) == b"3\r\na"
    assert frame(b"", None) == b"", "an empty chunk would end the body"
