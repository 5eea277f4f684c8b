"""Malformed, ambiguous and hostile HTTP at the relay's port is rejected and counted, and never reaches the upstream.

The cases are in the tables of ``tests.support.hostile``. Each case is sent as raw bytes on a new connection. These
tests send all cases to one server. ``tests/unit/relay/test_hostile_http.py`` sends each case in several ways, without
sockets, and an ordinary request after each case.
"""

import socket
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import pytest
from tests.support.each import check_each
from tests.support.hostile.cases import CASES, SLOW_CASES, Case, name_of
from tests.support.hostile.more_cases import MORE_CASES
from tests.support.hostile.rejection import assert_rejected
from tests.support.raw_http import LENGTH, QUESTION, SMUGGLED, Response, parse, request, send_raw
from tests.support.server import Server, SimulatedProvider, wait_until
from tests.support.simulated_upstream import Ledger, World

ALL_CASES: Final = [*CASES, *MORE_CASES]


def test_hostile_http_is_rejected_and_counted_or_recorded_once(tmp_path: Path) -> None:
    with SimulatedProvider() as provider, Server(tmp_path, provider.url) as server:
        world, ledger = World(server, provider), Ledger(provider)
        responses: list[tuple[Case, Response]] = []

        def check(case: Case) -> None:
            responses.append((case, assert_rejected(send_raw(server.port, case.sent), case)))

        check_each(ALL_CASES, check, name_of)
        refused = Counter(case.code for case in ALL_CASES if case.kept == "counted")
        wait_until(lambda: sum(server.get("/api/status")["refused"].values()) >= refused.total())
        assert server.get("/api/status")["refused"] == refused
        lines = server.metrics().splitlines()
        for code, count in refused.items():
            assert f'relaybook_refused_total{{code="{code}"}} {float(count)}' in lines
        wait_until(lambda: len(server.records()) >= len(responses) - refused.total())
        recorded = {response.header("service-request-id"): (case, response) for case, response in responses}
        recorded.pop(None)
        assert {record["id"] for record in server.records()} == set(recorded)
        for record in server.records():
            case, response = recorded[record["id"]]
            assert (record["outcome"], record["status"], record["error_code"]) == ("refused", case.status, case.code)
            assert (record["failed"], record["error_message"]) == (True, response.error["message"])
        world.assert_undisturbed(ledger)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    directory = tmp_path_factory.mktemp("hostile")
    with SimulatedProvider() as provider, Server(directory, provider.url) as server:
        yield World(server, provider)


def test_hostile_http_in_two_parts_is_rejected_the_same_way(world: World) -> None:
    def check(case: Case) -> None:
        middle = len(case.sent) // 2
        assert_rejected(send_raw(world.server.port, case.sent[:middle], case.sent[middle:]), case)

    ledger = Ledger(world.provider)
    check_each([case for case in ALL_CASES if len(case.sent) < 4096], check, name_of)
    world.assert_undisturbed(ledger)


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
    with SimulatedProvider() as provider, Server(directory, provider.url, *flags) as server:
        yield World(server, provider)


def test_a_request_that_does_not_arrive_in_time_gets_408(impatient: World) -> None:
    ledger = Ledger(impatient.provider)
    with ThreadPoolExecutor(len(SLOW_CASES)) as threads:
        received = list(threads.map(lambda case: send_raw(impatient.server.port, case.sent), SLOW_CASES))
    responses = [assert_rejected(each, case) for case, each in zip(SLOW_CASES, received, strict=True)]
    assert ledger.requests() == []
    impatient.assert_undisturbed(ledger)
    for request_id in filter(None, (response.header("service-request-id") for response in responses)):
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
