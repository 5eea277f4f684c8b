"""This part measures the API on a log of ten million requests.

A question is one kind of API request. The goal of a question applies to p50 and p99 in each state of the log (see [What
was measured](#what-was-measured)). The first table is about the disk and the recorder.
"""

import http.client
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any, Final

from benchmarks.bench import Bench, Relaybook
from benchmarks.big_log.facts import Recipe
from benchmarks.big_log.fill import RECORDS, fill, sizes, store_of, tidy
from benchmarks.big_log.questions import Question, questions
from benchmarks.page_cache import drop_page_cache, random_read_ms
from benchmarks.results.figures import Result, percentile
from relaybook import clock

PER_SECOND: Final = 5_000
METHOD: Final = (
    "The log is that of RELAYBOOK_BIG_LOG, or benchmarks/big_log creates it with the store's own writer: 10 "
    "million records unless stated otherwise, 60 days, 8 labels, 200,000 users. `relaybook serve` is queried over "
    "one persistent connection. Each kind of question is asked with 200 different values drawn like those of the "
    "records (the newest page and the thread are always the same, 200 and 20 times). The time runs from the first "
    "byte of the request to the last byte of the response and includes the client's Python. The log is at rest: all "
    "words are indexed, and the parts of the index of foreign ids are merged. *cold*: the server has just started and "
    "the page cache was dropped, again for each kind. *warm*: the same questions again, immediately. *recording*: "
    f"warm, one question every 25 ms, while another process writes {PER_SECOND:,} exchanges per second, drawn like "
    "those of the log, into a run of the server's journal, five per millisecond. The server's own recorder records "
    "these exchanges; no relay is involved. Recorded "
    "exchanges stay in the log, so it grows with each run. Goals apply to the median and to p99. A question the API "
    "does not support is skipped and marked."
)
_LOG: Final = "log"
_STATES: Final = ("cold", "warm", "recording")
_PAUSE_SECONDS: Final = 3.0
#: Disk reads for a request by id: ten pages of the database and the body, measured with strace on a log of ten million
#: records.
_READS_OF_AN_ID: Final = 11
#: Interval between requests. With this interval, many commits and one or two checkpoints happen during each kind of
#: query.
_EVERY_SECONDS: Final = 0.025


def run(bench: Bench) -> Result:
    """Measure every kind of query on its own server, then all queries during recording.

    All measurements use the same log.
    """
    result = Result("big_log", METHOD)
    directory = Path(os.environ.get("RELAYBOOK_BIG_LOG", bench.directory / "big-log"))
    recipe = _log(directory, bench.quick, result)
    here = replace(bench, directory=directory)
    with _server(here) as relay:
        relay.wait_until_indexed(900)  # otherwise, text from an earlier run would be indexed during the queries
        asked = questions(recipe, 1, relay.get("/api/status")["last_seq"])
    tidy(directory)
    _read_the_disk(store_of(directory), result)
    for question in asked:
        with _server(here) as relay:
            how = drop_page_cache(store_of(directory))
            for state in ("cold", "warm"):
                result.rounds.append({"state": state, "page_cache": how} | send(relay.dashboard, question))
    _send_during_recording(here, asked, result)
    for state in _STATES:
        for question in asked:
            _summarise(result, question, state)
    return result


def _read_the_disk(store: Path, result: Result) -> None:
    """Measure the disk alone: each read depends on the one before, as when a record is read from a cold cache."""
    drop_page_cache(store)
    reads = random_read_ms(store / "relaybook.sqlite", 200 * _READS_OF_AN_ID)
    together = [sum(reads[at : at + _READS_OF_AN_ID]) for at in range(0, len(reads), _READS_OF_AN_ID)]
    result.rounds.append({"reads_of_8_kib_ms": [round(each, 3) for each in reads]})
    one, many = "disk: one 8 KiB read", f"disk: {_READS_OF_AN_ID} dependent 8 KiB reads"
    for what, found in ((one, reads), (many, together)):
        result.add(f"{what}, median", median(found), "ms")
        result.add(f"{what}, p99", percentile(found, 99), "ms")


