"""The relay never ends an incomplete response cleanly, and the log has the bytes that arrived."""

import asyncio
import json
import re
from dataclasses import dataclass

import pytest
from tests.conformance.relay.upstream import Received, UpstreamConnection
from tests.conformance.relay.wire import Head
from tests.conformance.relay.world import World, ask

CHAT = b"POST /v1/chat/completions HTTP/1.1"
EVENT_STREAM = b"Content-Type: text/event-stream\r\n"


@dataclass
class BrokenResponse:
    """An incomplete response as a client received it: the raw bytes after the head, and how the connection ended."""

    request_id: str
    after_head: bytes
    how: str

    @property
    def chunks(self) -> bytes:
        """Return the body of a chunked response that has no last chunk."""
        rest, body = self.after_head, b""
        while rest:
            size, _, rest = rest.partition(b"\r\n")
            length = int(size, 16)
            assert length > 0, "a last chunk: a clean end"
            assert len(rest) >= length + 2, "a chunk that was cut"
            body += rest[:length]
            rest = rest[length + 2 :]
        return body


async def request_broken(
    world: World, head: bytes, *chunks: bytes, by: str = "fin", first: bytes = CHAT, wait_for: bytes = b""
) -> BrokenResponse:
    """Make the upstream send a head and chunks, then end its connection with ``fin`` or ``rst``.

    A reset can discard bytes that were sent earlier. With ``wait_for``, the upstream waits after the first chunk until
    the client has received these bytes. Then the upstream sends the other chunks and ends the connection.
    """
    arrived = asyncio.Event()

    async def script(line: UpstreamConnection, _: Received) -> None:
        await line.send(b"HTTP/1.1 200 OK\r\n" + head + b"\r\n", *chunks[:1])
        if wait_for:
            await arrived.wait()
        await line.send(*chunks[1:])
        if by == "rst":
            await line.reset()
        else:
            await line.close()

    async with world.client() as client:
        await client.send(ask(world.script(script), first=first, body=b"{}"))
        received, ending = b"", "fin"
        try:
            while True:
                if b"\r\n\r\n" in received and received.endswith(wait_for):
                    arrived.set()
                data = await client.read()
                if not data:
                    break
                received += data
        except ConnectionResetError:
            ending = "rst"
    raw, separator, rest = received.partition(b"\r\n\r\n")
    found = re.search(rb"\r\nService-Request-Id: (\S+)", raw + separator)
    assert found, f"no request id: {received!r}"
    assert Head.parse(raw + separator).first == b"HTTP/1.1 200 OK"
    return BrokenResponse(found[1].decode(), rest, ending)


def check_failed(world: World, broken: BrokenResponse, body: bytes) -> None:
    """Check the record and the stored body of an incomplete response."""
    record = world.server.record(broken.request_id)
    assert (record["outcome"], record["failed"], record["status"]) == ("upstream_failed", True, 200)
    assert record["response_bytes"] == len(body)
    assert world.server.body(broken.request_id, "response") == body


@pytest.mark.parametrize("by", ["fin", "rst"])
def test_a_body_shorter_than_its_length_is_incomplete_for_the_client(world: World, by: str) -> None:
    broken = world.run(request_broken(world, b"Content-Length: 10\r\n", b"short", by=by, wait_for=b"short"))
    assert broken.after_head == b"short"
    check_failed(world, broken, b"short")


@pytest.mark.parametrize("by", ["fin", "rst"])
def test_chunks_without_a_last_chunk_are_incomplete_for_the_client(world: World, by: str) -> None:
    head = b"Transfer-Encoding: chunked\r\n"
    broken = world.run(request_broken(world, head, b"5\r\nshort\r\n", by=by, wait_for=b"short\r\n"))
    assert broken.chunks == b"short"
    check_failed(world, broken, b"short")


def test_bytes_that_are_not_a_chunk_are_incomplete_for_the_client(world: World) -> None:
    head = b"Transfer-Encoding: chunked\r\n"
    broken = world.run(request_broken(world, head, b"5\r\nshort\r\n", b"no chunk\r\n", wait_for=b"short\r\n"))
    assert broken.chunks == b"short"
    check_failed(world, broken, b"short")
    assert world.server.record(broken.request_id)["error_code"] == "upstream_protocol_error"


