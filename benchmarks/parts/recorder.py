"""This part measures how many records the recorder writes per CPU second.

The recorder records a full journal into an empty SQLite store. The full-text index (*word index*) is built afterwards
from the stored bodies. The table has the CPU time per record of this step. A running recorder takes much less for the
index, because it already has the texts (see ``benchmarks.recording``).
"""

import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tests.support.no_passes import no_passes

from benchmarks.bench import Bench
from benchmarks.compiled import compiled
from benchmarks.results.figures import Result
from benchmarks.traffic.messages import ANSWER_BODY, REQUEST_BODY
from benchmarks.traffic.written_journal import write_journal
from relaybook import clock
from relaybook.journal.reader import RunReader
from relaybook.log.prices import Prices
from relaybook.log.store.sqlite.index.text_index import SqliteTextIndex
from relaybook.log.store.sqlite.reader import SqliteReader
from relaybook.log.store.sqlite.writer import SqliteWriter
from relaybook.recorder.body_policy import BodyPolicy
from relaybook.recorder.crash_guard import CrashGuard
from relaybook.recorder.disk_reserve import DiskReserve
from relaybook.recorder.entry_builder import EntryBuilder
from relaybook.recorder.fold import Fold
from relaybook.recorder.loop import Recorder
from relaybook.recorder.metrics import Metrics
from relaybook.recorder.passes.text import TextPass
from relaybook.recorder.quarantine import Quarantine
from relaybook.recorder.retry import Retry
from relaybook.system.process import collect_rarely

METHOD = (
    f"A journal of complete exchanges (request {len(REQUEST_BODY)} bytes, response about {len(ANSWER_BODY)}, varying "
    "words, 32 open at a time, one property) is written first. The recorder then records it into an empty SQLite "
    "store, in this process. CPU is user plus system time of the process. Step times come from a second run in which "
    "each step is timed, which costs some time itself. *compiled* runs the code compiled by `make compiled`, in a "
    "separate process. The word index is built afterwards from the stored bodies and measured separately. The Python "
    "is the one that runs this script."
)
_EXCHANGES = 200_000
_STEPS = {"read": (RunReader, "read"), "fold": (Fold, "feed"), "build entry": (EntryBuilder, "entry")}
_STEPS |= {"commit": (SqliteWriter, "commit"), "remove files": (RunReader, "remove_before")}


def run(bench: Bench) -> Result:
    """Measure the recording of a whole journal, then the recording of a similar journal step by step."""
    result = Result("recorder", METHOD)
    collect_rarely()
    exchanges = 20_000 if bench.quick else _EXCHANGES
    _record(bench.place("warm-up"), 1_000)
    found = _record(bench.place("plain"), exchanges)
    spent: dict[str, float] = defaultdict(float)
    with ExitStack() as stack:
        for name, (owner, method) in _STEPS.items():
            stack.enter_context(patch.object(owner, method, _wrapped(getattr(owner, method), name, spent)))
        stepwise = _record(bench.place("stepwise"), exchanges)
    steps = {name: seconds / exchanges * 1e6 for name, seconds in spent.items()}
    result.rounds += [found | {"what": "plain"}, stepwise | {"what": "stepwise", "step_us": steps}]
    each = found["cpu_s"] / exchanges * 1e6
    result.add("records per CPU second, all but the word index", 1e6 / each, "", 8_000, at_least=True)
    if (faster := _compiled(bench, exchanges)) is not None:
        result.rounds.append(faster | {"what": "compiled"})
        rate = "compiled: records per CPU second, all but the word index"
        result.add(rate, exchanges / faster["cpu_s"], "", 8_000, at_least=True)
    result.add("records per second of elapsed time", exchanges / found["wall_s"], "")
    result.add("CPU per record", each, "µs/record")
    whole = stepwise["cpu_s"] / exchanges * 1e6
    result.add("CPU per record, with each step timed", whole, "µs/record")
    for name, used in steps.items():
        result.add(f"step: {name}", used, "µs/record")
    result.add("step: other", whole - sum(steps.values()), "µs/record")
    _index(bench.directory / "plain" / "store", exchanges, result)
    return result


def _compiled(bench: Bench, exchanges: int) -> dict[str, float] | None:
    """Measure the compiled source in a separate process. Returns `None` if there is no compiler."""
    other = compiled(bench)
    if other is None:
        return None
    place = bench.place("compiled")
    environment = os.environ | {"PYTHONPATH": str(other.source)}
    command = [sys.executable, "-m", "benchmarks.parts.recorder", str(place), str(exchanges)]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    return dict(json.loads(done.stdout))


def _compiled_here(place: Path, exchanges: int) -> dict[str, float]:
    """Measure with the compiled source."""
    collect_rarely()
    for name in ("warm-up", "plain"):
        place.joinpath(name).mkdir()
    _record(place / "warm-up", 1_000)
    return {"cpu_s": _record(place / "plain", exchanges)["cpu_s"]}


def _record(place: Path, exchanges: int) -> dict[str, Any]:
    """Write a journal and record the whole journal."""
    journal = place / "journal"
    body_bytes = write_journal(journal, exchanges)
    store = SqliteWriter(place / "store")
    recorder = Recorder(
        journal,
        store,
        Retry(DiskReserve(place / "reserve", 0), lambda: 1),
        EntryBuilder(Prices("openai"), store.read_body),
        BodyPolicy(store.write_body, store.read_body, 1 << 24),
        Quarantine(place / "quarantine"),
        CrashGuard(place),
        Metrics(place / "figures"),
        no_passes(store),  # text is indexed later, and _index measures that
        max_runs=1,
    )
    began_cpu, began = time.process_time(), time.perf_counter()
    recorder.run()
    cpu, wall = time.process_time() - began_cpu, time.perf_counter() - began
    store.close()
    return {"exchanges": exchanges, "body_bytes": body_bytes, "cpu_s": cpu, "wall_s": wall}


def _index(directory: Path, exchanges: int, result: Result) -> None:
    """Measure how the text pass indexes text."""
    reader, index = SqliteReader(directory), SqliteTextIndex(directory)
    began = time.process_time()
    TextPass(reader, index).work(clock.monotonic_ns() + 3600 * clock.NANOSECONDS)
    cpu = time.process_time() - began
    index.close()
    reader.close()
    size = sum(path.stat().st_size for path in directory.glob("text.sqlite*"))
    result.rounds.append({"index_cpu_s": cpu, "index_bytes": size})
    result.add("word index", cpu / exchanges * 1e6, "µs/record")
    result.add("word index, size", size / exchanges, "bytes/record")


def _wrapped(method: Callable[..., Any], name: str, spent: dict[str, float]) -> Callable[..., Any]:
    def timed(*args: Any, **more: Any) -> Any:
        began = time.process_time()
        try:
            return method(*args, **more)
        finally:
            spent[name] += time.process_time() - began

    return timed


if __name__ == "__main__":
    print(json.dumps(_compiled_here(Path(sys.argv[1]), int(sys.argv[2]))))
