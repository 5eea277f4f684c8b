"""sqlmap, a scanner for SQL injection, tries every parameter of the dashboard's API and finds none that reaches SQL.

What is tried comes from the API's own document, so a new parameter fails here until it has a value to start from. The
sample is the scanner's quickest form on two parameters; the long form runs all it has (level 5, risk 3) on every
parameter of every route, for half an hour.
"""

import http.client
import json
import re
import sqlite3
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from tests.support.long import LONG
from tests.support.raw_http import send_request
from tests.support.server import Server, SimulatedProvider, wait_until
from tests.support.sqlite_dashboard import database_summary
from tests.support.sqlmap import MARK, needs_sqlmap, scan

from relaybook.api.app import create_app
from relaybook.api.options import ApiOptions
from relaybook.log.query.filters import NAMES
from relaybook.log.store.memory import MemoryStore
from relaybook.server.data_directory import DataDirectory

REQUESTS: Final = 300
PATIENCE: Final = 60.0

pytestmark = needs_sqlmap


@dataclass(frozen=True)
class Place:
    """Where a route takes values: its query parameters ``names``, or ``marked``, a part of its path or a header.

    ``beside`` are parameters that are sent and not tried.
    """

    path: str
    names: tuple[str, ...] = ()
    marked: str = ""
    beside: tuple[str, ...] = ()

    @property
    def told(self) -> list[str]:
        """What the scanner calls that which is tried here."""
        if self.names:
            return list(self.names)
        return ["#1*" if f"{{{self.marked}}}" in self.path else f"{self.marked} #1*"]

    def __str__(self) -> str:
        return f"{self.path}:{self.marked or (self.names[0] if len(self.names) == 1 else len(self.names))}"


LOG: Final = "/api/requests"
LIVE: Final = "/api/live"
THREAD: Final = "/api/thread"
#: By parameter: what it is asked with, where that is not ``limit``.
BESIDE: Final[dict[str, tuple[str, ...]]] = {"limit": (), "contains": ("from",), "not.contains": ("from",)}
#: The one parameter whose name is free.
NAME_OF_A_PROPERTY: Final = Place("/api/requests?property.{name}=team-1&limit=5", marked="name")


def places() -> Iterator[Place]:
    """Everything in the API's document that takes a value."""
    document = create_app(MemoryStore(), ApiOptions(relay_base_url="http://127.0.0.1:4100/v1", version="0")).openapi()
    for path, methods in document["paths"].items():
        for each in methods.get("get", {}).get("parameters", []):
            if each["in"] == "path":
                yield Place(path, marked=each["name"])
            elif each["in"] == "header":
                # One row is enough: the scanner compares answers, and a long one takes it minutes.
                yield Place(path + "?id={id}", marked=each["name"])
        yield from queries(path, methods.get("get", {}).get("parameters", []))
    yield NAME_OF_A_PROPERTY


def queries(path: str, parameters: list[dict[str, Any]]) -> Iterator[Place]:
    """Query parameters beside each other. A filter of the log by itself, too: what leads is found in another way."""
    names = [name for each in parameters if each["in"] == "query" for name in concrete(each["name"])]
    if path == LIVE:  # with words it waits for what is indexed next; the list of requests tries the words
        names = [name for name in names if name.removeprefix("not.") not in ("q", "contains")]
    if path == LOG:
        yield from (Place(path, (name,), beside=BESIDE.get(name, ("limit",))) for name in names)
    if path == THREAD:  # is one namespace or one property's value, and nothing else
        place = ("limit", "cursor", "around")
        yield from (Place(path, (name, "limit", "cursor")) for name in names if name not in place)
        yield Place(path, ("namespace", "around"))
        return
    if together := tuple(name for name in names if name != "around"):
        yield Place(path, together)


def concrete(name: str) -> list[str]:
    """The names that a name of the document stands for."""
    if name == "not.<name>":
        return [f"not.{each}" for each in (*NAMES, "property.user") if each not in ("from", "to")]
    return [name.replace("<name>", "user")]


PLACES: Final = list(places())
SAMPLE: Final = Place(LOG, ("namespace", "property.user"))

