"""Fill a store with the big log, and index its text in a second process."""

import subprocess
import sys
import time
from pathlib import Path
from typing import Final

from benchmarks.big_log.entries import BigLog
from benchmarks.big_log.facts import Recipe
from relaybook import clock
from relaybook.log.store.port import Batch, Writer
from relaybook.log.store.sqlite.writer import SqliteWriter
from relaybook.system.process import collect_rarely

RECORDS: Final = 10_000_000
_BATCH: Final = 5_000
_TOLD_EVERY: Final = 20


def store_of(directory: Path) -> Path:
    """Return the store of a server named ``log`` in this directory (benchmarks/bench.py)."""
    return directory / "log" / "data" / "store"


def fill(directory: Path, recipe: Recipe) -> dict[str, float]:
    """Create the log and its text index. Prints progress and returns metrics."""
    store = store_of(directory)
    store.mkdir(parents=True, mode=0o700)
    writer = SqliteWriter(store)
    words = subprocess.Popen([sys.executable, "-m", "benchmarks.big_log.index", str(store), str(recipe.records)])
    figures = write(writer, recipe)
    recipe.keep(directory)
    since = time.perf_counter()
    if words.wait() != 0:
        raise RuntimeError(f"the words of {store} were not indexed: exit {words.returncode}, see above")
    return figures | {"words_behind_s": time.perf_counter() - since} | sizes(directory)


def write(writer: Writer, recipe: Recipe) -> dict[str, float]:
    """Write all records, and close the writer. Prints progress and returns metrics."""
    collect_rarely()
    log = BigLog(recipe)
    started, cpu_s, making = time.perf_counter(), time.process_time(), 0.0
    for number, first in enumerate(range(0, recipe.records, _BATCH), 1):
        since = time.perf_counter()
        entries = log.entries(first, min(_BATCH, recipe.records - first))
        making += time.perf_counter() - since
        writer.commit(Batch(entries=entries))
        if number % _TOLD_EVERY == 0 or first + _BATCH >= recipe.records:
            done, seconds = first + len(entries), time.perf_counter() - started
            print(f"{done:,} records, {done / seconds:,.0f}/s, of it {making / seconds:.0%} making them", flush=True)
    writer.close()
    seconds = time.perf_counter() - started
    return {
        "records_per_second": recipe.records / seconds,
        "making_s": making,
        "all_s": seconds,
        "cpu_s": time.process_time() - cpu_s,
    }


def tidy(directory: Path) -> None:
    """Run the recorder's idle-time maintenance, which would otherwise run between the queries."""
    writer = SqliteWriter(store_of(directory))
    while writer.run_maintenance(clock.monotonic_ns() + clock.NANOSECONDS):
        pass
    writer.close()


def sizes(directory: Path) -> dict[str, float]:
    """Return the bytes of the database, of the bodies and of the text index."""
    store = store_of(directory)
    bodies = sum(path.stat().st_size for path in (store / "bodies").iterdir())
    return {
        "database_bytes": sum(path.stat().st_size for path in store.glob("relaybook.sqlite*")),
        "body_bytes": bodies,
        "words_bytes": sum(path.stat().st_size for path in store.glob("text.sqlite*")),
    }