def _log(directory: Path, is_quick: bool, result: Result) -> Recipe:
    """Return the log's recipe, and create the log if it does not exist."""
    recipe = Recipe.kept(directory)
    if recipe is None:
        directory.mkdir(parents=True, exist_ok=True)
        recipe = Recipe(50_000 if is_quick else RECORDS, clock.wall_us())
        filled = fill(directory, recipe)
        result.rounds.append({"fill": filled})
        result.add("records per second while the log was made", filled["records_per_second"], "")
    size = sizes(directory)
    result.add("records when the log was made", recipe.records, "")
    result.add("database", size["database_bytes"] / 2**30, "GiB")
    result.add("bodies", size["body_bytes"] / 2**30, "GiB")
    result.add("word index", size["words_bytes"] / 2**30, "GiB")
    return recipe


@contextmanager
def _server(bench: Bench) -> Iterator[Relaybook]:
    with Relaybook(bench, _LOG, "http://127.0.0.1:9/v1") as relay:
        yield relay


def send(dashboard: str, question: Question, every_s: float = 0.0) -> dict[str, Any]:
    """Request every path once, with at least ``every_s`` seconds between requests.

    Returns milliseconds and responses.
    """
    connection = http.client.HTTPConnection(dashboard.removeprefix("http://"), timeout=60)
    times, statuses, incomplete, sizes_ = [], Counter[int](), 0, []
    for path in question.paths:
        began = time.perf_counter_ns()
        connection.request("GET", path)
        answer = connection.getresponse()
        body = answer.read()
        times.append((time.perf_counter_ns() - began) / 1e6)
        statuses[answer.status] += 1
        incomplete += b'"complete":false' in body
        sizes_.append(len(body))
        if question.may_be_missing and answer.status in (400, 404):
            break
        time.sleep(max(0.0, every_s - times[-1] / 1e3))
    connection.close()
    return {
        "question": question.name,
        "ms": [round(each, 2) for each in times],
        "slowest": question.paths[times.index(max(times))],
        "statuses": {str(status): number for status, number in statuses.items()},
        "incomplete": incomplete,
        "median_bytes": median(sizes_),
    }


def _send_during_recording(bench: Bench, asked: list[Question], result: Result) -> None:
    with _server(bench) as relay:
        for question in asked:
            send(relay.dashboard, question)
        with _recording(relay) as pace:
            for question in asked:
                result.rounds.append({"state": "recording"} | send(relay.dashboard, question, _EVERY_SECONDS))
        relay.wait_until_recorded(600)
    result.rounds.append({"recording": pace})
    result.add("exchanges written per second", pace["written_per_second"], "")
    result.add("exchanges recorded per second", pace["recorded_per_second"], "", 0.98 * PER_SECOND, at_least=True)
    result.add("journal lag at the end", pace["lag_bytes"] / 2**20, "MiB")


@contextmanager
def _recording(relay: Relaybook) -> Iterator[dict[str, float]]:
    """Write exchanges to the server's journal while the block runs.

    Yields a dict, which has the rates of written and recorded exchanges after the block.
    """
    command = [sys.executable, "-m", "benchmarks.big_log.recording", str(relay.data / "journal"), str(PER_SECOND)]
    writer = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    pace: dict[str, float] = {}
    try:
        assert writer.stdout is not None
        writer.stdout.readline()  # wait until the writer has started
        time.sleep(_PAUSE_SECONDS)
        before, began = relay.get("/api/status"), time.monotonic()
        yield pace
        after, seconds = relay.get("/api/status"), time.monotonic() - began
        pace["recorded_per_second"] = (after["records"] - before["records"]) / seconds
        pace["lag_bytes"] = after["journal"]["lag_bytes"]
        writer.send_signal(signal.SIGTERM)
        written, took = writer.stdout.readline().split()
        pace["written_per_second"] = int(written) / float(took)
    finally:
        writer.terminate()
        writer.wait(30)


def _summarise(result: Result, question: Question, state: str) -> None:
    [found] = [each for each in result.rounds if each.get("state") == state and each["question"] == question.name]
    name, statuses = f"{state}: {question.name}", found["statuses"]
    if question.may_be_missing and (missing := [each for each in ("400", "404") if each in statuses]):
        result.add(f"{name}, skipped: not supported by the API", int(missing[0]), "status")
        return
    result.add(f"{name}, median", median(found["ms"]), "ms", question.goal_ms)
    result.add(f"{name}, p99", percentile(found["ms"], 99), "ms", question.goal_ms)
    if others := sum(statuses.values()) - statuses.get("200", 0):
        result.add(f"{name}, responses with a status other than 200", others, "", 0)
    if found["incomplete"]:
        result.add(f"{name}, responses cut off by the deadline", found["incomplete"], "", 0)
