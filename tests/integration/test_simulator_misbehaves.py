"""The simulated provider misbehaves exactly as asked: every fault checked on the bytes that arrive."""

import base64
import gzip
import json
import zlib
from collections.abc import Callable
from typing import Any

import brotli
import pytest
import zstandard
from tests.integration.simulator_wire import Wire, body_of, close, post, read_to_end, with_simulator


@pytest.mark.parametrize("how", ["fin", "rst"])
@pytest.mark.parametrize(
    ("place", "expected"),
    [("head", lambda body: None), ("head:10", lambda body: None), ("event:3", 3), ("event:2:7", 2), ("byte:100", None)],
)
def test_stream_breaks_exactly_where_asked(how: str, place: str, expected: Any) -> None:
    async def test(wire: Wire) -> None:
        received, ended = await wire.ask(f"Sim-Break: {place} {how}", stream=True)
        assert ended == how
        assert (await wire.until("sent")).outcome == "broken"
        body = body_of(received)
        if place.startswith("head"):
            assert received == b"HTTP/1.1 200 OK"[: int(place.partition(":")[2] or 0)]
        elif place.startswith("byte"):
            assert len(body) == 100
        else:
            assert body.count(b"\n\n") == expected
            assert body.endswith(b"\n\n") == (place == "event:3")
        assert b"\r\n0\r\n" not in received

    with_simulator(test)


def test_length_lies_and_surplus_are_on_the_wire() -> None:
    async def test(wire: Wire) -> None:
        short, how = await wire.ask("Sim-Length: +10", "Sim-Body: base64:YWJj")
        assert (b"content-length: 13\r\n" in short, short[-3:], how) == (True, b"abc", "fin")
        surplus, _ = await wire.ask("Sim-Surplus: 2", "Sim-Body: base64:YWJj", "Sim-After: close")
        assert surplus.endswith(b"content-length: 3\r\n\r\nabcxx")
        twice, _ = await wire.ask("Sim-Header: content-length: 5", "Sim-Body: base64:YWJj", "Sim-After: close")
        assert twice.count(b"content-length") == 2

    with_simulator(test)


