"""sqlmap, a scanner for SQL injection, tests every parameter of the dashboard's API and finds no injection.

The parameters come from the API's OpenAPI document. A new parameter fails the tests until ``values_of`` has a value
for the parameter. By default, the scanner's fastest checks run on two parameters. The long form runs all checks
(level 5, risk 3) on every parameter of every route, which takes half an hour.
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
from relaybook.log.query.filters import NAMES, Filter, Term
from relaybook.log.query.term_values import allows_prefix
from relaybook.log.store import open_store
from relaybook.log.store.memory import MemoryStore
from relaybook.server.data_directory import DataDirectory

REQUESTS: Final = 300
TIMEOUT_SECONDS: Final = 60.0

pytestmark = needs_sqlmap


@dataclass(frozen=True)
class Target:
    """Inputs of a route: the query parameters in ``names``, or the path parameter or header in ``marked``.

    The parameters in ``sent_along`` are sent but not tested.
    """

    path: str
    names: tuple[str, ...] = ()
    marked: str = ""
    sent_along: tuple[str, ...] = ()

    @property
    def reported(self) -> list[str]:
        """Return the names that the scanner reports for these inputs."""
        if self.names:
            return list(self.names)
        return ["#1*" if f"{{{self.marked}}}" in self.path else f"{self.marked} #1*"]

    def __str__(self) -> str:
        return f"{self.path}:{self.marked or (self.names[0] if len(self.names) == 1 else len(self.names))}"


LOG: Final = "/api/requests"
LIVE: Final = "/api/live"
THREAD: Final = "/api/thread"
#: The parameters that are sent together with a tested parameter. The default is ``limit``.
SENT_ALONG: Final[dict[str, tuple[str, ...]]] = {"limit": (), "contains": ("from",), "not.contains": ("from",)}
#: The only parameter that has an arbitrary name.
PROPERTY_NAME: Final = Target("/api/requests?property.{name}=team-1&limit=5", marked="name")


def targets() -> Iterator[Target]:
    """Yield all inputs in the API's OpenAPI document."""
    document = create_app(MemoryStore(), ApiOptions(relay_base_url="http://127.0.0.1:4100/v1", version="0")).openapi()
    for path, methods in document["paths"].items():
        for parameter in methods.get("get", {}).get("parameters", []):
            if parameter["in"] == "path":
                yield Target(path, marked=parameter["name"])
            elif parameter["in"] == "header":
                # Request only one row, because the scanner needs minutes to compare long responses.
                yield Target(path + "?id={id}", marked=parameter["name"])
        yield from query_targets(path, methods.get("get", {}).get("parameters", []))
    yield PROPERTY_NAME


def query_targets(path: str, parameters: list[dict[str, Any]]) -> Iterator[Target]:
    """Yield the query parameters together. Filters of the log are also yielded one by one.

    A single filter is queried differently from several filters.
    """
    names = [
        name for parameter in parameters if parameter["in"] == "query" for name in concrete_names(parameter["name"])
    ]
    if path == LIVE:  # a text search waits for the index here, so the scan of LOG covers text searches
        names = [name for name in names if name.rpartition(".")[2] not in ("q", "words", "contains")]
    if path == LOG:
        yield from (Target(path, (name,), sent_along=SENT_ALONG.get(name, ("limit",))) for name in names)
    if path == THREAD:  # this route requires exactly one namespace or property value
        place = ("limit", "cursor", "around")
        yield from (Target(path, (name, "limit", "cursor")) for name in names if name not in place)
        yield Target(path, ("namespace", "around"))
        return
    alone = ("around", "sort") if path == LOG else ("around",)
    if together := tuple(name for name in names if name not in alone):
        yield Target(path, together)


def concrete_names(name: str) -> list[str]:
    """Return the parameter names that a name in the OpenAPI document stands for."""
    if name == "not.<name>":
        return [f"not.{parameter}" for parameter in (*NAMES, "property.user") if parameter not in ("from", "to")]
    if name == "begins.<name>":
        return [f"begins.{parameter}" for parameter in (*NAMES, "property.user") if allows_prefix(parameter)]
    return [name.replace("<name>", "user")]


TARGETS: Final = list(targets())
SAMPLE: Final = Target(LOG, ("namespace", "property.user"))

#: Values that exclude few requests, for negated filters that accept only certain values.
NOT = {"not.failed": "true", "not.status": "500", "not.outcome": "refused", "not.kind": "models"}
NOT |= {"not.duration": ">1h", "not.first_token": ">1h", "not.cost": ">99", "not.retry_count": ">99"}
NOT |= {"not.input_tokens": ">99999999", "not.output_tokens": ">99999999", "not.contains": "nowhere"}
NOT |= {"not.score": ">99", "not.feedback": "none"}
NOT |= {"not.key": "000000000000", "not.result": "conflict"}
NOT |= {"not.warning": "value_cut", "not.advice": "doubled_path", "not.id": "0199a3d2-0000-7000-8000-000000000000"}


