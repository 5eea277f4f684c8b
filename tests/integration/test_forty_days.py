"""A server whose clock moves through forty days keeps exactly the days that its settings say."""

import json
import time
import urllib.request
from collections import defaultdict
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import pytest
from tests.support.moved_clock import MovedClock
from tests.support.server import Server, SimulatedProvider, wait_until

from relaybook.clock import format_timestamp

DAY: Final = 86_400
DAYS: Final = 40
NAMESPACES: Final = ("production", "dev-anna", "audit")
SETTINGS: Final = """
keep_bodies_days = 10
keep_days = 30
[namespaces."dev-*"]
keep_bodies_days = 3
keep_days = 14
[namespaces."audit"]
keep_bodies_days = 0
keep_days = 0
"""
#: Days for which content and records are kept; a request of today is kept, too.
KEPT: Final = {"production": (10, 30), "dev-anna": (3, 14), "audit": (DAYS, DAYS)}


def send(server: Server, namespace: str) -> None:
    body = json.dumps({"model": "gpt-4o-mini", "messages": [{"role": "user", "content": f"in {namespace}"}]}).encode()
    headers = {"Content-Type": "application/json", "Authorization": "Bearer key", "Service-Namespace": namespace}
    sent = urllib.request.Request(f"{server.base_url}/chat/completions", body, headers)
    with urllib.request.urlopen(sent, timeout=30) as response:
        assert response.status == 200


def days_by_namespace(server: Server, today: int) -> dict[str, dict[int, str]]:
    """Return the ``body_state`` of the request of each day before today, by namespace."""
    found: dict[str, dict[int, str]] = defaultdict(dict)
    for record in server.records():
        day = datetime.fromisoformat(record["started_at"]).timestamp() // DAY
        found[record["namespace"]][today - int(day)] = record["body_state"]
    return found


def charts(server: Server, since: float) -> Any:
    """Return the aggregates of each day, by namespace."""
    from_ = format_timestamp(int(since * 1e6))
    answer = server.get(f"/api/stats?by=namespace&bucket=86400&from={from_}")
    return answer["groups"], answer["total"]


def test_days_are_removed_by_the_settings_and_charts_keep_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = tmp_path / "relaybook.toml"
    settings.write_text(SETTINGS)
    today = int(time.time()) // DAY
    noon = today * DAY + DAY // 2 - int(time.time())
    with SimulatedProvider() as provider:
        moved = MovedClock(tmp_path, monkeypatch)
        moved.set(noon - (DAYS - 1) * DAY)
        with Server(tmp_path, provider.url, "--config", str(settings)) as server:
            for before in reversed(range(DAYS)):
                moved.set(noon - before * DAY)
                for namespace in NAMESPACES:
                    send(server, namespace)
            wait_until(lambda: server.get("/api/status")["records"] == DAYS * len(NAMESPACES), what="recording")
            all_days = {namespace: dict.fromkeys(range(DAYS), "stored") for namespace in NAMESPACES}
            assert days_by_namespace(server, today) == all_days
            charted = charts(server, (today - DAYS) * DAY)

            kept = {
                name: {day: "stored" if day <= content else "expired" for day in range(DAYS) if day <= records}
                for name, (content, records) in KEPT.items()
            }

            def is_removed() -> bool:
                # The cutoffs change ten minutes after the recorder has first seen the new day, which may be only now.
                moved.advance(60)
                return days_by_namespace(server, today) == kept

            wait_until(is_removed, 60, "the removal of these days")
            assert charts(server, (today - DAYS) * DAY) == charted
            assert server.get("/api/status")["retention"]["last_removal"]["reason"] == "age"
            assert server.stop() == 0
