"""One server with several routes: each has its own base URL, upstream, tags and limits, and all share one log."""

import http.client
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.support.named_upstream import NamedUpstream
from tests.support.server import Server, wait_until

BODY = b'{"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Hello"}]}'
HEADERS = {"Authorization": "Bearer sk-test", "Content-Type": "application/json"}


def post(server: Server, path: str, **headers: str) -> tuple[int, dict[str, str], dict[str, str]]:
    """Return the status, the headers and the JSON of a response."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    connection.request("POST", path, BODY, HEADERS | {name.replace("_", "-"): value for name, value in headers.items()})
    response = connection.getresponse()
    found = response.status, dict(response.getheaders()), json.loads(response.read())
    connection.close()
    return found


def server_with(directory: Path, upstream: str, toml: str) -> Server:
    settings = directory / "relaybook.toml"
    settings.write_text(toml)
    return Server(directory, upstream, "--config", str(settings))


@pytest.fixture(scope="module")
def upstreams() -> Iterator[dict[str, NamedUpstream]]:
    with ExitStack() as stack:
        yield {name: stack.enter_context(NamedUpstream(name)) for name in ("first", "claude", "own")}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, upstreams: dict[str, NamedUpstream]) -> Iterator[Server]:
    toml = f"""
    [routes.anthropic]
    upstream = "{upstreams["claude"].root}"
    namespace = "agents"
    properties = {{ tool = "claude" }}
    [routes.own]
    upstream = "{upstreams["own"].root}/api/v1"
    log = "no-bodies"
    [namespaces.audit]
    log = "full"
    """
    with server_with(tmp_path_factory.mktemp("routes"), f"{upstreams['first'].root}/v1", toml) as started:
        yield started


@pytest.mark.parametrize(
    ("path", "name", "arrives_at", "route"),
    [
        ("/v1/chat/completions", "first", "/v1/chat/completions", "default"),
        ("/anthropic/v1/messages?beta=true", "claude", "/v1/messages?beta=true", "anthropic"),
        ("/own/v1/chat/completions", "own", "/api/v1/chat/completions", "own"),
        ("/ns/ios/own/v1/chat/completions", "own", "/api/v1/chat/completions", "own"),
    ],
)
def test_a_request_reaches_the_upstream_of_its_route(
    server: Server, path: str, name: str, arrives_at: str, route: str
) -> None:
    status, headers, body = post(server, path)
    assert (status, headers["Service-Route"]) == (200, route)
    assert body == {"name": name, "path": arrives_at}
    record = server.record(headers["Service-Request-Id"])
    assert (record["route"], record["path"]) == (route, path.partition("?")[0].removeprefix("/ns/ios"))


def test_tags_of_a_route_apply_unless_the_request_has_others(server: Server) -> None:
    _, plain, _ = post(server, "/anthropic/v1/messages")
    _, tagged, _ = post(server, "/anthropic/v1/messages", Service_Namespace="mine", Service_Property_Tool="other")
    _, in_path, _ = post(server, "/ns/team%2F7/anthropic/v1/messages")
    _, both, _ = post(server, "/ns/path/anthropic/v1/messages", Service_Namespace="header")
    found = [server.record(each["Service-Request-Id"]) for each in (plain, tagged, in_path, both)]
    assert [(each["namespace"], each["properties"]) for each in found] == [
        ("agents", {"tool": "claude"}),
        ("mine", {"tool": "other"}),
        ("team/7", {"tool": "claude"}),
        ("header", {"tool": "claude"}),
    ]


def test_a_namespace_cannot_turn_on_bodies_on_a_route_without_bodies(server: Server) -> None:
    states = []
    for path in ("/own/v1/chat/completions", "/anthropic/v1/messages"):
        _, headers, _ = post(server, path, Service_Namespace="audit")
        states.append(server.record(headers["Service-Request-Id"])["body_state"])
    assert states == ["no_bodies", "stored"]


def test_the_log_the_status_and_the_metrics_tell_routes_apart(server: Server) -> None:
    post(server, "/own/v1/chat/completions")
    rows = wait_until(lambda: server.records("route=own"))
    assert {row["route"] for row in rows} == {"own"}
    assert not any(row["route"] == "own" for row in server.records("not.route=own"))
    routes = {each["name"]: each for each in server.get("/api/status")["routes"]}
    assert list(routes) == ["default", "anthropic", "own"]
    assert routes["default"]["base_url"] == server.base_url
    assert routes["anthropic"]["base_url"] == f"{server.base_url.removesuffix('/v1')}/anthropic"
    assert (routes["anthropic"]["preset"], routes["anthropic"]["variable"]) == ("anthropic", "ANTHROPIC_BASE_URL")
    metric = 'relaybook_requests_total{outcome="complete",route="own"}'
    wait_until(
        lambda: [line for line in server.metrics().splitlines() if line.startswith(metric) and line[-4:] != " 0.0"]
    )


def test_an_upstream_that_hangs_takes_no_request_of_another_route(tmp_path: Path) -> None:
    with NamedUpstream("good") as good, NamedUpstream("hangs", holds=60) as hanging:
        toml = f"""
        [routes.hangs]
        upstream = "{hanging.root}/v1"
        max_in_flight = 3
        [routes.refuses]
        upstream = "http://127.0.0.1:1/v1"
        """
        with server_with(tmp_path, f"{good.root}/v1", toml) as server:
            waiting = [threading.Thread(target=post, args=(server, "/hangs/v1/chat/completions")) for _ in range(3)]
            for each in waiting:
                each.start()
            wait_until(lambda: len(hanging.paths) == 3)
            status, headers, _ = post(server, "/hangs/v1/chat/completions")
            assert (status, headers["Service-Error"]) == (503, "overloaded")
            for _ in range(20):
                assert post(server, "/v1/chat/completions")[0] == 200
            status, headers, refused = post(server, "/refuses/v1/chat/completions")
            assert (status, headers["Service-Error"]) == (502, "upstream_unreachable")
            assert "check the upstream of routes.refuses" in refused["error"]["message"]  # type: ignore[index]
            hanging.released.set()
            for each in waiting:
                each.join(30)
            assert post(server, "/hangs/v1/chat/completions")[0] == 200


class _Client(threading.Thread):
    """Send requests to one path over kept connections until stopped, and collect everything but 200."""

    def __init__(self, server: Server, path: str) -> None:
        super().__init__(daemon=True)
        self.done = 0
        self.failures: list[str] = []
        self._server = server
        self._path = path
        self._stopped = threading.Event()

    def run(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self._server.port, timeout=30)
        while not self._stopped.is_set():
            try:
                connection.request("POST", self._path, BODY, HEADERS)
                response = connection.getresponse()
                response.read()
            except (OSError, http.client.HTTPException) as error:
                self.failures.append(repr(error))
                connection.close()
                continue
            self.done += 1
            if response.status != 200:
                self.failures.append(str(response.status))
        connection.close()

    def stop(self) -> None:
        self._stopped.set()
        self.join(30)


def test_a_reload_adds_changes_and_removes_routes_without_a_failed_request(tmp_path: Path) -> None:
    with NamedUpstream("one") as one, NamedUpstream("two") as two:
        before = f'[routes.old]\nupstream = "{one.root}/v1"\n[routes.moved]\nupstream = "{one.root}/v1"'
        after = f'[routes.new]\nupstream = "{two.root}/v1"\n[routes.moved]\nupstream = "{two.root}/v1"'
        with server_with(tmp_path, f"{one.root}/v1", before) as server:
            assert post(server, "/new/v1/chat/completions")[0] == 404
            clients = [_Client(server, f"/{mount}/chat/completions") for mount in ("v1", "moved/v1")]
            for client in clients:
                client.start()
            (tmp_path / "relaybook.toml").write_text(after)
            command = [sys.executable, "-m", "relaybook.cli.main", "reload", "--data", str(server.data)]
            assert subprocess.run(command, check=False, timeout=120).returncode == 0
            assert post(server, "/new/v1/chat/completions")[2]["name"] == "two"
            assert post(server, "/moved/v1/chat/completions")[2]["name"] == "two"
            assert post(server, "/old/v1/chat/completions")[0] == 404
            counts = [client.done for client in clients]
            wait_until(lambda: all(each.done > count + 20 for each, count in zip(clients, counts, strict=True)))
            for client in clients:
                client.stop()
            assert [client.failures for client in clients] == [[], []]
