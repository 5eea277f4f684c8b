"""Claims on whole answers that no generated exchange makes: heads of odd shape, early answers, bytes too many."""

import asyncio
import json
import socket

import pytest
from tests.conformance.relay.provider import Line, Seen
from tests.conformance.relay.wire import READ_LIMIT
from tests.conformance.relay.world import World, ask, whole
from tests.support.server import wait_until


def test_an_answer_to_head_tells_a_length_and_the_next_answer_follows_on_the_connection(world: World) -> None:
    async def work() -> None:
        head = world.answers(b"HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n")
        after = world.answers(whole(b"second"))
        async with world.caller() as caller:
            first = await caller.exchange(ask(head, first=b"HEAD /v1/models HTTP/1.1"), method=b"HEAD")
            assert (first.head.one(b"content-length"), first.body) == (b"1234", b"")
            assert (await caller.exchange(ask(after))).body == b"second"
        assert world.provider.got(head).connection == world.provider.got(after).connection

    world.run(work())


@pytest.mark.parametrize("count", [1, 8])
def test_up_to_eight_informational_answers_are_swallowed(world: World, count: int) -> None:
    async def work() -> None:
        name = world.answers(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * count, whole(b"final"))
        async with world.caller() as caller:
            answer = await caller.exchange(ask(name))
            assert (answer.status, answer.body, answer.head.all(b"link")) == (200, b"final", [])

    world.run(work())


def test_nine_informational_answers_are_no_http_to_us(world: World) -> None:
    async def work() -> str:
        name = world.answers(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 9, whole(b"final"))
        async with world.caller() as caller:
            answer = await caller.exchange(ask(name))
        assert answer.status == 502
        assert json.loads(answer.body)["error"]["code"] == "upstream_protocol_error"
        assert answer.head.one(b"service-error") == b"upstream_protocol_error"
        assert answer.head.one(b"x-request-id") == answer.request_id.encode()
        world.provider.got(name)
        return answer.request_id

    assert world.server.record(world.run(work()))["outcome"] == "upstream_failed"


def test_an_answer_without_a_length_ends_with_the_connection(world: World) -> None:
    async def work() -> None:
        async def script(line: Line, _: Seen) -> None:
            await line.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n", b"until ", b"the end")
            await line.close()

        async with world.caller() as caller:
            answer = await caller.exchange(ask(world.script(script)))
            assert (answer.framing, answer.body) == ("close", b"until the end")
            assert answer.head.one(b"connection") == b"close"
            assert await caller.ended() == "fin"

    world.run(work())


def test_an_answer_without_any_header_keeps_its_body_and_gets_our_headers(world: World) -> None:
    async def work() -> None:
        async def script(line: Line, _: Seen) -> None:
            await line.send(b"HTTP/1.1 200 OK\r\n\r\nbody")
            await line.close()

        async with world.caller() as caller:
            answer = await caller.exchange(ask(world.script(script)))
            assert answer.head.one(b"service-request-id"), answer
            assert answer.body == b"body"

    world.run(work())


@pytest.mark.parametrize("reason", [b"", b"OK", b" two  spaces ", b"\xe9t\xe9"])
def test_the_reason_phrase_crosses_as_it_is(world: World, reason: bytes) -> None:
    async def work() -> None:
        name = world.answers(whole(b"", status=b"200 " + reason))
        async with world.caller() as caller:
            assert (await caller.exchange(ask(name))).head.first == b"HTTP/1.1 200 " + reason

    world.run(work())


def test_a_header_that_the_providers_connection_names_does_not_cross(world: World) -> None:
    """RFC 9110 §7.6.1: an intermediary removes what Connection names, and the header itself."""

    async def work() -> None:
        name = world.answers(whole(b"", b"Connection: X-Hop", b"X-Hop: 1", b"X-End: 2"))
        async with world.caller() as caller:
            answer = await caller.exchange(ask(name))
            assert (answer.head.all(b"x-hop"), answer.head.all(b"x-end")) == ([], [b"2"])

    world.run(work())