@dataclass(frozen=True)
class World:
    """A server with a filled log. For each parameter, ``values`` has a value that selects requests."""

    server: Server
    live: str
    values: dict[str, str]

    def value(self, path: str, name: str) -> str:
        if name.startswith("not."):
            return NOT.get(name, "nobody")
        if name.startswith("begins."):
            return self.value(path, name.removeprefix("begins."))[:4]
        found = self.values.get(f"{path} {name}") or self.values.get(name)
        assert found, f"{path} takes {name}, and the scan knows no value for it: add one to values_of()"
        return found

    def url(self, place: Target) -> str:
        """Return the URL of a target. If a part of the path is tested, the URL contains the mark."""
        base = self.live if place.path.startswith(LIVE) else self.server.dashboard
        path = re.sub(r"{(\w+)}", lambda part: self._part(place, part[1]), place.path)
        query = "&".join(
            f"{name}={quote(self.value(place.path, name), safe='')}" for name in (*place.names, *place.sent_along)
        )
        return base + path + (f"?{query}" if query else "")

    def _part(self, place: Target, name: str) -> str:
        return quote(self.value(place.path, name)) + (MARK if name == place.marked else "")

    def headers(self, place: Target) -> tuple[str, ...]:
        """Return the headers of a request to a target.

        A live connection must resume at the first record. Otherwise, the connection would not query the store.
        """
        return (f"Last-Event-ID: 0{MARK if place.marked else ''}",) if place.path.startswith(LIVE) else ()


class LiveUntilNow(BaseHTTPRequestHandler):
    """Proxy live connections, and end each response where new events would begin, so that the response is complete."""

    dashboard: str

    def do_GET(self) -> None:
        wanted = {"Last-Event-ID": self.headers["Last-Event-ID"]}
        with closing(
            http.client.HTTPConnection(urlsplit(self.dashboard).netloc, timeout=TIMEOUT_SECONDS)
        ) as connection:
            connection.request("GET", self.path, headers=wanted)
            response = connection.getresponse()
            received = self._until_now(response) if response.status == 200 else response.read()
        self.send_response(response.status)
        self.send_header("Content-Length", str(len(received)))
        self.end_headers()
        self.wfile.write(received)

    @staticmethod
    def _until_now(response: http.client.HTTPResponse) -> bytes:
        """Return the bytes up to and including the first event that has an id but no data."""
        received = b""
        while line := response.readline():
            received += line
            if line == b"\n" and re.search(rb"(?:^|\n)id: \d+\n\n$", received):
                break
        return received

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Run a small server with this handler, and yield the server's address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def fill(port: int) -> None:
    """Send requests that differ in every field that can be filtered."""
    for number in range(REQUESTS):
        body: dict[str, Any] = {"model": ("gpt-4o-mini", "o4-mini", "no-such-model")[number % 3]}
        body |= {"messages": [{"role": "user", "content": "Hello"}], "user": f"team-{number % 4}"}
        body |= {"temperature": 0.5, "top_p": 0.5} if number % 2 else {"max_tokens": 2}
        lines = [f"Service-Namespace: team-{number % 5}", f"Service-Property-User: team-{number % 4}"]
        lines += ["Service-Namspace: misspelled"] if number % 3 == 0 else []
        lines += [f"Sim-Status: {(400, 429, 500)[number % 3]}"] if number % 7 == 0 else []
        lines += ["X-Stainless-Retry-Count: 1"] if number % 4 < 2 else []
        body |= {"stream": True} if number % 5 < 3 else {}
        send_request(port, *(line.encode() for line in lines), body=json.dumps(body).encode())


def values_of(server: Server) -> dict[str, str]:
    """Return values that select requests, by parameter. A key ``path name`` overrides the value for one route."""
    wanted = "warning=unknown_header&advice=temperature_and_top_p&status=200&first_token=>0ms&cost=>0&retry_count=>0"
    record = server.records(wanted)[-1]
    values = {name: str(record[name]) for name in NAMES if isinstance(record.get(name), str | int)}
    values |= {"duration": ">0ms", "first_token": ">0ms", "cost": ">0", "q": "hello", "bucket": "3600", "by": "model"}
    values |= {"contains": "hello", "words": "hello", "caret": "5", "result": record["result"]["code"]}
    values |= {"format": "jsonl", "bodies": "true", "after": "0", "through": f"{REQUESTS}", "end": "true"}
    values |= {"score": ">0", "label": "good", "feedback": "any"}
    values |= {"retry_count": ">=0", "input_tokens": ">0", "output_tokens": ">0"}
    values |= {"failed": "false", "warning": "unknown_header", "advice": "temperature_and_top_p", "as": "sent"}
    values |= {"namespace_prefix": "team", "prefix": "team", "property.user": record["properties"]["user"]}
    values |= {"from": "-1d", "to": "2199-12-31", "limit": "5", "cursor": "o290", "around": record["id"]}
    values |= {"field": "property.user", "name": "user", "pinned": "true", "sort": "requests"}
    page = server.get("/api/namespaces?prefix=team&pinned=true&sort=requests&limit=1")
    no_requests = Filter((Term("namespace", ("nobody",)),))
    deletion = open_store(DataDirectory(server.data).store).open_deletions().request(no_requests, 0, "127.0.0.1")
    return values | {
        "/api/deletions/{id} id": deletion.id,
        "/api/namespaces cursor": page["next_cursor"],
        "/api/stats to": "-0s",
        "/api/requests sort": "cost_usd",
    }


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    directory = tmp_path_factory.mktemp("scanned")
    with (
        SimulatedProvider(directory) as provider,
        Server(directory, provider.url, "--price-as", "openai") as server,
    ):
        fill(server.port)
        wait_until(lambda: server.get("/api/count")["requests"] == REQUESTS, TIMEOUT_SECONDS, "recording")
        for number in range(3):
            pin(server, f"team-{number}")
        for record in server.records():
            give_feedback(server, record["id"])
        with serving(type("Live", (LiveUntilNow,), {"dashboard": server.dashboard})) as live:
            yield World(server, live, values_of(server))


