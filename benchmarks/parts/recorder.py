"""How many records a second the recorder makes of a full journal, on one core, and where the time goes."""

import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any
from unittest.mock import patch

from benchmarks.bench import Bench
from benchmarks.figures import Result
from benchmarks.messages import ANSWER_BODY, REQUEST_BODY
from benchmarks.written_journal import write_journal
from relaybook.journal.reader import RunReader
from relaybook.recorder.bodies_kept import Keeping
from relaybook.recorder.figures import Figures
from relaybook.recorder.fold import Fold
from relaybook.recorder.loop import Recorder
from relaybook.recorder.prices import Prices
from relaybook.recorder.quarantine import Quarantine
from relaybook.recorder.suspects import Suspects
from relaybook.recorder.understand import Understanding
from relaybook.serve.recording import collect_rarely
from relaybook.stores.sqlite.writer import SqliteWriter

METHOD = (
    f"A journal of whole exchanges (request {len(REQUEST_BODY)} bytes, answer about {len(ANSWER_BODY)}, words varied, "
    "32 open at a time, one property) is written first, then recorded into an empty SQLite store by the recorder as it "
    "is, in this process. CPU is the process's user + system time; so are the steps, from outside. The "
    "rate is records per second of CPU. It runs on this script's Python."
)
_EXCHANGES = 200_000
_STEPS = {"read": (RunReader, "read"), "fold": (Fold, "feed"), "understand": (Understanding, "entry")}
_STEPS |= {"commit": (SqliteWriter, "commit"), "remove files": (RunReader, "remove_before")}


def run(bench: Bench) -> Result:
    """One journal, recorded once."""
    result = Result("recorder", METHOD)
    collect_rarely()
    journal = bench.directory / "journal"
    exchanges = 20_000 if bench.quick else _EXCHANGES
    body_bytes = write_journal(journal, exchanges)
    store = SqliteWriter(bench.directory / "store")
    recorder = Recorder(
        journal,
        store,
        Understanding(Prices("openai"), store.read_back),
        Keeping(store.set_aside, store.read_back, 1 << 24),
        Quarantine(bench.directory / "quarantine"),
        Suspects(bench.directory),
        Figures(bench.directory / "figures"),
    )
    steps, cpu, wall = _timed(recorder)
    store.close()
    per_record = {name: seconds / exchanges * 1e6 for name, seconds in steps.items()}
    found: dict[str, Any] = {"exchanges": exchanges, "body_bytes": body_bytes, "cpu_s": cpu, "wall_s": wall}
    result.rounds.append(found | {"step_us": per_record})
    result.add("records a second of CPU", exchanges / cpu, "", 15_000, at_least=True)
    result.add("records a second by the clock", exchanges / wall, "")
    result.add("all of it", cpu / exchanges * 1e6, "µs/record")
    for name, used in per_record.items():
        result.add(f"… {name}", used, "µs/record")
    result.add("… the rest", cpu / exchanges * 1e6 - sum(per_record.values()), "µs/record")
    return result


def _timed(recorder: Recorder) -> tuple[dict[str, float], float, float]:
    """Records everything; seconds of each step, of CPU, and by the clock."""
    spent: dict[str, float] = defaultdict(float)
    with ExitStack() as stack:
        for name, (owner, method) in _STEPS.items():
            stack.enter_context(patch.object(owner, method, _wrapped(getattr(owner, method), name, spent)))
        began_cpu, began = time.process_time(), time.perf_counter()
        recorder.run(lambda: True, lambda: False)
        return dict(spent), time.process_time() - began_cpu, time.perf_counter() - began


def _wrapped(method: Callable[..., Any], name: str, spent: dict[str, float]) -> Callable[..., Any]:
    def timed(*args: Any, **more: Any) -> Any:
        began = time.process_time()
        try:
            return method(*args, **more)
        finally:
            spent[name] += time.process_time() - began

    return timed
