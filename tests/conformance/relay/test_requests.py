"""Requests that generated exchanges do not cover: HTTP/1.0 clients, pipelining, and values that must not be logged."""

import asyncio
import gzip
import json
import re

import pytest
from tests.conformance.relay.client import Response
from tests.conformance.relay.upstream import BASE_PATH, Received, UpstreamConnection
from tests.conformance.relay.world import World, ask, whole

KEY = b"sk-proj-0f1e2d3c4b5a6978"


def test_an_offer_of_http_2_is_removed_and_the_request_relayed(world: World) -> None:
    """Java's HttpClient sends this offer with every request (RFC 7540 §3.2)."""

    async def work() -> None:
        name = world.responds(whole(b"hello"))
        upgrade = (b"Connection: Upgrade, HTTP2-Settings", b"Upgrade: h2c", b"HTTP2-Settings: AAEAAEAA")
        async with world.client() as client:
            response = await client.exchange(
                ask(name, *upgrade, b"X-Kept: 1", first=b"POST /v1/chat/completions HTTP/1.1", body=b"{}")
            )
            assert (response.status, response.body) == (200, b"hello")
        seen = world.provider.received(name)
        assert [key.lower() for key, _ in seen.head.pairs] == [b"host", b"x-exchange", b"x-kept", b"content-length"]
        assert seen.body == b"{}"

    world.run(work())


def test_pipelined_requests_get_responses_in_order(world: World) -> None:
    async def work() -> None:
        bodies = [b"body %d" % number * number * number for number in range(20)]

        async def echo(line: UpstreamConnection, seen: Received) -> None:
            await line.send(whole(seen.body))

        names = [world.script(echo) for _ in bodies]
        first = b"POST /v1/embeddings HTTP/1.1"
        async with world.client() as client:
            requests = [ask(name, first=first, body=body) for name, body in zip(names, bodies, strict=True)]
            await client.send(b"".join(requests))
            for body in bodies:
                assert (await client.response()).body == body
        assert [world.provider.received(name).body for name in names] == bodies

    world.run(work())


def test_a_request_pipelined_after_chunks_is_never_parsed_as_part_of_them(world: World) -> None:
    """The relay may serve the second request or close after the first response. It must not merge the two requests."""

    async def work() -> None:
        async def echo(line: UpstreamConnection, seen: Received) -> None:
            await line.send(whole(seen.body))

        first, second = world.script(echo), world.script(echo)
        async with world.client() as client:
            after_another = ask(second, first=b"POST /v1/b HTTP/1.1", body=b"two")
            assert (await client.exchange(chunked(first) + after_another)).body == b"one"
            if world.provider.seen.get(second) is None:
                assert await client.rest() == (b"", "fin")
            else:
                assert (await client.response()).body == b"two"
        assert world.provider.received(first).body == b"one"

    world.run(work())


def test_a_request_sent_after_a_complete_chunked_body_is_not_part_of_it(world: World) -> None:
    async def work() -> None:
        async def echo(line: UpstreamConnection, seen: Received) -> None:
            await line.send(whole(seen.body))

        name = world.script(echo)
        async with world.client() as client:
            assert (await client.exchange(chunked(name) + whole(b"evil"))).body == b"one"
        assert world.provider.received(name).body == b"one"

    world.run(work())


def chunked(name: bytes) -> bytes:
    """Return a request with the chunked body ``one``."""
    return ask(name, b"Transfer-Encoding: chunked", first=b"POST /v1/a HTTP/1.1") + b"3\r\none\r\n0\r\n\r\n"


def old(name: bytes, target: bytes = b"/v1/models") -> bytes:
    """Return an HTTP/1.0 request without a Host header."""
    return b"GET %b HTTP/1.0\r\nX-Exchange: %b\r\n\r\n" % (target, name)


