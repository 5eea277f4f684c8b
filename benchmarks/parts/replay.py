"""This part measures how exactly ``relaybook replay`` keeps the logged pauses, and how long its start takes.

*Late* is the time at which a chunk arrived at the client minus the time at which it arrived at the relay, both since
the request. *CPU* is the time of the replaying process and of the server. *Memory* is that of the replaying process.
"""

import json
import socket
import statistics
import subprocess
import time
from typing import Any, Final

from tests.support.records import traffic
from tests.support.server import SimulatorProcess

from benchmarks.bench import Bench, Relaybook
from benchmarks.process_cpu import cpu_seconds, resident_kib
from benchmarks.results.figures import Result, percentile
from relaybook.log.store.port import Batch
from relaybook.log.store.sqlite.writer import SqliteWriter

_RECORDS: Final = 100_000
_BATCH: Final = 1_000
_STREAMS: Final = 20
_CHUNKS: Final = 100
_LATE_MS: Final = 5
METHOD = (
    f"A SQLite store with {_RECORDS:,} requests (request 390 bytes, response about 700). The start ends when the "
    "command prints its base URL; the log is read from a running server, or from the data directory. For the pauses, "
    f"{_STREAMS} streams with {_CHUNKS} chunks, 20 ms apart, are logged through the relay, and replayed one after the "
    "other over a raw socket, which takes the time of each read."
)


class _Replay:
    """A running ``relaybook replay``."""

    def __init__(self, bench: Bench, *flags: str) -> None:
        command = [bench.python, "-m", "relaybook.cli.main", "replay", "--listen", "127.0.0.1:0", *flags]
        started = time.perf_counter()
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        line = next(line for line in self._process.stdout if line.startswith("Replaying on"))
        self.start_s = time.perf_counter() - started
        self.port = int(line.split("/v1")[0].rpartition(":")[2])
        self.memory_mib = resident_kib(self._process.pid) / 1024
        self.cpu_s = cpu_seconds(self._process.pid)

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(10)


def run(bench: Bench) -> Result:
    """Measure the start with a large log, then the pauses of streams."""
    result = Result("replay", METHOD)
    records = 10_000 if bench.quick else _RECORDS
    with Relaybook(bench, "server", "http://127.0.0.1:9/v1", "--drain-timeout", "1") as empty:
        data = empty.data
    writer, make = SqliteWriter(data / "store"), traffic(1)
    for _ in range(records // _BATCH):
        writer.commit(Batch(entries=[make() for _ in range(_BATCH)]))
    writer.close()
    with SimulatorProcess(bench.directory) as provider, Relaybook(bench, "server", provider.url) as server:
        for source, flags in (("server", ("--dashboard-url", server.dashboard)), ("directory", ("--data", str(data)))):
            dashboard = server.pid_of("dashboard")
            before_s = cpu_seconds(dashboard)
            replay = _Replay(bench, *flags)
            cpu_s = replay.cpu_s + cpu_seconds(dashboard) - before_s
            found = {"start_s": replay.start_s, "cpu_s": cpu_s, "memory_mib": replay.memory_mib}
            result.rounds.append({"what": "start", "source": source, "records": records} | found)
            what = f"{records:,} requests from the {source}"
            result.add(f"{what}: start", replay.start_s, "s")
            result.add(f"{what}: CPU", cpu_s, "s")
            result.add(f"{what}: memory", replay.memory_mib, "MiB")
            replay.stop()
        late = _late_ms(bench, server)
        result.rounds.append({"what": "late", "late_ms": late})
        result.add("late, median", statistics.median(map(abs, late)), "ms", _LATE_MS)
        result.add("late, 99th percentile", percentile(late, 99), "ms")
    return result


def _late_ms(bench: Bench, server: Relaybook) -> list[float]:
    """Log some streams, replay them, and return how late each chunk arrived."""
    streams = 3 if bench.quick else _STREAMS
    for number in range(streams):
        _arrivals(server.port, number)
    found: list[dict[str, Any]] = []
    while len(found) < streams:
        time.sleep(0.2)
        found = server.get("/api/requests?namespace=streams")["data"]
    replay = _Replay(bench, "--dashboard-url", server.dashboard, "namespace=streams")
    late = []
    for number, row in enumerate(reversed(found)):
        logged = server.get(f"/api/requests/{row['id']}")["timeline"]
        arrived = _arrivals(replay.port, number)
        end = 0
        for at_ms, size in logged:
            end += size
            late.append(next(ms for ms, total in arrived if total >= end) - at_ms)
    replay.stop()
    return late


def _arrivals(port: int, number: int) -> list[tuple[float, int]]:
    """Request a stream. Return the milliseconds until each read, and the number of body bytes until then."""
    body = json.dumps({"model": "m", "stream": True, "messages": [{"role": "user", "content": f"{number}"}]})
    text = "word%20" * _CHUNKS
    lines = ["POST /v1/chat/completions HTTP/1.0", "Service-Namespace: streams", f"Content-Length: {len(body)}"]
    lines += ["Content-Type: application/json", "Sim-Event-Interval-Ms: 20", f"Sim-Text: {text}"]
    arrived, total, head = [], 0, b""
    with socket.create_connection(("127.0.0.1", port), 30) as connection:
        connection.sendall("\r\n".join([*lines, "", body]).encode())
        started = time.perf_counter()
        while data := connection.recv(1 << 16):
            at_ms = (time.perf_counter() - started) * 1000
            if not total and b"\r\n\r\n" not in head:
                head += data
                data = head.partition(b"\r\n\r\n")[2]
            total += len(data)
            arrived.append((at_ms, total))
    return arrived
