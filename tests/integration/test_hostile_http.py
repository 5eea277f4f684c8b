"""Malformed, ambiguous and hostile HTTP at the relay's port is rejected and counted, and never reaches the upstream.

The cases are in the tables of ``hostile.cases`` and ``hostile.more_cases``. Each case is sent as raw bytes on a new
connection. Afterwards, an ordinary request on another connection must succeed.
"""

import socket
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from tests.integration.hostile.cases import CASES, SLOW_CASES, Case
from tests.integration.hostile.more_cases import MORE_CASES
from tests.support.raw_http import LENGTH, QUESTION, SMUGGLED, Response, parse, request, send_raw
from tests.support.server import Server, SimulatedProvider, wait_until
from tests.support.simulated_upstream import Ledger, World

ALL_CASES: Final = [*CASES, *MORE_CASES]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    directory = tmp_path_factory.mktemp("hostile")
    with SimulatedProvider(directory) as provider, Server(directory, provider.url) as server:
        yield World(server, provider)


def case_id(case: Case) -> str:
    return f"{case.group}: {case.what}".replace("`", "")


def assert_rejected(received: bytes, case: Case) -> Response:
    """Assert that the bytes are exactly the one response that the case expects."""
    response = parse(received)
    assert (response.status, response.header("service-error")) == (case.status, case.code), received[:2000]
    assert response.rest == b""
    assert (response.error["type"], response.error["code"], response.error["param"]) == ("relay_error", case.code, None)
    assert len(response.error["message"]) > 20
    assert response.header("content-type") == "application/json"
    connection = {"upgrade_required": "close, upgrade"}.get(case.code, "close")
    assert response.header("connection") == connection
    return response


@pytest.mark.parametrize("case", ALL_CASES, ids=case_id)
def test_hostile_http_is_rejected_and_does_not_affect_other_requests(world: World, case: Case) -> None:
    ledger = Ledger(world.provider)
    response = assert_rejected(send_raw(world.server.port, case.sent), case)
    request_id = response.header("service-request-id")
    assert (request_id is not None) == case.kept.startswith("recorded")
    world.assert_undisturbed(ledger)
    if request_id is not None:
        assert response.header("x-request-id") == request_id
        record = world.server.record(request_id)
        assert (record["outcome"], record["status"], record["error_code"]) == ("refused", case.status, case.code)
        assert record["failed"] is True
        assert record["error_message"] == response.error["message"]


@pytest.mark.parametrize("case", [case for case in ALL_CASES if len(case.sent) < 4096], ids=case_id)
def test_hostile_http_in_small_chunks_is_rejected_the_same_way(world: World, case: Case) -> None:
    ledger = Ledger(world.provider)
    middle = len(case.sent) // 2
    assert_rejected(send_raw(world.server.port, case.sent[:middle], case.sent[middle:]), case)
    world.assert_undisturbed(ledger)


def is_not_recorded(response: Response) -> bool:
    return response.header("service-request-id") is None


def test_every_rejection_is_counted_by_its_code_or_recorded_once(tmp_path: Path) -> None:
    with SimulatedProvider(tmp_path) as provider, Server(tmp_path, provider.url) as server:
        responses = [parse(send_raw(server.port, case.sent)) for case in ALL_CASES]
        refused = Counter(response.header("service-error") for response in responses if is_not_recorded(response))
        recorded = len(responses) - refused.total()
        assert recorded == len([case for case in ALL_CASES if case.kept != "counted"])
        wait_until(lambda: sum(server.get("/api/status")["refused"].values()) >= refused.total())
        assert server.get("/api/status")["refused"] == refused
        wait_until(lambda: len(server.records()) >= recorded)
        assert [record["outcome"] for record in server.records()] == ["refused"] * recorded
        lines = server.metrics().splitlines()
        for code, count in refused.items():
            assert f'relaybook_refused_total{{code="{code}"}} {float(count)}' in lines


def test_only_the_requests_before_malformed_bytes_are_served(world: World) -> None:
    valid = request(b"Content-Type: application/json", LENGTH, body=QUESTION)
    received = send_raw(
        world.server.port, valid + b"GET /v1/" + SMUGGLED.encode() + b" HTTP/1.1\r\nHost : x\r\n\r\n" + valid
    )
    first = parse(received)
    assert first.status == 200
    second = parse(first.rest)
    assert (second.status, second.error["code"], second.rest) == (400, "bad_request", b"")


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    directory = tmp_path_factory.mktemp("impatient")
    flags = ("--header-timeout", "300ms", "--body-timeout", "300ms", "--keep-alive-timeout", "300ms")
    with SimulatedProvider(directory) as provider, Server(directory, provider.url, *flags) as server:
        yield World(server, provider)


@pytest.mark.parametrize("case", SLOW_CASES, ids=case_id)
def test_a_request_that_does_not_arrive_in_time_gets_408(impatient: World, case: Case) -> None:
    ledger = Ledger(impatient.provider)
    response = assert_rejected(send_raw(impatient.server.port, case.sent), case)
    request_id = response.header("service-request-id")
    assert (request_id is not None) == case.kept.startswith("recorded")
    assert ledger.requests() == []
    impatient.assert_undisturbed(ledger)
    if request_id is not None:
        record = impatient.server.record(request_id)
        assert (record["outcome"], record["status"], record["error_code"]) == ("refused", 408, "request_timeout")


def test_an_unused_connection_is_closed_without_a_response(impatient: World) -> None:
    assert send_raw(impatient.server.port) == b""


def test_a_body_that_arrives_very_slowly_is_rejected(impatient: World) -> None:
    """Each byte arrives within the timeout between bytes, but the average rate is too low."""
    size = 10_000
    with socket.create_connection(("127.0.0.1", impatient.server.port), 15) as connection:
        connection.sendall(request(b"Content-Length: %d" % size))
        connection.settimeout(0.05)
        received = b""
        for _ in range(size):
            try:
                connection.sendall(b"x")
                received = connection.recv(1 << 16)
                break
            except TimeoutError:
                continue
    assert parse(received).error["code"] == "request_timeout"
