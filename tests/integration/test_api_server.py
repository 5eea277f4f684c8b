"""The API as network clients see it, in uvicorn and on a real SQLite store."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.support.api_log import entry_of, open_of, record_of
from tests.support.server import wait_until
from tests.support.sqlite_dashboard import Dashboard

from relaybook.api import uvicorn_server
from relaybook.log.store.entry import Body
from relaybook.log.store.port import Batch


@pytest.fixture
def dashboard(tmp_path: Path) -> Iterator[Dashboard]:
    opened = Dashboard(tmp_path / "store")
    yield opened
    opened.close()


class LiveConnection:
    """A live connection that is read one event at a time."""

    def __init__(self, url: str, last_event_id: str | None = None) -> None:
        headers = {"Last-Event-ID": last_event_id} if last_event_id else {}
        self._client = httpx2.Client(timeout=10, trust_env=False)
        self._stream = self._client.stream("GET", url, headers=headers)
        self.response = self._stream.__enter__()
        assert self.response.status_code == 200
        self._lines = self.response.iter_lines()
        self.resume_at: str | None = None

    def block(self) -> dict[str, str]:
        """Return the next block of lines as fields by name. A comment has the empty name."""
        found: dict[str, str] = {}
        for line in self._lines:
            if not line and found:
                self.resume_at = found.get("id", self.resume_at)
                return found
            if line:
                name, _, value = line.partition(":")
                found[name] = value.strip()
        return {}

    def event(self) -> tuple[str, Any] | None:
        """Return the name and the data of the next event, or `None` at the end of the stream."""
        while found := self.block():
            if "data" in found:
                return found["event"], json.loads(found["data"])
        return None

    def close(self) -> None:
        self._stream.__exit__(None, None, None)
        self._client.close()


def test_pages_of_a_real_store_contain_all_230_records_in_both_directions(dashboard: Dashboard) -> None:
    dashboard.record(*range(1, 231))
    newest_first = [record_of(number).id for number in range(230, 0, -1)]
    client = dashboard.client
    pages = [client.get("/api/requests").json()]
    while pages[-1]["next_cursor"]:
        pages.append(client.get("/api/requests", params={"cursor": pages[-1]["next_cursor"]}).json())
    assert [row["id"] for page in pages for row in page["data"]] == newest_first
    last = next(page for page in reversed(pages) if page["data"])
    back = [row["id"] for row in last["data"]]
    while (last := client.get("/api/requests", params={"cursor": last["newer_cursor"]}).json())["data"]:
        back = [row["id"] for row in last["data"]] + back
    assert back == newest_first


HOSTILE = (
    "namespace=%27%3B%20DROP%20TABLE%20records%3B--",
    "property.%27%22%5D%24.x=1",
    "property.%25=%25",
    "not.property.%00=1",
    "namespace_prefix=%25%5F%5C",
    "from=-999999w&to=0001-01-01T00:00:00Z",
    "cursor=o999999999999999999",
    "cursor=n999999999999999999",
    "id=" + "x" * 5000,
    "&".join(f"property.p{number}=1" for number in range(200)),
)


def test_hostile_values_are_only_compared_by_a_real_store(dashboard: Dashboard) -> None:
    dashboard.record(1)
    statuses = {query: dashboard.client.get(f"/api/requests?{query}").status_code for query in HOSTILE}
    assert {query: status for query, status in statuses.items() if status not in (200, 400)} == {}
    assert dashboard.client.get("/api/requests").json()["data"][0]["id"] == record_of(1).id


def test_a_large_body_is_downloaded_completely(dashboard: Dashboard) -> None:
    entry = entry_of(record_of(1))
    data = bytes(range(256)) * 12_000
    entry.response = Body(rest=[data])
    dashboard.writer.commit(Batch(entries=[entry]))
    assert dashboard.client.get(f"/api/requests/{record_of(1).id}/response").content == data


def test_live_rows_arrive_when_they_are_recorded_and_when_they_change(dashboard: Dashboard) -> None:
    live = LiveConnection(f"{dashboard.url}/api/live?model=gpt-4o-mini")
    assert live.response.headers["content-type"].startswith("text/event-stream")
    live.block()
    dashboard.writer.commit(Batch(running=[open_of(1)]))
    assert (live.event() or ("", {}))[1]["outcome"] == "open"
    dashboard.writer.commit(Batch(running=[open_of(1, chunks=7)]))
    assert (live.event() or ("", {}))[1]["chunks"] == 7
    dashboard.writer.commit(Batch(entries=[entry_of(record_of(1))], running=[]))
    name, row = live.event() or ("", {})
    assert (name, row["outcome"], row["seq"]) == ("request", "complete", 1)
    live.close()


def test_interrupted_live_connections_resume_without_loss_while_rows_are_added(dashboard: Dashboard) -> None:
    total = 300
    dashboard.record(1)

    def add() -> None:
        for number in range(2, total + 1):
            dashboard.record(number)

    adding = threading.Thread(target=add)
    seen: list[int] = []
    point: str | None = "1"
    adding.start()
    while len(seen) < total - 1:
        live = LiveConnection(f"{dashboard.url}/api/live", point)
        for _ in range(min(23, total - 1 - len(seen))):
            name, row = live.event() or ("", {})
            assert name == "request"
            seen.append(row["seq"])
        point = live.resume_at
        live.close()
    adding.join()
    assert seen == list(range(2, total + 1))


def test_pings_keep_an_idle_connection_open(tmp_path: Path) -> None:
    dashboard = Dashboard(tmp_path / "store", ping_seconds=0.05)
    live = LiveConnection(f"{dashboard.url}/api/live")
    blocks = [live.block() for _ in range(4)]
    assert [block.get("") for block in blocks] == [None, None, "ping", "ping"]
    live.close()
    dashboard.close()


def test_the_server_stops_while_a_live_connection_is_open(dashboard: Dashboard) -> None:
    live = LiveConnection(f"{dashboard.url}/api/live")
    live.block()
    assert dashboard.stop()
    assert live.event() is None
    live.close()


def test_an_oversized_request_head_is_rejected(dashboard: Dashboard) -> None:
    head = b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 200_000
    # The response may be lost, because the connection is reset while the client is still sending.
    assert dashboard.raw(head)[:12] in (b"", b"HTTP/1.1 400")
    assert dashboard.client.get("/healthz").status_code == 200


@pytest.mark.parametrize(
    "head", [b"", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: "], ids=["nothing", "half a head"]
)
def test_a_connection_without_a_complete_head_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, head: bytes
) -> None:
    monkeypatch.setattr(uvicorn_server, "CHECK_SECONDS", 0.05)
    with closing(Dashboard(tmp_path / "store")) as dashboard:
        assert dashboard.raw(head) == b""


def test_the_connection_of_a_client_that_does_not_read_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uvicorn_server, "CHECK_SECONDS", 0.05)
    with closing(Dashboard(tmp_path / "store")) as dashboard:
        entry = entry_of(record_of(1))
        entry.response = Body(rest=[bytes(16 << 20)])
        dashboard.writer.commit(Batch(entries=[entry]))
        with socket.create_connection(("127.0.0.1", dashboard.port), timeout=10) as connection:
            target = f"/api/requests/{entry.record.id}/response"
            connection.sendall(f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            assert connection.recv(15) == b"HTTP/1.1 200 OK"
            wait_until(lambda: dashboard.connections == 0, 60)


def test_a_slow_response_does_not_close_the_connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uvicorn_server, "CHECK_SECONDS", 0.01)
    with closing(Dashboard(tmp_path / "store", ping_seconds=0.5)) as dashboard:
        live = LiveConnection(f"{dashboard.url}/api/live")
        assert [live.block().get("") for _ in range(3)] == [None, None, "ping"]
        live.close()


@pytest.mark.parametrize("host", [b"", b"Host: evil.example\r\n", b"Host: localhost\r\nHost: evil.example\r\n"])
def test_requests_without_host_with_a_foreign_host_or_with_two_hosts_are_rejected(
    dashboard: Dashboard, host: bytes
) -> None:
    response = dashboard.raw(b"GET /api/status HTTP/1.1\r\n" + host + b"Connection: close\r\n\r\n")
    assert response.split(b" ")[1] in (b"400", b"421")
    assert b"relay_base_url" not in response


@pytest.mark.parametrize(
    "target", [b"/../../etc/passwd", b"/%2e%2e/%2e%2e/etc/passwd", b"//etc/passwd", b"/api/../etc"]
)
def test_path_traversal_finds_no_file(dashboard: Dashboard, target: bytes) -> None:
    response = dashboard.raw(b"GET " + target + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    assert response.startswith(b"HTTP/1.1 404")


def test_a_base_url_of_the_dashboard_is_explained_to_an_sdk(dashboard: Dashboard) -> None:
    response = dashboard.client.post("/v1/chat/completions", json={"model": "m"})
    assert (response.status_code, "Set your base URL" in response.json()["error"]["message"]) == (404, True)


def test_responses_do_not_name_the_server_software(dashboard: Dashboard) -> None:
    assert "server" not in dashboard.client.get("/healthz").headers
