"""Malformed, ambiguous and hostile HTTP at the relay's port: refused, counted, and no byte of it reaches the provider.

The cases are tables in ``hostile.cases`` and ``hostile.more_cases``. Every case is sent as raw bytes on a connection of
its own; afterwards an ordinary request on a new one must do as if nothing had been.
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


def named(case: Case) -> str:
    return f"{case.group}: {case.what}".replace("`", "")


def is_refusal(said: bytes, case: Case) -> Response:
    """What was said is one refusal as the case wants it, and nothing after it."""
    answer = parse(said)
    assert (answer.status, answer.header("service-error")) == (case.status, case.code), said[:2000]
    assert answer.rest == b""
    assert (answer.error["type"], answer.error["code"], answer.error["param"]) == ("relay_error", case.code, None)
    assert len(answer.error["message"]) > 20
    assert answer.header("content-type") == "application/json"
    assert answer.header("connection") == "close"
    return answer


@pytest.mark.parametrize("case", ALL_CASES, ids=named)
def test_hostile_http_is_refused_and_disturbs_nothing(world: World, case: Case) -> None:
    ledger = Ledger(world.provider)
    answer = is_refusal(send_raw(world.server.port, case.sent), case)
    request_id = answer.header("service-request-id")
    assert (request_id is not None) == case.kept.startswith("recorded")
    world.assert_undisturbed(ledger)
    if request_id is not None:
        assert answer.header("x-request-id") == request_id
        record = world.server.record(request_id)
        assert (record["outcome"], record["status"], record["error_code"]) == ("refused", case.status, case.code)
        assert record["failed"] is True
        assert record["error_message"] == answer.error["message"]


@pytest.mark.parametrize("case", [case for case in ALL_CASES if len(case.sent) < 4096], ids=named)
def test_hostile_http_in_small_pieces_is_refused_the_same(world: World, case: Case) -> None:
    ledger = Ledger(world.provider)
    middle = len(case.sent) // 2
    is_refusal(send_raw(world.server.port, case.sent[:middle], case.sent[middle:]), case)
    world.assert_undisturbed(ledger)


def is_not_recorded(answer: Response) -> bool:
    return answer.header("service-request-id") is None


def test_every_refusal_is_counted_by_its_code_or_recorded_once(tmp_path: Path) -> None:
    with SimulatedProvider(tmp_path) as provider, Server(tmp_path, provider.url) as server:
        answers = [parse(send_raw(server.port, case.sent)) for case in ALL_CASES]
        refused = Counter(answer.header("service-error") for answer in answers if is_not_recorded(answer))
        recorded = len(answers) - refused.total()
        assert recorded == len([case for case in ALL_CASES if case.kept != "counted"])
        wait_until(lambda: sum(server.get("/api/status")["refused"].values()) >= refused.total())
        assert server.get("/api/status")["refused"] == refused
        wait_until(lambda: len(server.records()) >= recorded)
        assert [record["outcome"] for record in server.records()] == ["refused"] * recorded
        lines = server.metrics().splitlines()
        for code, count in refused.items():
            assert f'relaybook_refused_total{{code="{code}"}} {float(count)}' in lines


def test_a_refusal_answers_only_what_came_before_the_malformed_bytes(world: World) -> None:
    good = request(b"Content-Type: application/json", LENGTH, body=QUESTION)
    said = send_raw(world.server.port, good + b"GET /v1/" + SMUGGLED.encode() + b" HTTP/1.1\r\nHost : x\r\n\r\n" + good)
    first = parse(said)
    assert first.status == 200
    second = parse(first.rest)
    assert (second.status, second.error["code"], second.rest) == (400, "bad_request", b"")


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    directory = tmp_path_factory.mktemp("impatient")
    flags = ("--header-timeout", "300ms", "--body-timeout", "300ms", "--keep-alive-timeout", "300ms")
    with SimulatedProvider(directory) as provider, Server(directory, provider.url, *flags) as server:
        yield World(server, provider)


@pytest.mark.parametrize("case", SLOW_CASES, ids=named)
def test_a_request_that_does_not_arrive_in_time_is_answered_408(impatient: World, case: Case) -> None:
    ledger = Ledger(impatient.provider)
    answer = is_refusal(send_raw(impatient.server.port, case.sent), case)
    request_id = answer.header("service-request-id")
    assert (request_id is not None) == case.kept.startswith("recorded")
    assert ledger.requests() == []
    impatient.assert_undisturbed(ledger)
    if request_id is not None:
        record = impatient.server.record(request_id)
        assert (record["outcome"], record["status"], record["error_code"]) == ("refused", 408, "request_timeout")


def test_a_connection_on_which_nothing_comes_is_closed_without_a_word(impatient: World) -> None:
    assert send_raw(impatient.server.port) == b""


def test_a_body_that_trickles_is_cut_off(impatient: World) -> None:
    """One byte is always in time for the next; the pace over all is not enough."""
    size = 10_000
    with socket.create_connection(("127.0.0.1", impatient.server.port), 15) as connection:
        connection.sendall(request(b"Content-Length: %d" % size))
        connection.settimeout(0.05)
        said = b""
        for _ in range(size):
            try:
                connection.sendall(b"x")
                said = connection.recv(1 << 16)
                break
            except TimeoutError:
                continue
    assert parse(said).error["code"] == "request_timeout"