@pytest.mark.parametrize(
    ("encoding", "decode"),
    [
        ("gzip", gzip.decompress),
        ("deflate", zlib.decompress),
        ("br", brotli.decompress),
        ("zstd", lambda data: zstandard.ZstdDecompressor().decompressobj().decompress(data)),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_encoded_answer_decodes(encoding: str, decode: Callable[[bytes], bytes], stream: bool) -> None:
    async def test(wire: Wire) -> None:
        received, _ = await wire.ask(f"Sim-Encoding: {encoding}", "Sim-After: close", stream=stream)
        plain = decode(body_of(received))
        assert plain.endswith(b"data: [DONE]\n\n" if stream else b"}")

    with_simulator(test)


def test_idle_connection_is_closed_when_asked() -> None:
    async def test(wire: Wire) -> None:
        for how, ended in (("close", "fin"), ("rst", "rst")):
            received, found = await wire.ask(f"Sim-After: {how} 20")
            assert (received[:15], found) == (b"HTTP/1.1 200 OK", ended)
        reader, writer = await wire.open()
        for _ in range(2):
            writer.write(post("Sim-After: close 40", "Sim-Body: empty"))
            assert await reader.readuntil(b"\r\n\r\n")
        assert await reader.read() == b""
        await close(writer)

    with_simulator(test)


def test_early_answer_comes_before_the_body() -> None:
    async def test(wire: Wire) -> None:
        reader, writer = await wire.open()
        writer.write(
            b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n"
            b"Sim-When: head\r\nSim-Tag: early\r\nContent-Length: 5\r\n\r\n"
        )
        answer = await reader.readuntil(b"request_too_large")
        assert answer.startswith(b"HTTP/1.1 413 ")
        writer.write(b"12345" + post("Sim-After: close"))
        assert b"HTTP/1.1 200 OK" in await reader.read()
        await close(writer)
        entries = [(e.event, e.tag) for e in wire.simulator.controls.ledger.entries if e.exchange == 1]
        assert entries == [("first_byte", ""), ("head", "early"), ("sent", "early"), ("request", "early")]

    with_simulator(test)


@pytest.mark.parametrize("leave", ["fin", "rst"])
@pytest.mark.parametrize("directives", ["Sim-Break: head hang", "Sim-Delay-Ms: 60000", "Sim-Body: endless"])
def test_peer_that_leaves_is_noticed(directives: str, leave: str) -> None:
    async def test(wire: Wire) -> None:
        reader, writer = await wire.open()
        writer.write(post(directives, "Sim-Tag: leaver"))
        if "endless" in directives:
            await reader.readexactly(2**20)
        else:
            await wire.until("request")
        if leave == "rst":
            writer.transport.abort()
        await close(writer)
        entry = await wire.until("sent")
        assert (entry.outcome, entry.tag) == ("client_gone", "leaver")
        assert [e.exchange for e in wire.simulator.controls.ledger.entries if e.event == "gone"] == [1]

    with_simulator(test)


def test_next_connections_can_be_turned_away() -> None:
    async def test(wire: Wire) -> None:
        wire.simulator.controls.refusals.extend(["rst", "fin"])
        for how in ("rst", "fin"):
            reader, writer = await wire.open()
            assert (await read_to_end(reader))[1] == how
            await close(writer)
        assert (await wire.ask("Sim-After: close"))[0].startswith(b"HTTP/1.1 200")

    with_simulator(test)


def test_interim_responses_come_first() -> None:
    async def test(wire: Wire) -> None:
        received, _ = await wire.ask("Sim-Interim: 100 103*2", "Sim-After: close")
        lines = [line for line in received.split(b"\r\n") if line.startswith(b"HTTP/")]
        assert [line.split()[1] for line in lines] == [b"100", b"103", b"103", b"200"]

    with_simulator(test)


def test_raw_bytes_are_written_as_they_are() -> None:
    async def test(wire: Wire) -> None:
        nonsense = bytes(range(256))
        received, how = await wire.ask(f"Sim-Raw: {base64.b64encode(nonsense).decode()}", "Sim-After: rst")
        assert (received, how) == (nonsense, "rst")
        entry = await wire.until("sent")
        assert base64.b64decode(entry.sent or "") == nonsense

    with_simulator(test)


def test_script_is_exact_on_bytes() -> None:
    async def test(wire: Wire) -> None:
        script = {
            "status_line": "HTTP/1.1 299 Odd",
            "headers": [["X-A", "1"], ["x-a", {"base64": base64.b64encode(b"\xff").decode()}]],
            "body": base64.b64encode(b"hello").decode(),
            "framing": "chunked",
            "chunk_sizes": [1, 3],
            "trailers": [["x-t", "2"]],
            "piece_sizes": [4, 1, 60],
            "pause_ms": 1,
            "after": "close",
        }
        reader, writer = await wire.open()
        body = json.dumps(script).encode()
        writer.write(
            b"PUT /__sim/scripts/a%%2Fb HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
        )
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 204")
        await close(writer)
        received, how = await wire.ask("Sim-Script: a/b")
        assert received == (
            b"HTTP/1.1 299 Odd\r\nX-A: 1\r\nx-a: \xff\r\ntransfer-encoding: chunked\r\n\r\n"
            b"1\r\nh\r\n3\r\nell\r\n1\r\no\r\n0\r\nx-t: 2\r\n\r\n"
        )
        assert how == "fin"
        assert len(wire.noted("sent")) == 1, "control requests are not in the ledger"

    with_simulator(test)


def test_big_event_crosses_whole() -> None:
    async def test(wire: Wire) -> None:
        received, _ = await wire.ask("Sim-Event-Bytes: 3000000", "Sim-After: close", stream=True)
        assert max(map(len, body_of(received).split(b"\n\n"))) > 3_000_000

    with_simulator(test)
