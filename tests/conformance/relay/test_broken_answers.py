"""An answer that breaks off never ends cleanly for its caller, and the log has what had come of it."""

import asyncio
import json
import re
from dataclasses import dataclass

import pytest
from tests.conformance.relay.provider import Line, Seen
from tests.conformance.relay.wire import Head
from tests.conformance.relay.world import World, ask

CHAT = b"POST /v1/chat/completions HTTP/1.1"
EVENT_STREAM = b"Content-Type: text/event-stream\r\n"


@dataclass
class Broken:
    """What a caller got of an answer that broke off: all raw bytes after the head, and how the connection ended."""

    request_id: str
    after_head: bytes
    how: str

    @property
    def chunks(self) -> bytes:
        """The body of a chunked answer that has no last chunk."""
        rest, body = self.after_head, b""
        while rest:
            size, _, rest = rest.partition(b"\r\n")
            length = int(size, 16)
            assert length > 0, "a last chunk: a clean end"
            assert len(rest) >= length + 2, "a chunk that was cut"
            body += rest[:length]
            rest = rest[length + 2 :]
        return body


async def ask_for_broken(
    world: World, head: bytes, *pieces: bytes, by: str = "fin", first: bytes = CHAT, wait_for: bytes = b""
) -> Broken:
    """Lets the provider send a head and pieces and then end its connection, by ``fin`` or ``rst``.

    What breaks an answer may overtake what was sent before it, so with ``wait_for`` the provider waits for that to
    reach the caller: with all but the first piece, and with a reset.
    """
    arrived = asyncio.Event()

    async def script(line: Line, _: Seen) -> None:
        await line.send(b"HTTP/1.1 200 OK\r\n" + head + b"\r\n", *pieces[:1])
        if wait_for:
            await arrived.wait()
        await line.send(*pieces[1:])
        if by == "rst":
            await line.reset()
        else:
            await line.close()

    async with world.caller() as caller:
        await caller.send(ask(world.script(script), first=first, body=b"{}"))
        got, how = b"", "fin"
        try:
            while True:
                if b"\r\n\r\n" in got and got.endswith(wait_for):
                    arrived.set()
                data = await caller.read()
                if not data:
                    break
                got += data
        except ConnectionResetError:
            how = "rst"
    raw, mark, rest = got.partition(b"\r\n\r\n")
    found = re.search(rb"\r\nService-Request-Id: (\S+)", raw + mark)
    assert found, f"no request id: {got!r}"
    assert Head.parse(raw + mark).first == b"HTTP/1.1 200 OK"
    return Broken(found[1].decode(), rest, how)


def check_failed(world: World, broken: Broken, body: bytes) -> None:
    """The record of an answer that broke off, and what is stored of it."""
    record = world.server.record(broken.request_id)
    assert (record["outcome"], record["failed"], record["status"]) == ("upstream_failed", True, 200)
    assert record["response_bytes"] == len(body)
    assert world.server.body(broken.request_id, "response") == body


@pytest.mark.parametrize("by", ["fin", "rst"])
def test_a_body_shorter_than_its_length_is_cut_for_the_caller_too(world: World, by: str) -> None:
    broken = world.run(ask_for_broken(world, b"Content-Length: 10\r\n", b"short", by=by, wait_for=b"short"))
    assert broken.after_head == b"short"
    check_failed(world, broken, b"short")


@pytest.mark.parametrize("by", ["fin", "rst"])
def test_chunks_without_a_last_one_are_cut_for_the_caller_too(world: World, by: str) -> None:
    head = b"Transfer-Encoding: chunked\r\n"
    broken = world.run(ask_for_broken(world, head, b"5\r\nshort\r\n", by=by, wait_for=b"short\r\n"))
    assert broken.chunks == b"short"
    check_failed(world, broken, b"short")


def test_bytes_that_are_no_chunk_are_cut_for_the_caller_too(world: World) -> None:
    head = b"Transfer-Encoding: chunked\r\n"
    broken = world.run(ask_for_broken(world, head, b"5\r\nshort\r\n", b"no chunk\r\n", wait_for=b"short\r\n"))
    assert broken.chunks == b"short"
    check_failed(world, broken, b"short")
    assert world.server.record(broken.request_id)["error_code"] == "upstream_protocol_error"


def test_a_reset_of_an_answer_without_a_length_is_a_reset_for_the_caller(world: World) -> None:
    broken = world.run(ask_for_broken(world, b"A: 1\r\n", b"short", by="rst", wait_for=b"short"))
    assert (broken.after_head, broken.how) == (b"short", "rst")
    check_failed(world, broken, b"short")


