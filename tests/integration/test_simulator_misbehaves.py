"""The simulated upstream produces exactly the faults that a request asks for. The tests check the received bytes."""

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


@pytest.mark.parametrize("ending", ["fin", "rst"])
@pytest.mark.parametrize(
    ("position", "expected"),
    [("head", lambda body: None), ("head:10", lambda body: None), ("event:3", 3), ("event:2:7", 2), ("byte:100", None)],
)
def test_a_stream_breaks_exactly_where_requested(ending: str, position: str, expected: Any) -> None:
    async def test(wire: Wire) -> None:
        received, ended = await wire.post_and_read(f"Sim-Break: {position} {ending}", stream=True)
        assert ended == ending
        assert (await wire.wait_for("sent")).outcome == "broken"
        body = body_of(received)
        if position.startswith("head"):
            assert received == b"HTTP/1.1 200 OK"[: int(position.partition(":")[2] or 0)]
        elif position.startswith("byte"):
            assert len(body) == 100
        else:
            assert body.count(b"\n\n") == expected
            assert body.endswith(b"\n\n") == (position == "event:3")
        assert b"\r\n0\r\n" not in received

    with_simulator(test)


def test_a_wrong_length_and_surplus_bytes_are_sent() -> None:
    async def test(wire: Wire) -> None:
        short, ending = await wire.post_and_read("Sim-Length: +10", "Sim-Body: base64:YWJj")
        assert (b"content-length: 13\r\n" in short, short[-3:], ending) == (True, b"abc", "fin")
        surplus, _ = await wire.post_and_read("Sim-Surplus: 2", "Sim-Body: base64:YWJj", "Sim-After: close")
        assert surplus.endswith(b"content-length: 3\r\n\r\nabcxx")
        twice, _ = await wire.post_and_read(
            "Sim-Header: content-length: 5", "Sim-Body: base64:YWJj", "Sim-After: close"
        )
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
def test_an_encoded_response_can_be_decoded(encoding: str, decode: Callable[[bytes], bytes], stream: bool) -> None:
    async def test(wire: Wire) -> None:
        received, _ = await wire.post_and_read(f"Sim-Encoding: {encoding}", "Sim-After: close", stream=stream)
        plain = decode(body_of(received))
        assert plain.endswith(b"data: [DONE]\n\n" if stream else b"}")

    with_simulator(test)


def test_an_idle_connection_is_closed_if_requested() -> None:
    async def test(wire: Wire) -> None:
        for ending, ended in (("close", "fin"), ("rst", "rst")):
            received, found = await wire.post_and_read(f"Sim-After: {ending} 20")
            assert (received[:15], found) == (b"HTTP/1.1 200 OK", ended)
        reader, writer = await wire.open()
        for _ in range(2):
            writer.write(post("Sim-After: close 40", "Sim-Body: empty"))
            assert await reader.readuntil(b"\r\n\r\n")
        assert await reader.read() == b""
        await close(writer)

    with_simulator(test)


def test_an_early_response_is_sent_before_the_body_was_read() -> None:
    async def test(wire: Wire) -> None:
        reader, writer = await wire.open()
        writer.write(
            b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n"
            b"Sim-When: head\r\nSim-Tag: early\r\nContent-Length: 5\r\n\r\n"
        )
        response = await reader.readuntil(b"request_too_large")
        assert response.startswith(b"HTTP/1.1 413 ")
        writer.write(b"12345" + post("Sim-After: close"))
        assert b"HTTP/1.1 200 OK" in await reader.read()
        await close(writer)
        entries = [(e.event, e.tag) for e in wire.simulator.controls.ledger.entries if e.exchange == 1]
        assert entries == [("first_byte", ""), ("head", "early"), ("sent", "early"), ("request", "early")]

    with_simulator(test)


@pytest.mark.parametrize("disconnect", ["fin", "rst"])
@pytest.mark.parametrize("directives", ["Sim-Break: head hang", "Sim-Delay-Ms: 60000", "Sim-Body: endless"])
def test_a_client_that_disconnects_is_noticed(directives: str, disconnect: str) -> None:
    async def test(wire: Wire) -> None:
        reader, writer = await wire.open()
        writer.write(post(directives, "Sim-Tag: leaver"))
        if "endless" in directives:
            await reader.readexactly(2**20)
        else:
            await wire.wait_for("request")
        if disconnect == "rst":
            writer.transport.abort()
        await close(writer)
        entry = await wire.wait_for("sent")
        assert (entry.outcome, entry.tag) == ("client_gone", "leaver")
        assert [e.exchange for e in wire.simulator.controls.ledger.entries if e.event == "gone"] == [1]

    with_simulator(test)


def test_the_next_connections_can_be_refused() -> None:
    async def test(wire: Wire) -> None:
        wire.simulator.controls.refusals.extend(["rst", "fin"])
        for ending in ("rst", "fin"):
            reader, writer = await wire.open()
            assert (await read_to_end(reader))[1] == ending
            await close(writer)
        assert (await wire.post_and_read("Sim-After: close"))[0].startswith(b"HTTP/1.1 200")

    with_simulator(test)


def test_interim_responses_are_sent_first() -> None:
    async def test(wire: Wire) -> None:
        received, _ = await wire.post_and_read("Sim-Interim: 100 103*2", "Sim-After: close")
        lines = [line for line in received.split(b"\r\n") if line.startswith(b"HTTP/")]
        assert [line.split()[1] for line in lines] == [b"100", b"103", b"103", b"200"]

    with_simulator(test)


def test_raw_bytes_are_sent_unchanged() -> None:
    async def test(wire: Wire) -> None:
        garbage = bytes(range(256))
        received, ending = await wire.post_and_read(f"Sim-Raw: {base64.b64encode(garbage).decode()}", "Sim-After: rst")
        assert (received, ending) == (garbage, "rst")
        entry = await wire.wait_for("sent")
        assert base64.b64decode(entry.sent or "") == garbage

    with_simulator(test)


def test_a_script_is_sent_byte_for_byte() -> None:
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
        received, ending = await wire.post_and_read("Sim-Script: a/b")
        assert received == (
            b"HTTP/1.1 299 Odd\r\nX-A: 1\r\nx-a: \xff\r\ntransfer-encoding: chunked\r\n\r\n"
            b"1\r\nh\r\n3\r\nell\r\n1\r\no\r\n0\r\nx-t: 2\r\n\r\n"
        )
        assert ending == "fin"
        assert len(wire.ledger_entries("sent")) == 1, "control requests are not in the ledger"

    with_simulator(test)


def test_a_large_event_is_sent_completely() -> None:
    async def test(wire: Wire) -> None:
        received, _ = await wire.post_and_read("Sim-Event-Bytes: 3000000", "Sim-After: close", stream=True)
        assert max(map(len, body_of(received).split(b"\n\n"))) > 3_000_000

    with_simulator(test)