def give_feedback(server: Server, request_id: str) -> None:
    sent = json.dumps({"score": 1, "label": "good"}).encode()
    headers = {"Content-Type": "application/json"}
    url = f"{server.dashboard}/api/requests/{request_id}/feedback"
    urllib.request.urlopen(urllib.request.Request(url, sent, headers), timeout=TIMEOUT_SECONDS).close()


def pin(server: Server, namespace: str) -> None:
    reported = json.dumps({"namespace": namespace, "pinned": True}).encode()
    wanted = urllib.request.Request(f"{server.dashboard}/api/namespaces", reported, method="PATCH")
    wanted.add_header("Content-Type", "application/json")
    urllib.request.urlopen(wanted, timeout=TIMEOUT_SECONDS).close()


@pytest.mark.parametrize("place", TARGETS, ids=str)
def test_every_parameter_has_a_value_that_selects_requests(world: World, place: Target) -> None:
    selects_requests(world.url(place), world.headers(place))


@pytest.mark.parametrize("place", TARGETS if LONG else [SAMPLE], ids=str)
def test_no_parameter_reaches_sql_and_the_log_is_unchanged_afterwards(
    world: World, place: Target, tmp_path: Path
) -> None:
    server = world.server
    url, headers = world.url(place), world.headers(place)
    before, records, failures = (
        database_summary(DataDirectory(server.data).store),
        server.records(),
        internal_errors(server),
    )
    result = scan(url, tmp_path, place.names, headers)
    assert result.injectable == set(), result.output
    assert result.harmless == place.reported, result.output
    assert "all tested parameters do not appear to be injectable" in result.output
    assert "500 (" not in result.output, result.output
    assert internal_errors(server) == failures
    assert database_summary(DataDirectory(server.data).store) == before
    assert server.records() == records


def internal_errors(server: Server) -> int:
    """Return how many API responses had internal errors, including interrupted streams."""
    return len(server.events("api_failed"))


def selects_requests(url: str, headers: tuple[str, ...]) -> None:
    """Assert that the URL selects requests. If nothing is selected, an injection could go unnoticed."""
    reported = dict(header.replace(MARK, "").split(": ", 1) for header in headers)
    asked = urllib.request.Request(url.replace(MARK, ""), headers=reported)

    def completed() -> bytes:
        """Return the body of the response, or empty bytes if a count was stopped at its deadline."""
        with urllib.request.urlopen(asked, timeout=TIMEOUT_SECONDS) as response:
            body: bytes = response.read()
        return b"" if b'"complete":false' in body else body

    body = wait_until(completed, TIMEOUT_SECONDS, "a complete response")
    assert body.strip()
    assert not re.search(rb'"data":\[\]|^{"requests":0\b|^retry: 2000\n\nid: \d+\n\n$', body), body


class Vulnerable(BaseHTTPRequestHandler):
    """A vulnerable server. Its SQL statement contains the parameter ``name`` unescaped, but not ``limit``."""

    def do_GET(self) -> None:
        asked = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
        with closing(sqlite3.connect(":memory:")) as database:
            database.execute("CREATE TABLE people (name TEXT, age INTEGER)")
            database.executemany("INSERT INTO people VALUES (?, ?)", [("ada", 36), ("alan", 41), ("grace", 85)])
            statement = f"SELECT age FROM people WHERE name = '{asked.get('name', '')}' LIMIT 5"
            try:
                received, status = json.dumps(database.execute(statement).fetchall()), 200
            except sqlite3.Error:
                received, status = "[]", 400
        self.send_response(status)
        self.send_header("Content-Length", str(len(received)))
        self.end_headers()
        self.wfile.write(received.encode())

    def log_message(self, *_: object) -> None:
        """Print nothing."""


def test_the_scanner_finds_an_injection_where_there_is_one(tmp_path: Path) -> None:
    with serving(Vulnerable) as vulnerable:
        result = scan(f"{vulnerable}/people?name=ada&limit=5", tmp_path, ("name", "limit"))
    assert result.injectable == {"name"}, result.output
    assert result.harmless == ["limit"], result.output
