"""Requests that look hostile but are valid. Each request is forwarded once, unchanged, to the configured upstream."""

import base64
import json
import socket
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.support.raw_http import (
    CHUNKED,
    FIRST,
    HIDDEN,
    LENGTH,
    PATH,
    QUESTION,
    SMUGGLED,
    at,
    parse,
    request,
    send_raw,
    send_request,
)
from tests.support.server import Server, SimulatedProvider
from tests.support.simulated_upstream import Ledger, World


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    directory = tmp_path_factory.mktemp("harmless")
    with SimulatedProvider() as provider, Server(directory, provider.url) as server:
        yield World(server, provider)


def is_relayed(world: World, sent: bytes, target: str) -> dict[str, Any]:
    """Assert that the upstream receives this request at this target. Returns the ledger entry of the request."""
    ledger = Ledger(world.provider)
    parse(send_raw(world.server.port, sent))
    (entry,) = ledger.requests()
    assert entry["target"] == target
    assert dict(entry["headers"])["Host"] == urlsplit(world.provider.url).netloc
    return entry


@pytest.mark.parametrize(
    "target",
    [
        "/v1/models/org%2Fmodel",
        "/v1/models/%252e%252e",
        "/v1/models?path=../../etc",
        "/v1//evil.example/models",
        "/v1/@evil.example/models",
        "/v1/http://evil.example/models",
        "/v1/models/...",
        "/v1/models/..;x",
        "/v1/models/%00",
        "/v1/models?url=http://evil.example",
        "/v1/",
        "/v1/MODELS/a!b$c&d'e(f)*+,;=:@~",
    ],
)
def test_a_path_below_the_route_is_forwarded_byte_for_byte(world: World, target: str) -> None:
    is_relayed(world, at(target.encode()).replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"), target)


def test_an_absolute_target_with_the_relays_own_host_is_forwarded(world: World) -> None:
    is_relayed(world, at(b"http://127.0.0.1/v1/models")[:-2] + b"Connection: close\r\n\r\n", "/v1/models")


def test_an_offer_of_http_2_is_ignored(world: World) -> None:
    offer = (
        b"Connection: close, Upgrade, HTTP2-Settings",
        b"Upgrade: h2c",
        b"HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA",
    )
    entry = is_relayed(world, request(*offer, LENGTH, body=QUESTION), PATH)
    assert {name.lower() for name, _ in entry["headers"]} & {"upgrade", "http2-settings", "connection"} == set()


def test_headers_that_name_another_upstream_have_no_effect(world: World) -> None:
    with socket.create_server(("127.0.0.1", 0)) as decoy:
        decoy.settimeout(0)
        url = f"http://127.0.0.1:{decoy.getsockname()[1]}/v1"
        names = ("api-base", "base-url", "Target-URL", "X-Upstream", "X-Original-URL", "X-Rewrite-URL", "X-Target-Host")
        lines = [f"{name}: {url}".encode() for name in (*names, "X-Forwarded-Host", "x-portkey-custom-host", "Referer")]
        body = json.dumps({**json.loads(QUESTION), "api_base": url, "base_url": url, "upstream": url}).encode()
        sent = request(*lines, b"Connection: close", b"Content-Length: %d" % len(body), body=body)
        entry = is_relayed(world, sent, PATH)
        assert base64.b64decode(entry["body"]) == body
        with pytest.raises(BlockingIOError):
            decoy.accept()


def test_a_redirect_is_forwarded_and_not_followed(world: World) -> None:
    ledger = Ledger(world.provider)
    with socket.create_server(("127.0.0.1", 0)) as decoy:
        decoy.settimeout(0)
        location = f"http://127.0.0.1:{decoy.getsockname()[1]}/v1"
        response = send_request(world.server.port, b"Sim-Status: 307", f"Sim-Header: location: {location}".encode())
        assert (response.status, response.header("location")) == (307, location)
        with pytest.raises(BlockingIOError):
            decoy.accept()
    assert len(ledger.requests()) == 1


def test_a_chunked_body_of_single_bytes_with_extensions_and_trailers_is_decoded(world: World) -> None:
    chunks = b"".join(b"1;a=b\r\n%c\r\n" % byte for byte in QUESTION)
    sent = request(
        CHUNKED, b"Connection: close", body=chunks + b"0;last\r\nX-Trailer: " + SMUGGLED.encode() + b"\r\n\r\n"
    )
    ledger = Ledger(world.provider)
    response = parse(send_raw(world.server.port, sent))
    assert response.status == 200
    (entry,) = ledger.requests()
    assert base64.b64decode(entry["body"]) == QUESTION
    assert SMUGGLED.encode() not in ledger.received_bytes()
    record = world.server.record(response.header("service-request-id") or "")
    assert (record["outcome"], record["request_bytes"]) == ("complete", len(QUESTION))


def test_100_continue_is_sent_once_and_not_forwarded(world: World) -> None:
    ledger = Ledger(world.provider)
    with socket.create_connection(("127.0.0.1", world.server.port), 15) as connection:
        connection.sendall(request(b"Expect: 100-continue", b"Connection: close", LENGTH))
        assert connection.recv(1 << 16) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(QUESTION)
        received = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    assert parse(received).status == 200
    (entry,) = ledger.requests()
    assert "expect" not in {name.lower() for name, _ in entry["headers"]}


def test_a_namespace_header_with_an_underscore_is_ignored(world: World) -> None:
    response = send_request(world.server.port, b"Service_Namespace: " + b"evil")
    assert response.header("service-namespace") == "default"


def test_an_http_1_0_client_gets_no_100_continue(world: World) -> None:
    """HTTP/1.0 has no interim responses (RFC 9110 §10.1.1)."""
    first = b"POST /v1/chat/completions HTTP/1.0"
    with socket.create_connection(("127.0.0.1", world.server.port), 60) as connection:
        connection.sendall(request(b"Expect: 100-continue", LENGTH, first=first))
        connection.sendall(QUESTION)
        received = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    assert received.startswith(b"HTTP/1.1 200 OK\r\n")


def test_headers_for_the_relay_or_a_proxy_are_not_forwarded(world: World) -> None:
    names = (
        "Cookie",
        "Proxy-Authorization",
        "Proxy-Evil",
        "Forwarded",
        "X-Forwarded-For",
        "X-Forwarded-Host",
        "Keep-Alive",
    )
    tags = ("Service-Namespace", "sErViCe-Property-A", "Relaybook-Log", "Service-Nonsense", "Upgrade", "TE", "Trailer")
    lines = [f"{name}: {SMUGGLED}".encode() for name in (*names, *tags)]
    ledger = Ledger(world.provider)
    assert send_request(world.server.port, *lines).status == 200
    assert len(ledger.requests()) == 1
    assert SMUGGLED.encode() not in ledger.received_bytes()


def test_bytes_after_a_chunked_request_are_not_parsed_as_another_request(world: World) -> None:
    ledger = Ledger(world.provider)
    response = parse(send_raw(world.server.port, request(CHUNKED, body=FIRST + b"0\r\n\r\n" + HIDDEN)))
    assert (response.status, response.rest) == (200, b"")
    assert len(ledger.requests()) == 1
    assert SMUGGLED.encode() not in ledger.received_bytes()
