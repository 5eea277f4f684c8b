"""Measure the cost of the SQLite store's commits by step, then the cost of reads.

The entries come from `tests.support.records.traffic` (a request of about 470 bytes, a response of 790 bytes, 6 and 8
headers, one property, two foreign ids). Entries are created first, then committed in batches of 1,000. Only the commits
are timed, by wall clock, including checkpoints of the write-ahead log. Each read is the best of five on the same
machine, with the database in the page cache. Run `python -m benchmarks.store_writing --records 300000`, and run no
other program at the same time.
"""

import argparse
import json
import platform
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
from tests.support.records import soon, traffic

from relaybook.log.query.filters import Cursor, Filter, Term
from relaybook.log.store.files import DATABASE
from relaybook.log.store.port import Batch, Durability
from relaybook.log.store.sqlite.reader import SqliteReader
from relaybook.log.store.sqlite.writer import SqliteWriter

_BATCH = 1000


class Split:
    """Adds up the time between the steps that a commit reports."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._last = 0.0

    def begin(self) -> None:
        self._last = time.perf_counter()

    def step(self, name: str) -> None:
        now = time.perf_counter()
        self.seconds[name] += now - self._last
        self._last = now


def write(directory: Path, records: int, durability: Durability) -> dict[str, Any]:
    """Commit the records. Returns metrics in microseconds per record."""
    make = traffic(seed=1)
    split = Split()
    writer = SqliteWriter(directory, durability=durability)
    writer._entries._on_phase = split.step
    times = []
    cpu = 0.0
    for _ in range(records // _BATCH):
        batch = Batch(entries=[make() for _ in range(_BATCH)])
        began, cpu_began = time.perf_counter(), time.process_time()
        split.begin()
        writer.commit(batch)
        split.step("transaction")
        times.append(time.perf_counter() - began)
        cpu += time.process_time() - cpu_began
    writer.close()
    total = sum(times)
    split_us = {name: round(seconds / records * 1e6, 2) for name, seconds in split.seconds.items()}
    split_us["sqlite, all of it"] = round(sum(v for name, v in split_us.items() if name not in ("zstd", "pack")), 2)
    return {
        "entries_per_second": round(records / total),
        "us_per_record": round(total / records * 1e6, 2),
        "cpu_us_per_record": round(cpu / records * 1e6, 2),
        "us_per_record_median_batch": round(statistics.median(times) / _BATCH * 1e6, 2),
        "slowest_batch_ms": round(max(times) * 1e3, 1),
        "split_us_per_record": split_us,
        "database_bytes_per_record": round((directory / DATABASE).stat().st_size / records),
        "pack_bytes_per_record": round(sum(p.stat().st_size for p in (directory / "bodies").iterdir()) / records),
    }


def read(directory: Path, records: int) -> dict[str, float]:
    """Return the durations of the dashboard's queries in milliseconds."""
    reader = SqliteReader(directory)
    newest = reader.page(Filter(), 1, None, soon()).records[0]
    middle = newest.started_at - 30_000_000

    def page(*terms: Term, cursor: Cursor | None = None) -> Callable[[], object]:
        return lambda: reader.page(Filter(terms), 50, cursor, soon())

    questions: dict[str, Callable[[], object]] = {
        "newest page": page(),
        "page at half depth": page(cursor=Cursor("older", records // 2)),
        "newer page at half depth": page(cursor=Cursor("newer", records // 2)),
        "namespace, common": page(Term("namespace", ("production",))),
        "namespace, rare": page(Term("namespace", ("user-42",))),
        "namespaces, ten rare ones": page(Term("namespace", tuple(f"user-{n}" for n in range(10)))),
        "namespace that does not occur": page(Term("namespace", ("nobody",))),
        "namespace prefix": page(Term("namespace", (), prefixes=("user-42",))),
        "namespace and property": page(Term("namespace", ("staging",)), Term("property.channel", ("ios",))),
        "property": page(Term("property.channel", ("ios",))),
        "model and failed": page(Term("model", ("gpt-5",)), Term("failed", ("true",))),
        "status 4xx": page(Term("status", ("4xx",))),
        "not one model, not another": page(Term("model", ("gpt-5", "gpt-4o"), negated=True)),
        "span of time in the past": page(Term("from", (str(middle),)), Term("to", (str(middle + 1_000_000),))),
        "rare and not indexed (nothing found)": page(Term("kind", ("embedding",))),
        "around a record": lambda: reader.around(newest.id, Filter(), 50, soon()),
        "one record with its detail": lambda: reader.get(newest.id),
        "one body": lambda: list(reader.body(newest.id, "response") or ()),
        "by a foreign id": lambda: reader.find(str(newest.completion_id), 10),
        "namespaces by last": lambda: reader.namespaces("", "last_at", 50, None, None, soon()),
        "values of model": lambda: reader.values("model", "", 50, soon()),
        "last seq": reader.last_seq,
        "status": reader.status,
    }
    figures = {name: _best_ms(ask) for name, ask in questions.items()}
    reader.close()
    return figures


def _best_ms(ask: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(5):
        began = time.perf_counter()
        ask()
        best = min(best, time.perf_counter() - began)
    return round(best * 1e3, 3)


def main() -> None:
    """Print one JSON document."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=300_000)
    parser.add_argument("--durability", choices=("process", "power"), default="process")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        figures = {
            "machine": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
            "sqlite": apsw.sqlite_lib_version(),
            "records": asked.records,
            "durability": asked.durability,
            "writing": write(Path(name), asked.records, asked.durability),
            "reading_ms": read(Path(name), asked.records),
        }
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
