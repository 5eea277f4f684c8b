"""This part measures inserts and API response times with the log in ClickHouse.

The goals for response times are the goals for SQLite in `big_log`. *Two recorders instead of one* is the insert rate of
two recorders divided by the insert rate of one.
"""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any, Final

from tests.support.clickhouse.server import ClickHouse, url_of

from benchmarks.bench import Bench, Relaybook
from benchmarks.big_log.facts import Recipe
from benchmarks.big_log.fill import RECORDS, fill, sizes, store_of, write
from benchmarks.big_log.questions import Question, questions
from benchmarks.parts.big_log import send
from benchmarks.process_cpu import cpu_seconds
from benchmarks.results.figures import Result, percentile
from benchmarks.traffic.messages import FIVE
from benchmarks.traffic.nginx import start_provider
from benchmarks.traffic.wrk import Load, run_wrk
from relaybook import clock
from relaybook.log.store.clickhouse.connection import Database
from relaybook.log.store.clickhouse.writer import ClickHouseWriter
from relaybook.settings.store_url import DatabaseAddress, parse_store_url

_INSERTED: Final = 100_000
_SERVERS, _CONNECTIONS, _PAUSE_MS, _SECONDS = 3, 32, 100, 30
METHOD: Final = (
    "The engine is chdb-core behind an HTTP server, on the same two cores as everything else. *insert*: one process, "
    f"or two at the same time, each insert {_INSERTED:,} records of benchmarks/big_log in batches of 5,000 with the "
    "store's own writer. The records and their search texts were made before. The CPU time of the engine "
    "includes the merges until the last insert. *servers*: three `relaybook serve` share one log. Each relays "
    f"{_CONNECTIONS * 1000 // _PAUSE_MS} requests per second from wrk (five headers, bodies of 0.5 and 0.8 KB) to "
    "nginx with a canned completion. The CPU time of a role is that of all three servers until everything is recorded, "
    "divided by the requests. *SQLite* and *ClickHouse*: two logs of the same recipe, each behind "
    "`relaybook serve`, are asked the same questions in turn, over one connection each, 20 times with different "
    "values; the first question of each kind is not counted. The logs are those of RELAYBOOK_BIG_LOG (a directory) and "
    "RELAYBOOK_BIG_LOG_STORE (a URL), or are made here. Without a SQLite log, only ClickHouse is asked. "
    "Goals of ClickHouse are those of SQLite."
)
_TIMES: Final = 20
#: The CPU time of the server since its start, and the rows that it inserted in all tables.
_SPENT: Final = """
SELECT sumIf(value, event IN ('UserTimeMicroseconds', 'SystemTimeMicroseconds')), sumIf(value, event = 'InsertedRows')
FROM system.events
"""


def run(bench: Bench) -> Result:
    """Measure inserts on an empty log, then queries on two equal logs."""
    password = os.environ.setdefault("RELAYBOOK_STORE_PASSWORD", "benchmark")
    result = Result("clickhouse", METHOD)
    server = ClickHouse(password, bench.place("engine"))
    try:
        _measure_inserts(bench, server, result)
        _measure_servers(bench, server, result)
        _measure_queries(bench, server, result)
    finally:
        server.close()
    return result


def _measure_inserts(bench: Bench, server: ClickHouse, result: Result) -> None:
    records = 10_000 if bench.quick else _INSERTED
    for round_ in range(bench.rounds(3)):
        for recorders in (1, 2):
            log = server.create_log(f"insert_{round_}_{recorders}")
            result.rounds.append({"recorders": recorders} | _insert(server, log, records, recorders))
            server.execute(f"DROP DATABASE {log.database}")
    one, two = (result.median("per_second", recorders=number) for number in (1, 2))
    result.add("insert, one recorder: requests per second", one, "", 20_000, at_least=True)
    result.add("insert, two recorders: requests per second", two, "")
    result.add("insert, two recorders instead of one", two / one, "times", 1.8, at_least=True)
    result.add("insert: CPU of the recorder per request", result.median("recorder_us", recorders=1), "µs")
    result.add("insert: CPU of ClickHouse per request", result.median("engine_us", recorders=1), "µs")