def test_a_reset_of_a_response_without_a_length_is_a_reset_for_the_client(world: World) -> None:
    broken = world.run(request_broken(world, b"A: 1\r\n", b"short", by="rst", wait_for=b"short"))
    assert (broken.after_head, broken.how) == (b"short", "rst")
    check_failed(world, broken, b"short")


# -- streams ---------------------------------------------------------------------------------------------------------

DATA = b'data: {"choices":[{"delta":{"content":"\xc3\xa9"}}]}'


def interrupted(events: bytes, sent: bytes) -> bool:
    """Return whether the relay added an error event after ``sent``. Any other added bytes fail the test."""
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
def test_a_stream_broken_between_events_ends_with_an_error_event_and_one_broken_inside_an_event_just_ends(
    world: World, end: bytes
) -> None:
    event = DATA + end * 2
    stream = event * 2
    head = b"Transfer-Encoding: chunked\r\n" + EVENT_STREAM

    def chunk(offset: int) -> tuple[bytes, ...]:
        return (b"%x\r\n%b\r\n" % (offset, stream[:offset]),) if offset else ()

    async def break_everywhere() -> list[BrokenResponse]:
        return await asyncio.gather(*(request_broken(world, head, *chunk(offset)) for offset in range(len(stream) + 1)))

    for offset, broken in enumerate(world.run(break_everywhere())):
        body, sent = broken.chunks, stream[:offset]
        if not sent.endswith(b"\r\n\r"):  # parsers of event streams disagree whether this is an empty line
            assert interrupted(body, sent) == (offset % len(event) == 0), offset
        check_failed(world, broken, body)
        record = world.server.record(broken.request_id)
        assert (record["stream"], record["stream_ended"]) == (True, "cut")


def test_a_stream_reset_between_events_ends_with_an_error_event(world: World) -> None:
    event = DATA + b"\n\n"
    chunk = b"%x\r\n%b\r\n" % (len(event), event)
    head = b"Transfer-Encoding: chunked\r\n" + EVENT_STREAM
    broken = world.run(request_broken(world, head, chunk, by="rst", wait_for=event + b"\r\n"))
    assert interrupted(broken.chunks, event)
    check_failed(world, broken, broken.chunks)


def test_an_event_split_between_reads_is_recognized_as_complete(world: World) -> None:
    """The two line ends that terminate an event may arrive in separate reads."""

    async def work() -> BrokenResponse:
        arrived = asyncio.Event()

        async def script(line: UpstreamConnection, _: Received) -> None:
            await line.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n" + EVENT_STREAM + b"\r\n")
            await line.send(b"8\r\ndata: 1\n\r\n")
            await arrived.wait()
            await line.send(b"1\r\n\n\r\n")
            await line.close()

        async with world.client() as client:
            await client.send(ask(world.script(script), first=CHAT, body=b"{}"))
            head = await client.head()
            received = b""
            while b"data: 1\n" not in received:
                received += await client.read()
            arrived.set()
            rest, ending = await client.rest()
        return BrokenResponse((head.one(b"service-request-id") or b"").decode(), received + rest, ending)

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
def test_a_response_that_is_not_an_uncompressed_stream_of_a_known_path_gets_no_error_event(
    world: World, head: bytes, first: bytes
) -> None:
    event = b"data: 1\n\n"
    broken = world.run(request_broken(world, head, b"%x\r\n%b\r\n" % (len(event), event), first=first))
    assert broken.chunks == event
    check_failed(world, broken, event)


@pytest.mark.parametrize("framing", [b"Content-Length: 99\r\n", b""], ids=["length", "close"])
def test_a_stream_that_is_not_chunked_gets_no_error_event(world: World, framing: bytes) -> None:
    event = b"data: 1\n\n"
    broken = world.run(request_broken(world, framing + EVENT_STREAM, event, by="rst", wait_for=event))
    assert broken.after_head == event
    check_failed(world, broken, event)
