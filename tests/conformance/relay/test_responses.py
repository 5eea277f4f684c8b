"""Responses that generated exchanges do not cover: unusual heads, early responses, surplus bytes."""

import asyncio
import json
import socket

import pytest
from tests.conformance.relay.upstream import Received, UpstreamConnection
from tests.conformance.relay.wire import READ_LIMIT
from tests.conformance.relay.world import World, ask, whole
from tests.support.server import wait_until


def test_a_response_to_head_has_a_length_and_the_next_response_uses_the_same_connection(world: World) -> None:
    async def work() -> None:
        head = world.responds(b"HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n")
        after = world.responds(whole(b"second"))
        async with world.client() as client:
            first = await client.exchange(ask(head, first=b"HEAD /v1/models HTTP/1.1"), method=b"HEAD")
            assert (first.head.one(b"content-length"), first.body) == (b"1234", b"")
            assert (await client.exchange(ask(after))).body == b"second"
        assert world.provider.received(head).connection == world.provider.received(after).connection

    world.run(work())


@pytest.mark.parametrize("count", [1, 8])
def test_up_to_eight_interim_responses_are_discarded(world: World, count: int) -> None:
    async def work() -> None:
        name = world.responds(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * count, whole(b"final"))
        async with world.client() as client:
            response = await client.exchange(ask(name))
            assert (response.status, response.body, response.head.all(b"link")) == (200, b"final", [])

    world.run(work())


def test_nine_interim_responses_are_a_protocol_error(world: World) -> None:
    async def work() -> str:
        name = world.responds(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 9, whole(b"final"))
        async with world.client() as client:
            response = await client.exchange(ask(name))
        assert response.status == 502
        assert json.loads(response.body)["error"]["code"] == "upstream_protocol_error"
        assert response.head.one(b"service-error") == b"upstream_protocol_error"
        assert response.head.one(b"x-request-id") == response.request_id.encode()
        world.provider.received(name)
        return response.request_id

    assert world.server.record(world.run(work()))["outcome"] == "upstream_failed"