def test_an_http_1_0_client_gets_chunks_as_a_body_that_ends_with_the_connection(world: World) -> None:
    async def work() -> None:
        name = world.responds(
            b"HTTP/1.1 200 OK\r\nA: 1\r\nTransfer-Encoding: chunked\r\nB: 2\r\n\r\n", b"3\r\none\r\n", b"0\r\n\r\n"
        )
        async with world.client() as client:
            response = await client.exchange(old(name))
            assert (response.framing, response.body) == ("close", b"one")
            assert [key for key, _ in response.head.pairs if not key.startswith(b"Service-")] == [
                *(b"A", b"B", b"Connection")
            ]
            assert await client.ended() == "fin"
        head = world.provider.received(name).head
        assert head.first == b"GET %b/models HTTP/1.1" % BASE_PATH
        assert head.one(b"host") == world.provider.authority

    world.run(work())


def test_an_http_1_0_client_gets_a_length_and_the_end_of_the_connection(world: World) -> None:
    async def work() -> None:
        async with world.client() as client:
            response = await client.exchange(old(world.responds(whole(b"one"))))
            assert (response.framing, response.body, response.head.one(b"connection")) == ("length", b"one", b"close")
            assert await client.ended() == "fin"

    world.run(work())


def test_an_http_1_0_client_gets_a_reset_for_an_incomplete_response(world: World) -> None:
    async def work() -> None:
        async def script(line: UpstreamConnection, _: Received) -> None:
            await line.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n")
            await line.close()

        async with world.client() as client:
            await client.send(old(world.script(script)))
            _, ending = await client.rest()
            assert ending == "rst"

    world.run(work())


@pytest.mark.parametrize("expectation", [b"100-continue", b"100-Continue"])
def test_a_client_that_waits_for_100_continue_gets_it_without_the_upstream_being_asked(
    world: World, expectation: bytes
) -> None:
    async def work() -> None:
        name = world.responds(whole(b"done"))
        head = ask(name, b"Expect: " + expectation, b"Content-Length: 5", first=b"POST /v1/files HTTP/1.1")
        async with world.client() as client:
            await client.send(head)
            assert (await client.head()).raw == b"HTTP/1.1 100 Continue\r\n\r\n"
            assert (await client.exchange(b"12345")).body == b"done"
        seen = world.provider.received(name)
        assert (seen.head.all(b"expect"), seen.body) == ([], b"12345")

    world.run(work())


def test_a_client_that_does_not_wait_for_100_continue_gets_none(world: World) -> None:
    async def work() -> None:
        name = world.responds(whole(b"done"))
        request = ask(name, b"Expect: 100-continue", first=b"POST /v1/files HTTP/1.1", body=b"12345")
        async with world.client() as client:
            assert (await client.exchange(request)).body == b"done"

    world.run(work())


def test_a_key_in_the_query_reaches_the_upstream_but_not_the_log(world: World) -> None:
    async def work() -> Response:
        name = world.responds(whole(b""))
        async with world.client() as client:
            response = await client.exchange(ask(name, first=b"GET /v1/x?a=1&key=%b&b=2 HTTP/1.1" % KEY))
        assert world.provider.received(name).head.first == b"GET %b/x?a=1&key=%b&b=2 HTTP/1.1" % (BASE_PATH, KEY)
        return response

    record = world.server.record(world.run(work()).request_id)
    assert KEY.decode() not in json.dumps(record)
    assert record["query"].startswith("a=1&key=")
    assert record["query"].endswith("&b=2")