# -- streams ---------------------------------------------------------------------------------------------------------

DATA = b'data: {"choices":[{"delta":{"content":"\xc3\xa9"}}]}'


def interrupted(events: bytes, sent: bytes) -> bool:
    """Whether what follows ``sent`` is exactly one event of ours that names the interruption."""
    assert events.startswith(sent)
    added = events[len(sent) :]
    if not added:
        return False
    assert added.startswith(b"data: ")
    assert added.endswith(b"\n\n")
    assert added.count(b"\n") == 2
    assert json.loads(added[6:])["error"]["code"] == "upstream_stream_interrupted"
    return True


@pytest.mark.parametrize("end", [b"\n", b"\r\n"], ids=["LF", "CRLF"])
def test_a_stream_that_breaks_between_events_says_so_and_inside_one_just_ends(world: World, end: bytes) -> None:
    event = DATA + end * 2
    stream = event * 2
    head = b"Transfer-Encoding: chunked\r\n" + EVENT_STREAM

    def chunk(offset: int) -> tuple[bytes, ...]:
        return (b"%x\r\n%b\r\n" % (offset, stream[:offset]),) if offset else ()

    async def break_everywhere() -> list[Broken]:
        return await asyncio.gather(*(ask_for_broken(world, head, *chunk(offset)) for offset in range(len(stream) + 1)))

    for offset, broken in enumerate(world.run(break_everywhere())):
        body, sent = broken.chunks, stream[:offset]
        if not sent.endswith(b"\r\n\r"):  # an empty line for some readers of event streams, half of one for others
            assert interrupted(body, sent) == (offset % len(event) == 0), offset
        check_failed(world, broken, body)
        record = world.server.record(broken.request_id)
        assert (record["stream"], record["stream_ended"]) == (True, "cut")


def test_a_stream_that_is_reset_between_events_says_so(world: World) -> None:
    event = DATA + b"\n\n"
    chunk = b"%x\r\n%b\r\n" % (len(event), event)
    head = b"Transfer-Encoding: chunked\r\n" + EVENT_STREAM
    broken = world.run(ask_for_broken(world, head, chunk, by="rst", wait_for=event + b"\r\n"))
    assert interrupted(broken.chunks, event)
    check_failed(world, broken, broken.chunks)


def test_an_event_cut_by_the_reads_is_still_seen_as_whole(world: World) -> None:
    """The two line ends that close an event may come in reads of their own."""

    async def work() -> Broken:
        arrived = asyncio.Event()

        async def script(line: Line, _: Seen) -> None:
            await line.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n" + EVENT_STREAM + b"\r\n")
            await line.send(b"8\r\ndata: 1\n\r\n")
            await arrived.wait()
            await line.send(b"1\r\n\n\r\n")
            await line.close()

        async with world.caller() as caller:
            await caller.send(ask(world.script(script), first=CHAT, body=b"{}"))
            head = await caller.head()
            got = b""
            while b"data: 1\n" not in got:
                got += await caller.read()
            arrived.set()
            rest, how = await caller.rest()
        return Broken((head.one(b"service-request-id") or b"").decode(), got + rest, how)

    broken = world.run(work())
    assert interrupted(broken.chunks, b"data: 1\n\n")


@pytest.mark.parametrize(
    ("head", "first"),
    [
        (b"Transfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n" + EVENT_STREAM, CHAT),
        (b"Transfer-Encoding: chunked\r\nContent-Type: text/plain\r\n", CHAT),
        (b"Transfer-Encoding: chunked\r\n" + EVENT_STREAM, b"POST /v1/threads/runs HTTP/1.1"),
    ],
    ids=["compressed", "no stream of events", "a path that is not understood"],
)
def test_what_is_no_plain_stream_of_an_understood_path_just_ends(world: World, head: bytes, first: bytes) -> None:
    event = b"data: 1\n\n"
    broken = world.run(ask_for_broken(world, head, b"%x\r\n%b\r\n" % (len(event), event), first=first))
    assert broken.chunks == event
    check_failed(world, broken, event)


@pytest.mark.parametrize("framing", [b"Content-Length: 99\r\n", b""], ids=["length", "close"])
def test_a_stream_that_is_not_chunked_just_ends(world: World, framing: bytes) -> None:
    event = b"data: 1\n\n"
    broken = world.run(ask_for_broken(world, framing + EVENT_STREAM, event, by="rst", wait_for=event))
    assert broken.after_head == event
    check_failed(world, broken, event)
