"""A response that breaks reaches the client as it would without the relay, and the log has the bytes that arrived."""

import asyncio
import fcntl
import gzip
import json
import re
import socket
import sys
import termios
from dataclasses import dataclass
from typing import Final, NamedTuple

import pytest
from tests.conformance.relay.client import RawClient, Response
from tests.conformance.relay.upstream import BASE_PATH, Received, UpstreamConnection
from tests.conformance.relay.wire import Head
from tests.conformance.relay.world import World, ask
from tests.support.long import sampled
from tests.support.needs import PREFIX

CHAT = b"POST /v1/chat/completions HTTP/1.1"


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


# -- streams: a client gets what it would get without the relay -----------------------------------------------------

DATA: Final = b'data: {"choices":[{"delta":{"content":"\xc3\xa9"}}]}'
EVENT_STREAM: Final = b"Content-Type: text/event-stream\r\n"
#: A stream of each API: its path and its events.
STREAMS: Final = {
    "chat": (
        b"/v1/chat/completions",
        (
            b'data: {"id":"c","object":"chat.completion.chunk","choices":[{"delta":{"content":"H\xc3\xa9"}}]}',
            b'data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"llo"}}]}',
            b'data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}',
            b"data: [DONE]",
        ),
    ),
    "completion": (
        b"/v1/completions",
        (
            b'data: {"id":"c","object":"text_completion","choices":[{"index":0,"text":"Hello"}]}',
            b": a comment",
            b'data: {"id":"c","choices":[{"index":0,"text":"","finish_reason":"stop"}]}',
            b"data: [DONE]",
        ),
    ),
    "response": (
        b"/v1/responses",
        (
            b'event: response.created\ndata: {"type":"response.created","response":{"id":"r","output":[]}}',
            b'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"Hello"}',
            b'event: response.completed\ndata: {"type":"response.completed","response":{"id":"r"}}',
        ),
    ),
    "message": (
        b"/v1/messages",
        (
            b'event: message_start\ndata: {"type":"message_start","message":{"id":"m","content":[]}}',
            b'event: content_block_delta\ndata: {"type":"content_block_delta","delta":{"text":"Hello"}}',
            b'event: ping\ndata: {"type": "ping"}',
            b'event: message_stop\ndata: {"type":"message_stop"}',
        ),
    ),
}
#: How the body of a stream is framed, with the header lines.
FRAMINGS: Final = {
    "chunked": b"Transfer-Encoding: chunked\r\n",
    "length": b"",
    "close": b"",
    "compressed": b"Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n",
}


def response_of(api: str, framing: str, end: bytes) -> tuple[bytes, bytes]:
    """Return the head and the framed body of a stream. ``end`` is the line end of its events.

    The relay must not use the connection for another request, because the upstream ends the connection at any time.
    """
    events = [event.replace(b"\n", end) + end * 2 for event in STREAMS[api][1]]
    head = b"HTTP/1.1 200 OK\r\nConnection: close\r\n" + EVENT_STREAM + FRAMINGS[framing]
    if framing == "compressed":
        events = [gzip.compress(b"".join(events), mtime=0)]
    if framing == "length":
        head += b"Content-Length: %d\r\n" % sum(map(len, events))
    if b"chunked" in head:
        events = [*(b"%x\r\n%b\r\n" % (len(event), event) for event in events), b"0\r\n\r\n"]
    return head + b"\r\n", b"".join(events)


class Body(NamedTuple):
    """The body of a response as a client sees it: the decoded bytes that arrived, and how the body ended.

    ``ending`` is ``complete``, or how the connection of an incomplete body ended: ``fin`` or ``rst``.
    """

    data: bytes
    ending: str

    @classmethod
    def read(cls, head: bytes, wire: bytes, ending: str) -> "Body":
        """Decode the bytes after a head. ``ending`` is how the connection ended."""
        if b"chunked" in head:
            data = b""
            while b"\r\n" in wire:
                size, _, rest = wire.partition(b"\r\n")
                length = int(size, 16)
                data += rest[:length]
                if length == 0:
                    return cls(data, "complete" if rest == b"\r\n" else ending)
                wire = rest[length + 2 :] if rest[length : length + 2] == b"\r\n" else b""
            return cls(data, ending)
        length = re.search(rb"Content-Length: (\d+)", head)
        is_complete = ending == "fin" if length is None else len(wire) == int(length[1])
        return cls(wire, "complete" if is_complete else ending)


