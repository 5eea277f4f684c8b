"""Delivery: what is written, in which writes, up to where."""

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relaybook_demo.simulator.delivery import deliver, frame, until_break
from relaybook_demo.simulator.directive_values import Break, Pieces
from relaybook_demo.simulator.plans import Plan


class FakeOutlet:
    """Remembers writes."""

    def __init__(self) -> None:
        self.writes: list[bytes] = []
        self.content = b""

    def write(self, data: bytes) -> None:
        self.writes.append(data)

    def count(self, content: bytes) -> None:
        self.content += content

    async def drain(self) -> None:
        pass


def delivered(**plan: Any) -> tuple[FakeOutlet, str]:
    outlet = FakeOutlet()
    how = asyncio.run(deliver(outlet, Plan(**{"head": b"HEAD", "parts": [b"one", b"four"], **plan})))
    return outlet, how


def test_answer_is_head_chunks_and_tail() -> None:
    outlet, how = delivered(framing="chunked", tail=b"0\r\n\r\n", interim=(b"100",))
    assert outlet.writes == [b"100", b"HEAD", b"3\r\none\r\n", b"4\r\nfour\r\n", b"0\r\n\r\n"]
    assert (outlet.content, how) == (b"onefour", "whole")


@pytest.mark.parametrize(
    ("broken", "writes", "content"),
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
def test_break_comes_exactly_there_and_the_tail_never(broken: Break, writes: list[bytes], content: bytes) -> None:
    outlet, how = delivered(framing="chunked", tail=b"0\r\n\r\n", break_=broken)
    assert (outlet.writes, outlet.content, how) == (writes, content, "rst")


def test_pieces_are_separate_writes() -> None:
    outlet, _ = delivered(head_piece=Pieces(3, 0), piece=Pieces(2, 0), tail=b"t")
    assert outlet.writes == [b"HEA", b"D", b"on", b"e", b"fo", b"ur", b"t"]


@given(st.lists(st.binary(min_size=1, max_size=9)), st.integers(0, 60))
def test_byte_break_keeps_exactly_so_many_bytes(parts: list[bytes], offset: int) -> None:
    sent = b"".join(part[:kept] for part, kept in until_break(parts, Break("byte", 0, offset, "fin")))
    assert sent == b"".join(parts)[:offset]


def test_frame_announces_the_whole_part() -> None:
    assert frame(b"abc", 1) == b"3\r\na"
    assert frame(b"", None) == b"", "an empty chunk would end the body"