@pytest.mark.parametrize(
    ("header", "chunks", "kept"),
    [
        (b"Authorization: Bearer " + KEY, [b"a " + KEY + b" " + KEY], b"a " + b"*" * 24 + b" " + b"*" * 24),
        (b"x-api-key: " + KEY, [b"a " + KEY], b"a " + b"*" * 24),
        (b"Authorization: Bearer 1234567", [b"a 1234567"], b"a 1234567"),
        (b"Authorization: Bearer 1234567890abcdef", [b"a 1234567890abcdef"], b"a " + b"*" * 16),
        (b"Authorization: Bearer 1234567890abcde", [b"a 1234567890abcde"], b"a 1234567890abcde"),
        (b"Authorization: Bearer anything", [b"Tell me anything"], b"Tell me anything"),
        (b"Authorization: Bearer sk-no-key-required", [b"sk-no-key-required"], b"sk-no-key-required"),
        (b"Authorization: Bearer " + KEY, [b"a " + KEY[:9], KEY[9:]], b"a " + KEY),
        (b"Authorization: Bearer " + KEY, [gzip.compress(KEY, mtime=0)], gzip.compress(KEY, mtime=0)),
    ],
    ids=[
        *("bearer", "x-api-key", "seven characters", "16 characters", "15 characters", "a word", "several words"),
        *("in two reads", "compressed"),
    ],
)
def test_the_clients_key_in_a_body_is_forwarded_but_masked_in_the_log(
    world: World, header: bytes, chunks: list[bytes], kept: bytes
) -> None:
    body = b"".join(chunks)

    async def work() -> str:
        arrived = [asyncio.Event() for _ in chunks * 2]

        async def echo(line: UpstreamConnection, seen: Received) -> None:
            for chunk, event in zip(chunks, arrived, strict=False):
                seen.body += await line.reader.readexactly(len(chunk))
                event.set()
            await line.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body))
            for chunk, event in zip(chunks, arrived[len(chunks) :], strict=True):
                await line.send(chunk)
                await event.wait()

        name = world.script(echo, at_head=True)
        async with world.client() as client:
            first = b"POST /v1/files HTTP/1.1"
            await client.send(ask(name, header, b"Content-Length: %d" % len(body), first=first))
            for chunk, event in zip(chunks, arrived, strict=False):
                await client.send(chunk)
                await event.wait()
            response = await client.head()
            received = b""
            for chunk, event in zip(chunks, arrived[len(chunks) :], strict=True):
                received += await client.read_exactly(len(chunk))
                event.set()
        assert world.provider.received(name).body == received == body
        return Response(response, "length", received).request_id

    request_id = world.run(work())
    assert world.server.record(request_id)["status"] == 200
    assert world.server.body(request_id, "request") == kept
    assert world.server.body(request_id, "response") == kept


@pytest.mark.parametrize("framing", ["length", "chunked", "none"])
@pytest.mark.parametrize("cut", [0, 7])
def test_a_repeated_head_is_forwarded_again_with_its_own_body_and_record(world: World, framing: str, cut: int) -> None:
    """SDKs repeat a head and change only the Content-Length.

    In this test, the head arrives whole, split, and after a different head.
    """
    bodies = [b"" if framing == "none" else b"%d" % (10**number) for number in range(12)]

    async def work() -> list[str]:
        async def echo(line: UpstreamConnection, seen: Received) -> None:
            await line.send(whole(seen.body))

        name, other = world.script(echo), world.script(echo)
        first = b"POST /v1/embeddings HTTP/1.1"
        tag = b"Service-Namespace: again-" + name
        ids = []
        async with world.client() as client:
            for number, body in enumerate(bodies):
                if framing == "chunked":
                    request = ask(name, tag, b"Transfer-Encoding: chunked", first=first)
                    request += b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
                else:
                    request = ask(name, tag, first=first, body=None if framing == "none" else body)
                response = await client.exchange(request[:cut], request[cut:])
                assert (response.status, response.body) == (200, body)
                assert response.head.one(b"service-namespace") == b"again-" + name
                ids.append(response.request_id)
                if number % 4 == 3:
                    assert (await client.exchange(ask(other, first=first, body=b"other"))).body == b"other"
        seen = world.provider.seen[name]
        assert [each.body for each in seen] == bodies
        assert len({re.sub(rb"(Content-Length: )\d+", rb"\1", each.head.raw) for each in seen}) == 1
        assert len(world.provider.seen[other]) == 3
        return ids

    ids = world.run(work())
    assert len(set(ids)) == len(ids)
    records = [world.server.record(request_id) for request_id in ids]
    assert len({record["namespace"] for record in records}) == 1
    assert [world.server.body(record["id"], "request") for record in records] == bodies
    assert [record["request_bytes"] for record in records] == [len(body) for body in bodies]
    if framing == "length":
        interim = [value for each in records for name, value in each["request_headers"] if name == "Content-Length"]
        assert interim == [str(len(body)) for body in bodies]