@pytest.mark.parametrize(
    "beginning",
    [b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok", b"HTTP/1.1 200 OK\r\nContent-Length: 2\n", b"220 ready\r\n", b"{"],
    ids=["all lines end with LF", "one line ends with LF", "a greeting", "a body without a head"],
)
def test_a_head_that_cannot_become_valid_fails_before_the_upstream_closes(world: World, beginning: bytes) -> None:
    async def work() -> None:
        name = world.responds(beginning)
        async with world.client() as client, asyncio.timeout(10):
            response = await client.exchange(ask(name))
        assert response.status == 502
        assert json.loads(response.body)["error"]["code"] == "upstream_protocol_error"

    world.run(work())


def test_a_response_without_a_length_ends_with_the_connection(world: World) -> None:
    async def work() -> None:
        async def script(line: UpstreamConnection, _: Received) -> None:
            await line.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n", b"until ", b"the end")
            await line.close()

        async with world.client() as client:
            response = await client.exchange(ask(world.script(script)))
            assert (response.framing, response.body) == ("close", b"until the end")
            assert response.head.one(b"connection") == b"close"
            assert await client.ended() == "fin"

    world.run(work())


def test_a_response_without_any_header_keeps_its_body_and_gets_the_relays_headers(world: World) -> None:
    async def work() -> None:
        async def script(line: UpstreamConnection, _: Received) -> None:
            await line.send(b"HTTP/1.1 200 OK\r\n\r\nbody")
            await line.close()

        async with world.client() as client:
            response = await client.exchange(ask(world.script(script)))
            assert response.head.one(b"service-request-id"), response
            assert response.body == b"body"

    world.run(work())


@pytest.mark.parametrize("reason", [b"", b"OK", b" two  spaces ", b"\xe9t\xe9"])
def test_the_reason_phrase_is_forwarded_unchanged(world: World, reason: bytes) -> None:
    async def work() -> None:
        name = world.responds(whole(b"", status=b"200 " + reason))
        async with world.client() as client:
            assert (await client.exchange(ask(name))).head.first == b"HTTP/1.1 200 " + reason

    world.run(work())


def test_a_header_named_by_the_upstreams_connection_header_is_not_forwarded(world: World) -> None:
    """RFC 9110 §7.6.1: an intermediary removes the Connection header and the headers that it names."""

    async def work() -> None:
        name = world.responds(whole(b"", b"Connection: X-Hop", b"X-Hop: 1", b"X-End: 2"))
        async with world.client() as client:
            response = await client.exchange(ask(name))
            assert (response.head.all(b"x-hop"), response.head.all(b"x-end")) == ([], [b"2"])

    world.run(work())


def test_each_chunk_of_a_stream_is_forwarded_before_the_next_exists(world: World) -> None:
    async def work() -> None:
        arrived = [asyncio.Event() for _ in range(5)]

        async def script(line: UpstreamConnection, _: Received) -> None:
            await line.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/event-stream\r\n\r\n")
            for number, event in enumerate(arrived):
                await line.send(b"9\r\ndata: %d\n\n\r\n" % number)
                await event.wait()
            await line.send(b"0\r\n\r\n")

        async with world.client() as client:
            await client.send(ask(world.script(script), first=b"POST /v1/chat/completions HTTP/1.1", body=b"{}"))
            await client.head()
            received = b""
            for number, event in enumerate(arrived):
                while b"data: %d\n\n" % number not in received:
                    received += await client.read()
                event.set()
            while not received.endswith(b"\r\n0\r\n\r\n"):
                received += await client.read()

    world.run(work())


SURPLUS = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
ENDINGS = {
    "length": (b"GET", whole(b"good")),
    "chunked": (b"GET", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\ngood\r\n0\r\n\r\n"),
    "head": (b"HEAD", whole(b"good")[:-4]),
    "204": (b"GET", b"HTTP/1.1 204 No Content\r\nA: 1\r\n\r\n"),
    "304": (b"GET", b"HTTP/1.1 304 Not Modified\r\nContent-Length: 4\r\n\r\n"),
}


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("when", ["at once", "after it", "while idle"])
def test_bytes_after_a_response_reach_no_client_and_close_its_connection(world: World, ending: str, when: str) -> None:
    method, valid = ENDINGS[ending]

    async def work() -> None:
        lines: list[UpstreamConnection] = []

        async def script(line: UpstreamConnection, _: Received) -> None:
            lines.append(line)
            if when == "at once":
                await line.send(valid + SURPLUS)
            else:
                await line.send(*((valid, SURPLUS) if when == "after it" else (valid,)))

        name = world.script(script)
        async with world.client() as client, world.client() as other:
            first = await client.exchange(ask(name, first=method + b" /v1/models HTTP/1.1"), method=method)
            assert first.body == (b"good" if ending in ("length", "chunked") else b"")
            if when == "while idle":
                await lines[0].send(SURPLUS)
            for each in (other, client):
                after = world.responds(whole(b"mine"))
                assert (await each.exchange(ask(after))).body == b"mine"
                assert world.provider.received(after).connection != world.provider.received(name).connection

    world.run(work())


@pytest.mark.parametrize("ending", ["length", "chunked"])
def test_bytes_in_the_same_read_as_the_end_of_a_response_reach_no_client(world: World, ending: str) -> None:
    _, valid = ENDINGS[ending]

    async def work() -> None:
        started = asyncio.Event()

        async def script(line: UpstreamConnection, _: Received) -> None:
            at = valid.index(b"good") + 2
            await line.send(valid[:at])
            await started.wait()
            await line.send(valid[at:] + SURPLUS)

        name = world.script(script)
        async with world.client() as client:
            await client.send(ask(name))
            head = await client.head()
            started.set()
            assert await client.body(head) == b"good"
            after = world.responds(whole(b"mine"))
            assert (await client.exchange(ask(after))).body == b"mine"
            assert world.provider.received(after).connection != world.provider.received(name).connection

    world.run(work())


@pytest.mark.parametrize("client", ["waits halfway", "sends all it can"])
@pytest.mark.parametrize("framing", ["length", "chunked"])
def test_a_response_before_the_end_of_the_request_arrives_completely(world: World, framing: str, client: str) -> None:
    size = 64_000 if client == "waits halfway" else 16 << 20
    body = bytes(size)

    async def work() -> bytes:
        async def refuse(line: UpstreamConnection, _: Received) -> None:
            await line.send(whole(b"too large", status=b"413 Payload Too Large"))
            await line.peer_gone()

        name = world.script(refuse, at_head=True)
        first = b"POST /v1/files HTTP/1.1"
        request = ask(name, first=first, body=body)
        if framing == "chunked":
            request = ask(name, b"Transfer-Encoding: chunked", first=first) + b"%x\r\n%b\r\n0\r\n\r\n" % (size, body)
        return await upload(world, request[: size // 2] if client == "waits halfway" else request)

    raw = world.run(work())
    head, _, rest = raw.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 413 Payload Too Large\r\n")
    assert head.endswith(b"\r\nConnection: close")
    assert rest == b"too large"
    request_id = head.partition(b"Service-Request-Id: ")[2][:36].decode()
    record = world.server.record(request_id)
    assert (record["outcome"], record["status"]) == ("complete", 413)
    kept = wait_until(lambda: [world.server.body(request_id, "request")])[0]
    assert kept == body[: len(kept)]
    assert record["request_bytes"] == len(kept) <= size


def test_the_response_of_an_upstream_that_closes_without_reading_the_request_arrives(world: World) -> None:
    """The close resets the upstream connection, usually while the relay is still writing the request."""

    async def work() -> None:
        async def refuse(line: UpstreamConnection, _: Received) -> None:
            await line.send(whole(b"too large", b"Connection: close", status=b"413 Payload Too Large"))
            await line.close()

        for _ in range(10):
            name = world.script(refuse, at_head=True)
            raw = await upload(world, ask(name, first=b"POST /v1/files HTTP/1.1", body=bytes(16 << 20)))
            assert raw.startswith(b"HTTP/1.1 413 Payload Too Large\r\n"), raw
            assert raw.endswith(b"\r\n\r\ntoo large")

    world.run(work())


def test_an_early_response_without_a_length_ends_although_the_upstream_reads_no_more(world: World) -> None:
    async def work() -> bytes:
        is_blocked, has_arrived = asyncio.Event(), asyncio.Event()

        async def refuse(line: UpstreamConnection, _: Received) -> None:
            await is_blocked.wait()
            await line.send(b"HTTP/1.1 401 Unauthorized\r\nConnection: close\r\n\r\nno key")
            line.writer.write_eof()
            await has_arrived.wait()
            await line.reset()

        name = world.script(refuse, at_head=True)
        with socket.create_connection(("127.0.0.1", world.server.port)) as plain:
            plain.setblocking(False)
            rest = memoryview(ask(name, first=b"POST /v1/files HTTP/1.1", body=bytes(64 << 20)))
            tries = 0
            while tries < 30:  # all buffers are full if the socket accepts nothing for 0.3 s
                try:
                    rest = rest[plain.send(rest[: 1 << 16]) :]
                    tries = 0
                except BlockingIOError:
                    tries += 1
                    await asyncio.sleep(0.01)
            is_blocked.set()
            raw = b""
            while b"no key" not in raw:
                raw += await asyncio.get_running_loop().sock_recv(plain, READ_LIMIT)
            request_id = raw.partition(b"Service-Request-Id: ")[2][:36].decode()
            # The request has ended before the upstream resets its connection.
            await asyncio.to_thread(wait_until, lambda: world.server.records(f"id={request_id}&outcome=complete"))
            has_arrived.set()
        return raw

    raw = world.run(work())
    assert raw.startswith(b"HTTP/1.1 401 Unauthorized\r\n")
    record = world.server.record(raw.partition(b"Service-Request-Id: ")[2][:36].decode())
    assert (record["outcome"], record["status"], record["response_bytes"]) == ("complete", 401, 6)


async def upload(world: World, request: bytes) -> bytes:
    """Send a request for as long as possible while reading the response.

    Returns all received bytes. The plain socket also returns bytes that arrived before a reset.
    """
    loop = asyncio.get_running_loop()
    received = b""
    with socket.socket() as plain:
        plain.setblocking(False)
        await loop.sock_connect(plain, ("127.0.0.1", world.server.port))
        sending = loop.create_task(loop.sock_sendall(plain, request))
        try:
            while data := await loop.sock_recv(plain, READ_LIMIT):
                received += data
        except ConnectionResetError:
            pass
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
    return received