#: What excludes little, where not every text is a value.
NOT = {"not.failed": "true", "not.status": "500", "not.outcome": "refused", "not.kind": "models"}
NOT |= {"not.duration": ">1h", "not.first_token": ">1h", "not.cost": ">99", "not.retry_count": ">99"}
NOT |= {"not.input_tokens": ">99999999", "not.output_tokens": ">99999999", "not.contains": "nowhere"}
NOT |= {"not.key": "000000000000"}
NOT |= {"not.warning": "value_cut", "not.advice": "doubled_path", "not.id": "0199a3d2-0000-7000-8000-000000000000"}


@dataclass(frozen=True)
class World:
    """A server with a filled log, and for each parameter a value that selects something there."""

    server: Server
    live: str
    values: dict[str, str]

    def value(self, path: str, name: str) -> str:
        if name.startswith("not."):
            return NOT.get(name, "nobody")
        found = self.values.get(f"{path} {name}") or self.values.get(name)
        assert found, f"{path} takes {name}, and the scan knows no value for it: add one to values_of()"
        return found

    def asked(self, place: Place) -> str:
        """The address of a place; its path's part with the mark if that is tried."""
        base = self.live if place.path.startswith(LIVE) else self.server.dashboard
        path = re.sub(r"{(\w+)}", lambda part: self._part(place, part[1]), place.path)
        query = "&".join(
            f"{name}={quote(self.value(place.path, name), safe='')}" for name in (*place.names, *place.beside)
        )
        return base + path + (f"?{query}" if query else "")

    def _part(self, place: Place, name: str) -> str:
        return quote(self.value(place.path, name)) + (MARK if name == place.marked else "")

    def headers(self, place: Place) -> tuple[str, ...]:
        """A live connection is told to begin with the first record, which is what it asks the store for."""
        return (f"Last-Event-ID: 0{MARK if place.marked else ''}",) if place.path.startswith(LIVE) else ()


class LiveUntilNow(BaseHTTPRequestHandler):
    """Passes live connections on and ends each where the news would begin, so that a scanner gets its answer."""

    dashboard: str

    def do_GET(self) -> None:
        wanted = {"Last-Event-ID": self.headers["Last-Event-ID"]}
        with closing(http.client.HTTPConnection(urlsplit(self.dashboard).netloc, timeout=PATIENCE)) as connection:
            connection.request("GET", self.path, headers=wanted)
            answer = connection.getresponse()
            said = self._until_now(answer) if answer.status == 200 else answer.read()
        self.send_response(answer.status)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    @staticmethod
    def _until_now(answer: http.client.HTTPResponse) -> bytes:
        """Up to the event that is only a place: an id without data."""
        said = b""
        while line := answer.readline():
            said += line
            if line == b"\n" and re.search(rb"(?:^|\n)id: \d+\n\n$", said):
                break
        return said

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """A small server of these; its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def fill(port: int) -> None:
    """Requests that differ in all that can be filtered by."""
    for number in range(REQUESTS):
        body: dict[str, Any] = {"model": ("gpt-4o-mini", "o4-mini", "no-such-model")[number % 3]}
        body |= {"messages": [{"role": "user", "content": "Hello"}], "user": f"team-{number % 4}"}
        body |= {"temperature": 0.5, "top_p": 0.5} if number % 2 else {"max_tokens": 2}
        lines = [f"Service-Namespace: team-{number % 5}", f"Service-Property-User: team-{number % 4}"]
        lines += ["Service-Namspace: misspelt"] if number % 3 == 0 else []
        lines += [f"Sim-Status: {(400, 429, 500)[number % 3]}"] if number % 7 == 0 else []
        lines += ["X-Stainless-Retry-Count: 1"] if number % 4 < 2 else []
        body |= {"stream": True} if number % 5 < 3 else {}
        send_request(port, *(line.encode() for line in lines), body=json.dumps(body).encode())


def values_of(server: Server) -> dict[str, str]:
    """For each parameter a value that selects something; where a route needs another one, ``path name``."""
    wanted = "warning=unknown_header&advice=temperature_and_top_p&status=200&first_token=>0ms&cost=>0&retry_count=>0"
    record = server.records(wanted)[-1]
    values = {name: str(record[name]) for name in NAMES if isinstance(record.get(name), str | int)}
    values |= {"duration": ">0ms", "first_token": ">0ms", "cost": ">0", "q": "hello", "bucket": "3600", "by": "model"}
    values |= {"contains": "hello"}
    values |= {"retry_count": ">=0", "input_tokens": ">0", "output_tokens": ">0"}
    values |= {"failed": "false", "warning": "unknown_header", "advice": "temperature_and_top_p", "as": "sent"}
    values |= {"namespace_prefix": "team", "prefix": "team", "property.user": record["properties"]["user"]}
    values |= {"from": "-1d", "to": "2199-12-31", "limit": "5", "cursor": "o290", "around": record["id"]}
    values |= {"field": "property.user", "name": "user", "pinned": "true", "sort": "requests"}
    page = server.get("/api/namespaces?prefix=team&pinned=true&sort=requests&limit=1")
    return values | {"/api/namespaces cursor": page["next_cursor"], "/api/stats to": "-0s"}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    directory = tmp_path_factory.mktemp("scanned")
    with (
        SimulatedProvider(directory) as provider,
        Server(directory, provider.url, "--price-as", "openai") as server,
    ):
        fill(server.port)
        wait_until(lambda: server.get("/api/count")["requests"] == REQUESTS, PATIENCE, "recording")
        for number in range(3):
            pin(server, f"team-{number}")
        with serving(type("Live", (LiveUntilNow,), {"dashboard": server.dashboard})) as live:
            yield World(server, live, values_of(server))


def pin(server: Server, namespace: str) -> None:
    told = json.dumps({"namespace": namespace, "pinned": True}).encode()
    wanted = urllib.request.Request(f"{server.dashboard}/api/namespaces", told, method="PATCH")
    wanted.add_header("Content-Type", "application/json")
    urllib.request.urlopen(wanted, timeout=PATIENCE).close()


@pytest.mark.parametrize("place", PLACES, ids=str)
def test_every_parameter_has_a_value_that_selects_something(world: World, place: Place) -> None:
    selects_something(world.asked(place), world.headers(place))


@pytest.mark.parametrize("place", PLACES if LONG else [SAMPLE], ids=str)
def test_no_parameter_reaches_sql_and_the_log_is_the_same_afterwards(
    world: World, place: Place, tmp_path: Path
) -> None:
    server = world.server
    url, headers = world.asked(place), world.headers(place)
    before, records, failures = database_summary(DataDirectory(server.data).store), server.records(), failed(server)
    verdict = scan(url, tmp_path, place.names, headers)
    assert verdict.injectable == set(), verdict.output
    assert verdict.harmless == place.told, verdict.output
    assert "all tested parameters do not appear to be injectable" in verdict.output
    assert "500 (" not in verdict.output, verdict.output
    assert failed(server) == failures
    assert database_summary(DataDirectory(server.data).store) == before
    assert server.records() == records


def failed(server: Server) -> int:
    """How many of the API's answers ended in a defect, streams that broke among them."""
    return len(server.events("api_failed"))


