"""This part measures the speed and the memory use of exports, by file format.

A CPU second is a second of CPU time of the exporting process. Memory is the growth of the peak memory during the
export. In rows with *served*, a running server writes the export, and the rate is per second of elapsed time.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

from tests.support.process_usage import peak_memory
from tests.support.records import traffic

from benchmarks.bench import Bench, Relaybook
from benchmarks.process_cpu import cpu_seconds, resident_kib
from benchmarks.results.figures import Result
from relaybook import clock
from relaybook.log.export.export import Export, ExportQuery, file_format_of
from relaybook.log.query.filters import Filter
from relaybook.log.store.port import Batch
from relaybook.log.store.sqlite.reader import SqliteReader
from relaybook.log.store.sqlite.writer import SqliteWriter
from relaybook.system.process import collect_rarely

_RECORDS: Final = 200_000
_BATCH: Final = 1_000
_WITHOUT_BODIES, _WITH_BODIES = 30_000, 8_000
_MEMORY_MIB: Final = 64
#: Format, whether with bodies, and the goal in requests per CPU second.
_FORMATS: Final = (
    ("jsonl", False, _WITHOUT_BODIES),
    ("jsonl", True, _WITH_BODIES),
    ("csv", False, _WITHOUT_BODIES),
    ("chat", True, _WITH_BODIES),
    ("parquet", False, _WITHOUT_BODIES),
    ("parquet", True, _WITH_BODIES),
)
METHOD = (
    f"A SQLite store with {_RECORDS:,} requests (request 390 bytes, response about 700, 8 response headers). Each "
    "format is exported in a process of its own, which discards the chunks. CPU is user plus system time of the "
    "process. Memory is the growth of the peak RSS over the RSS before the export, after one read of the store and "
    "after pyarrow was imported; it is also measured for a tenth of the requests. *served*: `relaybook export` writes "
    "a file from a running server; the rate is that of elapsed time and includes the start of the command. The server "
    "and the command share the cores."
)


def run(bench: Bench) -> Result:
    """Measure each format in a separate process, then the command with a server."""
    result = Result("export", METHOD)
    records = 10_000 if bench.quick else _RECORDS
    with Relaybook(bench, "server", "http://127.0.0.1:9/v1", "--drain-timeout", "1") as empty:
        store = empty.data / "store"
    _fill(store, records)
    for name, bodies, goal in _FORMATS:
        for through in (records // 10, records):
            command = [
                sys.executable,
                "-m",
                "benchmarks.parts.export",
                str(store),
                name,
                str(int(bodies)),
                str(through),
            ]
            done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
            result.rounds.append({"format": name, "bodies": bodies} | json.loads(done.stdout))
        small, found = result.rounds[-2:]
        what = f"{name}{' with bodies' if bodies and name != 'chat' else ''}"
        result.add(f"{what}: requests per CPU second", found["records"] / found["cpu_s"], "", goal, at_least=True)
        result.add(f"{what}: memory", found["grown_mib"], "MiB", _MEMORY_MIB)
        result.add(f"{what}: memory, a tenth of the requests", small["grown_mib"], "MiB")
    with Relaybook(bench, "server", "http://127.0.0.1:9/v1", "--drain-timeout", "1") as server:
        for bodies, goal in ((False, _WITHOUT_BODIES), (True, _WITH_BODIES)):
            found = _served(bench, server, records, bodies=bodies)
            result.rounds.append({"what": "served", "bodies": bodies} | found)
            what = f"served, jsonl{' with bodies' if bodies else ''}"
            result.add(f"{what}: requests per second", records / found["wall_s"], "", goal, at_least=True)
            result.add(f"{what}: CPU of the server", found["server_cpu_s"] / records * 1e6, "µs/request")
            result.add(f"{what}: memory of the server", found["server_grown_mib"], "MiB", _MEMORY_MIB)
    return result


def _fill(store: Path, records: int) -> None:
    writer, make = SqliteWriter(store), traffic(1)
    for _ in range(records // _BATCH):
        writer.commit(Batch(entries=[make() for _ in range(_BATCH)]))
    writer.close()


def _served(bench: Bench, server: Relaybook, records: int, *, bodies: bool) -> dict[str, Any]:
    dashboard = server.pid_of("dashboard")
    server.get("/api/requests?limit=500")
    before_kib, before_s = resident_kib(dashboard), cpu_seconds(dashboard)
    output = bench.directory / "served.jsonl"
    command = [bench.python, "-m", "relaybook.cli.main", "export", "--dashboard-url", server.dashboard]
    started_ns = clock.monotonic_ns()
    subprocess.run([*command, "-o", str(output), *(["--bodies"] if bodies else [])], check=True, stderr=subprocess.PIPE)
    wall_s = (clock.monotonic_ns() - started_ns) / clock.NANOSECONDS
    with output.open("rb") as file:
        assert sum(1 for _ in file) == records + 1
    return {
        "wall_s": wall_s,
        "server_cpu_s": cpu_seconds(dashboard) - before_s,
        "server_grown_mib": peak_memory(dashboard) / 2**20 - before_kib / 1024,
        "file_mib": output.stat().st_size / 2**20,
    }


def _measure_here(store: Path, name: str, bodies: bool, through: int) -> dict[str, Any]:
    """Export in this process, and discard the exported bytes."""
    collect_rarely()
    reader, file_format = SqliteReader(store), file_format_of(name)
    reader.since(0, Filter(), 500)
    file_format.open_encoder(reader, bodies)
    before_kib, used = resident_kib(os.getpid()), time.process_time()
    query = ExportQuery(file_format=file_format, filter_=Filter(), bodies=bodies and file_format.bodies is None)
    reader.last_seq = lambda: through  # type: ignore[method-assign] # the export ends with this request
    size = sum(map(len, Export(reader, query).chunks()))
    return {
        "records": through,
        "cpu_s": time.process_time() - used,
        "grown_mib": peak_memory(os.getpid()) / 2**20 - before_kib / 1024,
        "file_mib": size / 2**20,
    }


if __name__ == "__main__":
    place, format_name, has_bodies, last = sys.argv[1:]
    print(json.dumps(_measure_here(Path(place), format_name, has_bodies == "1", int(last))))
