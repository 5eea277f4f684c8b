"""This part measures how fast stored bodies are read again, and how long recording waits.

A CPU second is a second of CPU time of the pass. Requests are read again in short calls. *Late* is the elapsed time of
one call, during which nothing is recorded.
"""

from typing import Final

from tests.support.no_passes import a_reread_pass
from tests.support.records import traffic

from benchmarks.bench import Bench
from benchmarks.parts.removal import RECORDED, fill, measure
from benchmarks.results.figures import Result
from relaybook import clock
from relaybook.log.query.filters import Filter
from relaybook.log.store.port import Batch
from relaybook.log.store.sqlite.index.text_index import SqliteTextIndex
from relaybook.log.store.sqlite.reader import SqliteReader
from relaybook.log.store.sqlite.rereading.rereads import SqliteRereads
from relaybook.log.store.sqlite.writer import SqliteWriter
from relaybook.system.process import collect_rarely

_RECORDS: Final = 50_000
_CPU_GOAL: Final = 1_000
METHOD = (
    f"A SQLite store with {_RECORDS:,} requests (request 390 bytes, response about 700), whose words are indexed. "
    f"Every request gets other fields when it is read again. Between two calls of the pass, {RECORDED} requests are "
    "recorded, as many as arrive in 0.2 s at 2,000 per second. *late* is the elapsed time of one call, which ends with "
    "the first slice that ends after 15 ms. During a call, nothing is recorded. The rate is per second of CPU time "
    "(user and system) of these calls."
)


def run(bench: Bench) -> Result:
    """Measure a reread of the whole log."""
    result = Result("reread", METHOD)
    place = bench.place("store")
    now = clock.wall_us()
    writer = SqliteWriter(place)
    fill(writer, place, 5_000 if bench.quick else _RECORDS, now)
    collect_rarely()  # as in the recorder's process
    index = SqliteTextIndex(place)
    index.indexed_to()  # the recorder's text pass keeps the index open, too
    make, reader, work = traffic(1), SqliteReader(place), a_reread_pass(writer)
    SqliteRereads(place).request_reread(Filter(), 0, "benchmark")

    def reread(until_ns: int) -> tuple[int, bool]:
        before = reader.rereads(1)[0].read
        work.work(until_ns)
        after = reader.rereads(1)[0]
        return after.read - before, after.state == "done"

    def record() -> None:
        writer.commit(Batch(entries=[make() for _ in range(RECORDED)]))

    measure(result, "requests read again", _CPU_GOAL, reread, writer, record)
    result.rounds.append({"changed": reader.rereads(1)[0].changed})
    reader.close()
    index.close()
    writer.close()
    return result