def selects_something(url: str, headers: tuple[str, ...]) -> None:
    """Where nothing is selected to begin with, a hole could stay unseen."""
    told = dict(header.replace(MARK, "").split(": ", 1) for header in headers)
    with urllib.request.urlopen(
        urllib.request.Request(url.replace(MARK, ""), headers=told), timeout=PATIENCE
    ) as answer:
        body = answer.read()
    assert body.strip()
    assert not re.search(rb'"data":\[\]|^{"requests":0\b|^retry: 2000\n\nid: \d+\n\n$', body), body


class Careless(BaseHTTPRequestHandler):
    """A server with a hole: ``name`` becomes a part of the statement, ``limit`` does not."""

    def do_GET(self) -> None:
        asked = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
        with closing(sqlite3.connect(":memory:")) as database:
            database.execute("CREATE TABLE people (name TEXT, age INTEGER)")
            database.executemany("INSERT INTO people VALUES (?, ?)", [("ada", 36), ("alan", 41), ("grace", 85)])
            statement = f"SELECT age FROM people WHERE name = '{asked.get('name', '')}' LIMIT 5"
            try:
                said, status = json.dumps(database.execute(statement).fetchall()), 200
            except sqlite3.Error:
                said, status = "[]", 400
        self.send_response(status)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said.encode())

    def log_message(self, *_: object) -> None:
        """Says nothing."""


def test_where_there_is_a_hole_the_scanner_finds_it(tmp_path: Path) -> None:
    with serving(Careless) as careless:
        verdict = scan(f"{careless}/people?name=ada&limit=5", tmp_path, ("name", "limit"))
    assert verdict.injectable == {"name"}, verdict.output
    assert verdict.harmless == ["limit"], verdict.output