def test_each_piece_of_a_stream_is_passed_on_before_the_next_exists(world: World) -> None:
    async def work() -> None:
        arrived = [asyncio.Event() for _ in range(5)]

        async def script(line: Line, _: Seen) -> None:
            await line.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/event-stream\r\n\r\n")
            for number, event in enumerate(arrived):
                await line.send(b"9\r\ndata: %d\n\n\r\n" % number)
                await event.wait()
            await line.send(b"0\r\n\r\n")

        async with world.caller() as caller:
            await caller.send(ask(world.script(script), first=b"POST /v1/chat/completions HTTP/1.1", body=b"{}"))
            await caller.head()
            got = b""
            for number, event in enumerate(arrived):
                while b"data: %d\n\n" % number not in got:
                    got += await caller.read()
                event.set()
            while not got.endswith(b"\r\n0\r\n\r\n"):
                got += await caller.read()

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
def test_bytes_after_an_answer_reach_nobody_and_end_its_connection(world: World, ending: str, when: str) -> None:
    method, good = ENDINGS[ending]

    async def work() -> None:
        lines: list[Line] = []

        async def script(line: Line, _: Seen) -> None:
            lines.append(line)
            if when == "at once":
                await line.send(good + SURPLUS)
            else:
                await line.send(*((good, SURPLUS) if when == "after it" else (good,)))

        name = world.script(script)
        async with world.caller() as caller, world.caller() as other:
            first = await caller.exchange(ask(name, first=method + b" /v1/models HTTP/1.1"), method=method)
            assert first.body == (b"good" if ending in ("length", "chunked") else b"")
            if when == "while idle":
                await lines[0].send(SURPLUS)
            for each in (other, caller):
                after = world.answers(whole(b"mine"))
                assert (await each.exchange(ask(after))).body == b"mine"
                assert world.provider.got(after).connection != world.provider.got(name).connection

    world.run(work())


@pytest.mark.parametrize("ending", ["length", "chunked"])
def test_bytes_that_come_with_the_last_read_of_an_answer_reach_nobody(world: World, ending: str) -> None:
    _, good = ENDINGS[ending]

    async def work() -> None:
        begun = asyncio.Event()

        async def script(line: Line, _: Seen) -> None:
            at = good.index(b"good") + 2
            await line.send(good[:at])
            await begun.wait()
            await line.send(good[at:] + SURPLUS)

        name = world.script(script)
        async with world.caller() as caller:
            await caller.send(ask(name))
            head = await caller.head()
            begun.set()
            assert await caller.body(head) == b"good"
            after = world.answers(whole(b"mine"))
            assert (await caller.exchange(ask(after))).body == b"mine"
            assert world.provider.got(after).connection != world.provider.got(name).connection

    world.run(work())


@pytest.mark.parametrize("caller", ["waits halfway", "sends all it can"])
@pytest.mark.parametrize("framing", ["length", "chunked"])
def test_a_final_answer_before_the_requests_end_arrives_whole(world: World, framing: str, caller: str) -> None:
    size = 64_000 if caller == "waits halfway" else 16 << 20
    body = bytes(size)

    async def work() -> bytes:
        async def refuse(line: Line, _: Seen) -> None:
            await line.send(whole(b"too large", status=b"413 Payload Too Large"))
            await line.peer_gone()

        name = world.script(refuse, at_head=True)
        first = b"POST /v1/files HTTP/1.1"
        request = ask(name, first=first, body=body)
        if framing == "chunked":
            request = ask(name, b"Transfer-Encoding: chunked", first=first) + b"%x\r\n%b\r\n0\r\n\r\n" % (size, body)
        return await upload(world, request[: size // 2] if caller == "waits halfway" else request)

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


async def upload(world: World, request: bytes) -> bytes:
    """Sends as long as it can while it reads; all that came. A plain socket: it reads what came before a reset."""
    loop = asyncio.get_running_loop()
    got = b""
    with socket.socket() as plain:
        plain.setblocking(False)
        await loop.sock_connect(plain, ("127.0.0.1", world.server.port))
        sending = loop.create_task(loop.sock_sendall(plain, request))
        try:
            while data := await loop.sock_recv(plain, READ_LIMIT):
                got += data
        except ConnectionResetError:
            pass
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
    return got
