"""Run ``relaybook`` commands as processes, on a small log."""

import json
import os
import subprocess
import sys
from pathlib import Path

from relaybook.log.record import Detail, Record
from relaybook.log.store.entry import Body, Entry
from relaybook.log.store.port import Batch
from relaybook.log.store.sqlite.writer import SqliteWriter
from relaybook.server.data_directory import DataDirectory

STARTED_US = 1_795_269_747_000_000
REQUEST = {"model": "gpt-4o", "messages": [{"role": "user", "content": "Is it raining?"}]}
RESPONSE = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "It is."}, "finish_reason": "stop"}]}


def entry(number: int, namespace: str) -> Entry:
    record = Record(
        id=f"0199a3d2-0000-7000-8000-{number:012d}",
        started_at=STARTED_US + number,
        ended_at=STARTED_US + number + 5,
        outcome="complete",
        status=200,
        kind="chat",
        model="gpt-4o",
        namespace=namespace,
        duration_ms=float(number % 3),
        completion_id=f"chatcmpl-{number}",
    )
    bodies = [Body(rest=[json.dumps(body).encode()]) for body in (REQUEST, RESPONSE)]
    return Entry(record=record, detail=Detail(), request=bodies[0], response=bodies[1])


def three_requests(directory: Path) -> Path:
    """Write a log with three requests, and return its directory."""
    writer = SqliteWriter(DataDirectory(directory).store)
    writer.commit(Batch(entries=[entry(1, "ios"), entry(2, "web"), entry(3, "ios")]))
    writer.close()
    return directory


def environment(directory: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RELAYBOOK_")}
    return kept | {"HOME": str(directory), "PYTHONWARNINGS": "error", "TZ": "UTC"}


def relaybook(directory: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "relaybook.cli.main", *arguments],
        cwd=directory,
        env=environment(directory) | variables,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