def _insert(server: ClickHouse, log: DatabaseAddress, records: int, recorders: int) -> dict[str, float]:
    """Let processes insert records at the same time, and return the rate and the CPU time per record."""
    command = [sys.executable, "-m", "benchmarks.big_log.clickhouse_insert", url_of(log), str(records)]
    processes = [
        subprocess.Popen([*command, str(number)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for number in range(recorders)
    ]
    for process in processes:
        _read(process)
    began, engine_s = time.perf_counter(), cpu_seconds(server.pid)
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    recorder_s = sum(float(_read(process)) for process in processes)
    seconds, engine_s = time.perf_counter() - began, cpu_seconds(server.pid) - engine_s
    for process in processes:
        process.wait(60)
    count = records * recorders
    return {
        "per_second": count / seconds,
        "recorder_us": recorder_s / count * 1e6,
        "engine_us": engine_s / count * 1e6,
    }


def _read(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def _measure_servers(bench: Bench, server: ClickHouse, result: Result) -> None:
    """Measure the CPU time of each role when three servers relay at a moderate rate to one log."""
    log = server.create_log("servers")
    with ExitStack() as stack:
        provider = stack.enter_context(start_provider(bench.place("provider"), FIVE))
        upstream, store = f"http://127.0.0.1:{provider.port}/v1", ("--store", url_of(log))
        relays = [
            stack.enter_context(Relaybook(bench, f"server-{number}", upstream, *store)) for number in range(_SERVERS)
        ]
        before, engine_s = [relay.cpu() for relay in relays], cpu_seconds(server.pid)
        with ThreadPoolExecutor(_SERVERS) as pool:

            def run(relay: Relaybook) -> Load:
                return run_wrk(relay.port, FIVE, bench.seconds(_SECONDS), _CONNECTIONS, pause_ms=_PAUSE_MS)

            loads = list(pool.map(run, relays))
        for relay in relays:
            relay.wait_until_recorded(120)
        requests = sum(load.requests for load in loads)
        after, engine_s = [relay.cpu() for relay in relays], cpu_seconds(server.pid) - engine_s
        found = {
            role: sum(new[role] - old[role] for new, old in zip(after, before, strict=True)) / requests * 1e6
            for role in ("relay", "recorder")
        }
        found["ClickHouse"] = engine_s / requests * 1e6
    result.rounds.append({"servers": _SERVERS, "cpu_us": found, "loads": [asdict(load) for load in loads]})
    result.add("servers: requests per second", sum(load.per_second for load in loads), "")
    result.add("servers: failed requests", sum(load.failed + load.broken for load in loads), "", 0)
    for role, spent in found.items():
        result.add(f"servers: CPU of {role} per request", spent, "µs")


def _measure_queries(bench: Bench, server: ClickHouse, result: Result) -> None:
    directory = Path(os.environ.get("RELAYBOOK_BIG_LOG", bench.directory / "big-log"))
    recipe = Recipe.kept(directory)
    if recipe is None:
        directory.mkdir(parents=True)
        recipe = Recipe(20_000 if bench.quick else RECORDS, clock.wall_us())
        fill(directory, recipe)
    if url := os.environ.get("RELAYBOOK_BIG_LOG_STORE"):
        log = parse_store_url(url)._replace(password=os.environ["RELAYBOOK_STORE_PASSWORD"])
    else:
        log = server.create_log("big_log")
        write(ClickHouseWriter(log, "01234567-0000-7000-8000-000000000000"), recipe)
        # A server that somebody else runs may have been restarted since.
        ((spent_us, inserted),) = Database(log).query(_SPENT)
        result.add("large log: CPU of ClickHouse per inserted row, with merges", spent_us / inserted, "µs")
    statement = "SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND database = {name:String}"
    ((bytes_on_disk,),) = Database(log).query(statement, {"name": log.database})
    stores: dict[str, tuple[str, ...]] = {"ClickHouse": ("--store", url_of(log))}
    goal = None
    if (store_of(directory) / "bodies").exists():
        stored = sum(sizes(directory).values()) / recipe.records
        result.add("SQLite: bytes per request", stored, "B")
        goal, stores["SQLite"] = 0.8 * stored, ()
    result.add("ClickHouse: bytes per request", bytes_on_disk / recipe.records, "B", goal)
    _ask(bench, directory, recipe, stores, result)


def _ask(bench: Bench, directory: Path, recipe: Recipe, stores: dict[str, tuple[str, ...]], result: Result) -> None:
    """Ask the stores each question in turn. ``stores`` has their flags; SQLite's log is in ``directory``."""
    places = {"SQLite": Bench(directory, bench.python, bench.source, bench.quick), "ClickHouse": bench}
    with ExitStack() as stack:
        relays = {
            name: stack.enter_context(Relaybook(places[name], "log", "http://127.0.0.1:9/v1", *flags))
            for name, flags in stores.items()
        }
        for relay in relays.values():
            relay.wait_until_indexed(900)
        asked = {name: questions(recipe, *_seqs(relay)) for name, relay in relays.items()}
        for each in zip(*asked.values(), strict=True):
            for name, question in zip(relays, each, strict=True):
                some = question._replace(paths=question.paths[: _TIMES + 1])
                result.rounds.append({"store": name} | send(relays[name].dashboard, some))
        for name, of_store in asked.items():
            for question in of_store:
                _summarize(result, name, question)


def _seqs(relay: Relaybook) -> tuple[int, int]:
    """Return the lowest and highest ``seq`` of a log."""
    oldest: dict[str, Any] = relay.get("/api/requests?limit=1&cursor=n0")["data"][0]
    return oldest["seq"], relay.get("/api/status")["last_seq"]


def _summarize(result: Result, store: str, question: Question) -> None:
    [found] = [each for each in result.rounds if each.get("store") == store and each["question"] == question.name]
    times = found["ms"][1:]
    result.add(f"{store}: {question.name}, median", median(times), "ms", question.goal_ms)
    result.add(f"{store}: {question.name}, slowest", percentile(times, 100), "ms")
    if others := sum(found["statuses"].values()) - found["statuses"].get("200", 0):
        result.add(f"{store}: {question.name}, responses with a status other than 200", others, "", 0)
    if found["incomplete"]:
        result.add(f"{store}: {question.name}, responses cut off by the deadline", found["incomplete"], "", 0)