async def read_cut(port: int, request: bytes, arrived: asyncio.Event, expected: bytes) -> tuple[Body, bytes]:
    """Send a request, and read the response until it is complete or the connection ends. Return the body and the head.

    Set ``arrived`` when the client has received all the expected bytes of the body.
    """
    async with RawClient(port) as client:
        await client.send(request)
        received, ending = b"", "fin"
        try:
            while data := await client.read():
                received += data
                head, _, wire = received.partition(b"\r\n\r\n")
                body = Body.read(head, wire, "rst")
                if body.data == expected:
                    arrived.set()
                if body.ending == "complete":
                    break
        except ConnectionResetError:
            ending = "rst"
        head, _, wire = received.partition(b"\r\n\r\n")
        return Body.read(head, wire, ending), head


async def cut_at(world: World, api: str, framing: str, end: bytes, offset: int, manner: str) -> tuple[Body, Body, str]:
    """Cut a stream after ``offset`` bytes of its framed body. Return what a client gets directly and via the relay.

    The upstream sends the first half of the bytes, then the second half, and ends its connection. A reset could discard
    these bytes, so the upstream waits until the client has received them. The last result is the id of the record.
    """
    head, wire = response_of(api, framing, end)
    expected = Body.read(head, wire[:offset], "rst").data
    path = STREAMS[api][0]
    found = []
    for port, target in ((world.provider.port, BASE_PATH + path.removeprefix(b"/v1")), (world.server.port, path)):
        arrived = asyncio.Event()

        async def script(line: UpstreamConnection, _: Received, arrived: asyncio.Event = arrived) -> None:
            await line.send(head + wire[: offset // 2], wire[offset // 2 : offset])
            if manner == "rst":
                await arrived.wait()
                await line.reset()
            else:
                await line.close()

        request = ask(world.script(script), first=b"POST %b HTTP/1.1" % target, body=b'{"stream":true}')
        found.append(await read_cut(port, request, arrived, expected))
    (direct, _), (relayed, relayed_head) = found
    request_id = Head.parse(relayed_head + b"\r\n\r\n").one(b"service-request-id")
    assert request_id is not None
    assert direct.data == expected
    return direct, relayed, request_id.decode()


async def cut_at_all(
    world: World, api: str, framing: str, end: bytes, offsets: list[int], manner: str
) -> list[tuple[Body, Body, str]]:
    semaphore = asyncio.Semaphore(16)

    async def one(offset: int) -> tuple[Body, Body, str]:
        async with semaphore:
            return await cut_at(world, api, framing, end, offset, manner)

    return await asyncio.gather(*map(one, offsets))


@pytest.mark.parametrize("manner", ["fin", "rst"])
@pytest.mark.parametrize("framing", FRAMINGS)
@pytest.mark.parametrize("api", STREAMS)
def test_a_client_gets_a_stream_cut_at_any_byte_as_without_the_relay(
    world: World, api: str, framing: str, manner: str
) -> None:
    end = b"\r\n" if api == "completion" else b"\n"
    size = len(response_of(api, framing, end)[1])
    count = size + 1 if (api, framing) == ("completion", "chunked") else 25
    offsets = [*sampled(range(size), count), size]
    results = world.run(cut_at_all(world, api, framing, end, offsets, manner))
    assert [
        (offset, direct, relayed)
        for offset, (direct, relayed, _) in zip(offsets, results, strict=True)
        if relayed != direct
    ] == []
    for direct, _, request_id in results[:: len(results) // 4]:
        record = world.server.record(request_id)
        if record["outcome"] == "complete":  # also if the stream was cut after its end mark
            assert direct.ending == "complete" or record["stream_ended"] == "done"
        else:
            told = (record["outcome"], record["error_code"])
            assert (direct.ending != "complete", *told) == (True, "upstream_failed", "upstream_stream_interrupted")
        assert world.server.body(request_id, "response") == direct.data


@pytest.mark.parametrize("end_mark", [b"data: [DONE]", b'event: message_stop\ndata: {"type":"message_stop"}'])
def test_a_stream_cut_after_its_end_mark_is_cut_for_the_client_and_nothing_is_added(
    world: World, end_mark: bytes
) -> None:
    """The upstream closes the connection after the last event, without the last chunk."""
    events = DATA + b"\n\n" + end_mark + b"\n\n"
    head = b"Transfer-Encoding: chunked\r\n" + EVENT_STREAM
    broken = world.run(request_broken(world, head, b"%x\r\n%b\r\n" % (len(events), events)))
    assert broken.chunks == events
    assert world.server.record(broken.request_id)["stream"]
    assert world.server.body(broken.request_id, "response") == events


@pytest.mark.parametrize(
    ("head", "first"),
    [
        (b"Content-Type: text/plain\r\n", CHAT),
        (b"Content-Type: application/x-ndjson\r\n", b"POST /v1/api/chat HTTP/1.1"),
        (b"Content-Type: application/json\r\n", CHAT),
        (b"Content-Type: text/event-stream; charset=utf-8\r\n", b"POST /v1/threads/runs HTTP/1.1"),
        (b"Content-Type: text/event-stream\r\nContent-Encoding: zstd\r\n", CHAT),
    ],
    ids=["plain text", "NDJSON", "JSON", "events of another API", "compressed"],
)
def test_nothing_is_added_to_a_broken_response_whatever_its_format(world: World, head: bytes, first: bytes) -> None:
    event = DATA + b"\n\n"
    head += b"Transfer-Encoding: chunked\r\n"
    broken = world.run(request_broken(world, head, b"%x\r\n%b\r\n" % (len(event), event), first=first))
    assert broken.chunks == event
    check_failed(world, broken, event)


def test_a_malformed_chunk_right_after_the_head_is_a_cut_response(world: World) -> None:
    """The same response is not answered with an error in one case and cut in another, depending on how it is split."""
    head = b"Transfer-Encoding: chunked\r\n" + EVENT_STREAM + b"\r\n3\r\nabc\r\nno chunk\r\n"

    async def work() -> BrokenResponse:
        name = world.responds(b"HTTP/1.1 200 OK\r\n" + head)
        async with world.client() as client:
            await client.send(ask(name, first=CHAT, body=b"{}"))
            received = await client.head()
            rest, ending = await client.rest()
        return BrokenResponse((received.one(b"service-request-id") or b"").decode(), rest, ending)

    broken = world.run(work())
    assert broken.chunks == b"abc"
    check_failed(world, broken, b"abc")


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "chunked occurs more than once"),
        (b"Transfer-Encoding: gzip, chunked\r\n", "Transfer-Encoding must be exactly chunked"),
        (b"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n", "Content-Length can't be present with Transfer"),
    ],
    ids=["chunked twice", "gzip, chunked", "chunked with a length"],
)
def test_a_response_with_an_unusable_framing_gets_an_error_with_the_true_reason(
    world: World, lines: bytes, reason: str
) -> None:
    async def work() -> Response:
        name = world.responds(b"HTTP/1.1 200 OK\r\n" + lines + b"\r\n3\r\nabc\r\n0\r\n\r\n")
        async with world.client() as client:
            return await client.exchange(ask(name, first=CHAT, body=b"{}"))

    response = world.run(work())
    error = json.loads(response.body)["error"]
    assert (response.status, error["code"]) == (502, "upstream_protocol_error")
    assert error["message"].startswith(f"The relay cannot read the upstream's response ({reason}")
    assert error["message"].endswith("The request was sent. Relaybook does not retry.")


