"""This part measures how soon a server responds after a start or a crash.

*Empty*: the server starts with an empty data directory. *Backlog*: the server starts with 1 GiB of journal that is not
recorded yet.
"""

import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any, Final

from tests.support.server import is_running, wait_until

from benchmarks.bench import Bench
from benchmarks.machine import load_average
from benchmarks.results.figures import Result
from benchmarks.timed_start import TimedStart, first_response
from benchmarks.traffic.messages import FIVE
from benchmarks.traffic.nginx import start_provider
from benchmarks.traffic.written_journal import write_journal
from relaybook.journal.reader import RunReader, list_runs

#: Number of exchanges in the backlog. Each exchange takes about 1,895 bytes of journal.
EXCHANGES: Final = 570_000
METHOD = (
    f"The journal's own writer creates a journal of {EXCHANGES:,} unrecorded exchanges (1 GiB). `relaybook serve` "
    "starts five times on an empty directory and five times on the backlog, in turns, and is ended with SIGKILL so "
    "that the backlog remains (the recorder takes a little of it each time). A request is sent as soon as the base "
    "URL is printed; the time runs from before the exec to the end of the response. The upstream is nginx with a "
    "canned response. Python's bytecode exists, as after an installation; the first start, which creates it, is "
    "listed separately. Steps: until the operator log reports the start of the relay process; until that process "
    "creates its run of the journal (Python's start and imports); until the response. Then the relay process is "
    "killed with SIGKILL and timed to the end of the next response. Finally the server runs until the backlog is "
    "recorded. Values are medians."
)
_ROUNDS: Final = 5
_START_GOAL_MS: Final = 500.0
_RESTART_GOAL_MS: Final = 1000.0
_PATIENCE_SECONDS: Final = 400.0
_STEPS: Final = {
    "supervisor_ms": "supervisor, until it starts the relay process",
    "relay_imports_ms": "relay, Python's start and imports",
    "relay_listens_and_answers_ms": "relay, until the response",
}


def run(bench: Bench) -> Result:
    """Measure starts with an empty data directory and with a backlog alternately, then the recording of the backlog.

    After each start, the relay is killed.
    """
    result = Result("recovery", METHOD)
    backlog = bench.place("backlog")
    exchanges = 20_000 if bench.quick else EXCHANGES
    (backlog / "journal").mkdir(mode=0o700)
    write_journal(backlog / "journal", exchanges)
    with start_provider(bench.place("provider"), FIVE) as provider:
        upstream = f"http://127.0.0.1:{provider.port}/v1"
        first = _start_and_kill(bench, bench.place("first-output"), upstream, bench.directory / "first")
        result.rounds.append({"data": "none, no byte code", "load_average": load_average()} | first)
        for number in range(bench.rounds(_ROUNDS)):
            for data, directory in (("empty", bench.directory / f"empty-{number}"), ("backlog", backlog)):
                place = bench.place(f"{data}-{number}-output")
                facts = {"data": data, "round": number, "load_average": load_average()}
                result.rounds.append(facts | _start_and_kill(bench, place, upstream, directory))
        caught_up = _catch_up(bench, upstream, backlog)
    bare_ms = _bare_start_ms(bench)
    result.rounds.append({"data": "catching up", "load_average": load_average(), "bare_start_ms": bare_ms} | caught_up)
    _summarise(result, exchanges)
    return result


def _start_and_kill(bench: Bench, place: Path, upstream: str, data: Path) -> dict[str, Any]:
    unread = _unread_bytes(data)
    server = TimedStart(bench, place, upstream, data)
    try:
        steps = server.steps_to_first_response()
        relay = server.pid_of("relay")
        killed_ns = time.time_ns()
        os.kill(relay, signal.SIGKILL)
        wait_until(lambda: not is_running(relay), 60, "the relay's death")
        failed, answered_ns = first_response(server.port)
    finally:
        server.stop_at_once()
    restart = {"restart_ms": (answered_ns - killed_ns) / 1e6, "restart_failed": failed}
    return {"journal_bytes": unread} | steps | restart


def _unread_bytes(data: Path) -> int:
    """Return the bytes of the journal, both recorded and not yet recorded."""
    journal = data / "journal"
    return sum(RunReader(path).unread().bytes for path in list_runs(journal)) if journal.exists() else 0


def _catch_up(bench: Bench, upstream: str, backlog: Path) -> dict[str, Any]:
    """Let a server record the backlog. Returns the duration and the number of records."""
    began = time.monotonic()
    with TimedStart(bench, bench.place("catching-up-output"), upstream, backlog) as server:
        first_response(server.port)

        def is_recorded() -> bool:
            time.sleep(0.5)  # polling more often would take CPU time from the recorder
            return bool(server.get("/api/status")["journal"]["lag_bytes"] == 0)

        wait_until(is_recorded, _PATIENCE_SECONDS, "catching up")
        took = time.monotonic() - began
        recorded = sum(each["requests"] for each in server.get("/api/namespaces?limit=100")["data"])
    return {"caught_up_s": took, "recorded": recorded}


def _bare_start_ms(bench: Bench) -> list[float]:
    """Measure the start of Python alone, for comparison."""
    found = []
    for _ in range(_ROUNDS):
        began = time.perf_counter()
        subprocess.run([bench.python, "-c", "pass"], check=True)
        found.append((time.perf_counter() - began) * 1e3)
    return found


def _summarise(result: Result, exchanges: int) -> None:
    starts = [each for each in result.rounds if "all_ms" in each]
    most = max(each["journal_bytes"] for each in starts if each["data"] == "backlog")
    least = min(each["journal_bytes"] for each in starts if each["data"] == "backlog")
    result.add("backlog at the first start", most / 2**30, "GiB")
    result.add("backlog at the last start", least / 2**30, "GiB")
    for data in ("empty", "backlog"):
        result.add(f"{data}: start to first response", result.median("all_ms", data=data), "ms", _START_GOAL_MS)
        slowest = max(each["all_ms"] for each in starts if each["data"] == data)
        result.add(f"{data}: start to first response, slowest", slowest, "ms")
        for name, what in _STEPS.items():
            result.add(f"{data}: {what}", result.median(name, data=data), "ms")
        killed = result.median("restart_ms", data=data)
        result.add(f"{data}: SIGKILL of the relay to next response", killed, "ms", _RESTART_GOAL_MS)
    added = result.median("all_ms", data="backlog") - result.median("all_ms", data="empty")
    result.add("start time added by the backlog", added, "ms")
    result.add("start without compiled bytecode", result.rounds[0]["all_ms"], "ms")
    end = result.rounds[-1]
    result.add("Python's own start", sorted(end["bare_start_ms"])[_ROUNDS // 2], "ms")
    result.add("time to record the backlog", end["caught_up_s"], "s")
    asked = 1 + 2 * sum(each["data"] == "backlog" for each in starts)
    result.add("missing or duplicate records", end["recorded"] - exchanges - asked, "", 0)
