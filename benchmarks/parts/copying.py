"""This part measures how a backup and an import affect the requests of a running server.

The recorder adds imported requests in short calls. *Late* is the elapsed time of one such call, during which nothing is
recorded.
"""

import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from subprocess import DEVNULL
from typing import Final

import uvloop
from tests.support.records import traffic

from benchmarks.bench import Bench, Relaybook
from benchmarks.process_cpu import cpu_seconds
from benchmarks.results.figures import Result, percentile
from benchmarks.traffic.caller import PacedClient
from benchmarks.traffic.messages import FIVE
from benchmarks.traffic.nginx import start_provider
from relaybook import clock
from relaybook.log.export.export import EndLine
from relaybook.log.export.restore import read_line
from relaybook.log.store.port import Batch
from relaybook.log.store.sqlite.reader import SqliteReader
from relaybook.log.store.sqlite.writer import SqliteWriter
from relaybook.recorder.passes.imports import ImportPass, ImportSender
from relaybook.recorder.passes.text import TextPass
from relaybook.system.process import collect_rarely

METHOD = (
    "A SQLite store with 100,000 requests (request 390 bytes, response about 700). A client sends 1,000 requests per "
    "second for 10 s: alone, while `relaybook backup` copies the log to a new directory again and again, and while "
    "`relaybook import` adds requests of another log, three times by turns. CPU per request is user plus system time "
    "of the relay. Client, upstream (nginx), commands and server share the cores. *late*: the longest of all calls "
    "that add 10,000 requests to an empty store, each of which is asked to take 7.5 ms and one more batch."
)
_RECORDS: Final = 100_000
_IMPORTED: Final = 200_000
_PER_SECOND: Final = 1_000.0
_MOST_PERCENT, _LATE_GOAL_MS = 10, 50
#: The size of a batch of an import, and the time limit of one call (see ``relaybook.recorder.passes.schedule``).
_BATCH, _SLICE_NS = 200, 7_500_000
_CASES: Final = ("alone", "backup", "import")


def run(bench: Bench) -> Result:
    """Measure the three cases by turns."""
    result = Result("copying", METHOD)
    records, imported = (5_000, 5_000) if bench.quick else (_RECORDS, _IMPORTED)
    data = bench.place("relay") / "data"
    _fill(data, records, 1)
    rounds = bench.rounds(3)
    files = [_export(bench, imported // rounds, seed) for seed in range(2, 2 + rounds)]
    with (
        start_provider(bench.place("provider"), FIVE) as provider,
        Relaybook(bench, "relay", f"http://127.0.0.1:{provider.port}/v1") as relay,
    ):
        time.sleep(bench.seconds(20))  # the words of the log are indexed first
        for number in range(rounds):
            for case in _CASES:
                result.rounds.append({"case": case} | _measure(bench, relay, case, files[number]))
    for case in _CASES:
        result.add(f"{case}: CPU of the relay", result.median("relay_us", case=case), "µs/request")
        result.add(f"{case}: duration, p50", result.median("p50_us", case=case), "µs")
        result.add(f"{case}: duration, p99", result.median("p99_us", case=case), "µs")
    more = result.median("relay_us", case="backup") / result.median("relay_us", case="alone") * 100 - 100
    result.add("more CPU of the relay during a backup", more, "%", _MOST_PERCENT)
    result.add("backup: copies in 10 s", result.median("copied", case="backup"), "")
    result.add("import: requests added in 10 s", result.median("copied", case="import"), "")
    result.add("import: late, longest", _longest_call_ms(bench, files[0]), "ms", _LATE_GOAL_MS)
    return result


def _fill(data: Path, records: int, seed: int) -> None:
    writer, make = SqliteWriter(data / "store"), traffic(seed)
    for _ in range(records // 1_000):
        writer.commit(Batch(entries=[make() for _ in range(1_000)]))
    writer.close()


def _export(bench: Bench, records: int, seed: int) -> Path:
    """Return the exported file of another log."""
    data, file = bench.directory / f"other-{seed}", bench.directory / f"other-{seed}.jsonl"
    _fill(data, records, seed)
    subprocess.run(
        [*_command(bench, "export"), "--data", data, "--bodies", "-o", file], check=True, capture_output=True
    )
    return file


def _command(bench: Bench, name: str) -> list[str]:
    return [bench.python, "-m", "relaybook.cli.main", name]


def _measure(bench: Bench, relay: Relaybook, case: str, file: Path) -> dict[str, float]:
    worker, before = relay.pid_of("relay"), _requests(relay)
    cpu_before = cpu_seconds(worker)
    client = PacedClient(relay.port)
    with _copying(bench, relay, case, file) as copies:
        durations = uvloop.run(client.run(_PER_SECOND, bench.seconds(10)))
        relay_us = (cpu_seconds(worker) - cpu_before) / len(durations) * 1e6
        copied = copies()
    if case == "import":
        copied = _requests(relay) - before - len(durations)
    return {
        "relay_us": relay_us,
        "p50_us": percentile(durations, 50),
        "p99_us": percentile(durations, 99),
        "copied": float(copied),
    }


def _requests(relay: Relaybook) -> int:
    return int(relay.get("/api/count")["requests"])


@contextmanager
def _copying(bench: Bench, relay: Relaybook, case: str, file: Path) -> Iterator[Callable[[], int]]:
    """Run backups or an import during the ``with`` block. Yields a function that returns the number of copies."""
    copies, over = 0, threading.Event()

    def copy() -> None:
        nonlocal copies
        while not over.is_set():
            target = bench.directory / "copy" if case == "backup" else file
            arguments = [str(target), "--data", str(relay.data)]
            with subprocess.Popen([*_command(bench, case), *arguments], stderr=DEVNULL, stdout=DEVNULL) as running:
                while running.poll() is None and not over.wait(0.05):
                    pass
                running.terminate()
            copies += running.returncode == 0
            shutil.rmtree(bench.directory / "copy", ignore_errors=True)

    thread = threading.Thread(target=copy)
    if case != "alone":
        thread.start()
    yield lambda: copies
    over.set()
    if case != "alone":
        thread.join()


def _longest_call_ms(bench: Bench, file: Path) -> float:
    """Return the elapsed time of the longest call that adds batches of a file to an empty store."""
    place = bench.place("late")
    writer, reader = SqliteWriter(place / "store"), SqliteReader(place / "store")
    queue = ImportPass(place / "imports", writer, reader, TextPass(reader, None), 0)
    sender = ImportSender.open(place / "imports")
    assert sender is not None
    with file.open("rb") as lines:
        entries = [found for line in islice(lines, 10_000) if not isinstance(found := read_line(line), EndLine)]
    for start in range(0, len(entries), _BATCH):
        sender.send(entries[start : start + _BATCH])
    del entries
    collect_rarely()  # as in the recorder's process
    calls = []
    while True:
        began_ns = clock.monotonic_ns()
        if not queue.work(began_ns + _SLICE_NS):
            break
        calls.append((clock.monotonic_ns() - began_ns) / 1e6)
    sender.close()
    reader.close()
    writer.close()
    return max(calls)