def test_an_http_1_0_client_gets_a_broken_chunked_stream_and_a_reset(world: World) -> None:
    event = DATA + b"\n\n"
    head = b"Transfer-Encoding: chunked\r\n" + EVENT_STREAM
    chunk = b"%x\r\n%b\r\n" % (len(event), event)
    first = b"POST /v1/chat/completions HTTP/1.0"
    broken = world.run(request_broken(world, head, chunk, first=first, wait_for=event))
    assert (broken.after_head, broken.how) == (event, "rst")
    check_failed(world, broken, event)


@pytest.mark.skipif(sys.platform != "linux", reason=f"{PREFIX}TIOCOUTQ")
def test_a_client_that_reads_late_gets_every_byte_that_arrived_before_the_reset(world: World) -> None:
    """A reset discards unsent bytes, so the relay resets the connection only after it has sent them."""
    body = b"0123456789" * 10_000

    async def script(line: UpstreamConnection, _: Received) -> None:
        await line.send(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", body)
        upstream_socket = line.writer.get_extra_info("socket")
        while any(fcntl.ioctl(upstream_socket.fileno(), termios.TIOCOUTQ, bytes(4))):
            await asyncio.sleep(0)
        await line.reset()

    async def work() -> tuple[bytes, str]:
        loop = asyncio.get_running_loop()
        with socket.socket() as client:
            client.setblocking(False)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            await loop.sock_connect(client, ("127.0.0.1", world.server.port))
            await loop.sock_sendall(client, ask(world.script(script), first=CHAT, body=b"{}"))
            received = await loop.sock_recv(client, 1024)
            found = re.search(rb"\r\nService-Request-Id: (\S+)", received)
            assert found
            record = await asyncio.to_thread(world.server.record, found[1].decode())
            assert record["outcome"] == "upstream_failed"
            try:
                while data := await loop.sock_recv(client, 4096):
                    received += data
            except ConnectionResetError:
                return received, "rst"
            return received, "fin"

    received, ending = world.run(work())
    assert (len(received.partition(b"\r\n\r\n")[2]), ending) == (len(body), "rst")
    assert received.endswith(body)
