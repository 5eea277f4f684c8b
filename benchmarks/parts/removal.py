"""This part measures how fast requests are removed, and how long recording waits.

A CPU second is a second of CPU time that the store spends on removal, including erasing. Requests are removed in short
calls. *Late* is the elapsed time of one call, during which nothing is recorded.
"""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final
from unittest.mock import patch

from tests.support.records import traffic

from benchmarks.bench import Bench
from benchmarks.results.figures import Result, percentile
from relaybook import clock
from relaybook.log.query.filters import Filter, Term
from relaybook.log.query.words import SearchText
from relaybook.log.retention import DAY_US, Cutoff, Cutoffs
from relaybook.log.store.port import Batch
from relaybook.log.store.sqlite.index.text_index import SqliteTextIndex
from relaybook.log.store.sqlite.reader import SqliteReader
from relaybook.log.store.sqlite.removal.deletions import SqliteDeletions
from relaybook.log.store.sqlite.writer import SqliteWriter

_RECORDS: Final = 100_000
_BATCH: Final = 1_000
_DAYS: Final = 20
#: Size of the batches that are recorded while requests are removed, which corresponds to 2,000 requests per second
#: every 0.2 s.
RECORDED: Final = 400
_RANGE_GOAL, _SINGLE_GOAL, _LATE_GOAL_MS = 20_000, 2_000, 50
#: How long the recorder removes requests between two commits.
_SLICE_NS: Final = 15_000_000
METHOD = (
    f"A SQLite store with {_RECORDS:,} requests of {_DAYS} days (request 390 bytes, response about 700), whose words "
    f"are indexed. Between two calls of the store for removal, {RECORDED} requests are recorded, as many as "
    "arrive in 0.2 s at 2,000 per second. *late* is the elapsed time of one call, which ends with the first step that "
    "ends after 15 ms. During a call, nothing is recorded. The rates are per second of CPU time (user and system) "
    "of these calls, which includes erasing."
)


def run(bench: Bench) -> Result:
    """Measure expiry and removal of whole days, then deletion of single requests."""
    result = Result("removal", METHOD)
    records = 10_000 if bench.quick else _RECORDS
    now = clock.wall_us()
    place = bench.place("store")
    make = traffic(1)
    with patch.object(clock, "wall_us", lambda: now - _DAYS * DAY_US):
        writer = SqliteWriter(place)
    fill(writer, place, records, now)
    index = SqliteTextIndex(place)
    index.indexed_to()  # the recorder's text pass keeps the index open, too
    half = Cutoff(content=now - _DAYS // 2 * DAY_US)
    old = Cutoff(content=half.content, requests=half.content)

    def record() -> None:
        entries = [make() for _ in range(RECORDED)]
        for entry in entries:
            entry.record.started_at = entry.record.ended_at = now
        writer.commit(Batch(entries=entries))

    def retain(cutoff: Cutoff) -> Callable[[int], tuple[int, bool]]:
        def work(until_ns: int) -> tuple[int, bool]:
            done = writer.retain(Cutoffs(general=cutoff), until_ns)
            return done.removed + done.expired, done.is_complete

        return work

    def delete(until_ns: int) -> tuple[int, bool]:
        removed = writer.delete(until_ns)
        return removed, all(each.state != "removing" for each in reader.deletions(9))

    for what, goal, work in (
        ("content of whole days", _RANGE_GOAL, retain(half)),
        ("whole days", _RANGE_GOAL, retain(old)),
    ):
        measure(result, what, goal, work, writer, record)
    reader = SqliteReader(place)
    SqliteDeletions(place).request(Filter((Term("model", ("gpt-4o",)),)), 0, "benchmark")
    measure(result, "single requests, deleted", _SINGLE_GOAL, delete, writer, record)
    reader.close()
    index.close()
    writer.close()
    return result


def fill(writer: SqliteWriter, place: Path, records: int, now: int) -> None:
    make, index = traffic(2), SqliteTextIndex(place)
    for start in range(0, records, _BATCH):
        at = now - _DAYS * DAY_US + _DAYS * DAY_US * start // records
        entries = [make() for _ in range(_BATCH)]
        for number, entry in enumerate(entries):
            entry.record.started_at = entry.record.ended_at = at + number
        with patch.object(clock, "wall_us", partial(int, at)):
            writer.commit(Batch(entries=entries))
        last = entries[-1].record.seq or 0
        words = (SearchText(f"words {entry.record.input_preview} {entry.record.id}") for entry in entries)
        texts = [(entry.record.seq or 0, text) for entry, text in zip(entries, words, strict=True)]
        index.add(texts, last)
    index.close()


def measure(
    result: Result,
    what: str,
    goal: int,
    work: Callable[[int], tuple[int, bool]],
    writer: SqliteWriter,
    record: Callable[[], None],
) -> None:
    """Call ``work`` until it is complete, with a batch of new requests after each call.

    ``work`` gets the time limit of a call. It returns the number of requests that the call changed, and whether nothing
    is left to do.
    """
    times: list[float] = []
    cpu, removed, is_complete, is_erased = 0.0, 0, False, False
    while not is_erased:
        began, began_cpu = time.perf_counter(), time.process_time()
        if is_complete:
            is_erased = not writer.run_maintenance(clock.monotonic_ns() + _SLICE_NS)
        else:
            count, is_complete = work(clock.monotonic_ns() + _SLICE_NS)
            removed += count
        times.append(time.perf_counter() - began)
        cpu += time.process_time() - began_cpu
        record()
    result.rounds.append({"what": what, "removed": removed, "cpu_s": cpu, "wall_s": sum(times), "calls": len(times)})
    result.add(f"{what}: requests per CPU second", removed / cpu, "", goal, at_least=True)
    result.add(f"{what}: late, median", percentile(times, 50) * 1e3, "ms")
    result.add(f"{what}: late, 99th percentile", percentile(times, 99) * 1e3, "ms", _LATE_GOAL_MS)
    result.add(f"{what}: late, longest", max(times) * 1e3, "ms")
