"""The store, or the recorder before it, in trouble: traffic goes on, the journal keeps it all, and it is caught up.

Locked by another program, the recorder stopped, an exception in its loop, a value that cannot be stored.
The lock and the recorder are held for two seconds, or for a minute in the long form. (A store of a later version:
tests/integration/test_settings_errors.py; a damaged or lost one: test_store_lost.py.)
"""

import asyncio
import os
import random
import signal
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import apsw
import pytest
import uvloop
from tests.crash.judge import judge
from tests.crash.load import Load, mixed
from tests.crash.service import Provider, Service, until
from tests.support.long import LONG
from tests.support.server import wait_until

from relaybook.log.store.sqlite.connection import DATABASE

TROUBLE_SECONDS: Final = 60.0 if LONG else 2.0
CALLERS: Final = 20
POISON: Final = "poison-whole-10"
POISON_BODY: Final = b'{"model": "gpt-4o-mini", "messages": []}'
_PATIENCE_SECONDS: Final = 60.0
#: Python runs this at the start of every process that finds it on its path; the recorder alone uses what it changes.
_SITECUSTOMIZE: Final = """
import os
from relaybook.recorder.loop import Recorder
from relaybook.recorder.understand import Understanding

entry, step = Understanding.entry, Recorder.step
def is_poison(exchange):
    return exchange.opened.namespace == "poison"
"""
_DEADLY: Final = """
def deadly(self, exchange, *, read_bodies):
    if read_bodies and is_poison(exchange):
        raise RuntimeError("a library cannot read this body")
    return entry(self, exchange, read_bodies=read_bodies)
Understanding.entry = deadly
"""
_UNSTORABLE: Final = """
def unstorable(self, exchange, *, read_bodies):
    made = entry(self, exchange, read_bodies=read_bodies)
    if is_poison(exchange):
        made.record.user = "\\ud800"
    return made
Understanding.entry = unstorable
"""
_FAILING: Final = """
def failing(self):
    worked = step(self)
    for number in range(4):
        if worked and not os.path.exists(f"{os.environ['DEATHS']}{number}"):
            open(f"{os.environ['DEATHS']}{number}", "x").close()
            raise RuntimeError("an error nobody thought of")
    return worked
Recorder.step = failing
"""


class Trial:
    """A service under load while something happens to its log, and the judgement at the end."""

    def __init__(self, service: Service, provider: Provider) -> None:
        self.service = service
        self._provider = provider
        self.load = Load(service.server.port, CALLERS, random.Random(4), mixed)

    def run(self, trouble: Callable[[], object]) -> None:
        """Load before, while and after ``trouble``, which runs on a thread; returns when all is recorded."""
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(self._run(trouble))

    async def _run(self, trouble: Callable[[], object]) -> None:
        try:
            self.load.start("trouble")
            await until(self.has_answers(25), "answers before", _PATIENCE_SECONDS)
            await until(self.is_recorded, "records before", _PATIENCE_SECONDS)
            await asyncio.to_thread(trouble)
            await until(self.has_answers(25), "answers after", _PATIENCE_SECONDS)
            await self.load.finish()
        finally:
            await self.load.abandon()
        await until(self.service.is_at_rest, "all recorded", _PATIENCE_SECONDS)

    def is_recorded(self) -> bool:
        """Whether the dashboard answers and shows a record."""
        with suppress(OSError):
            return bool(self.service.server.get("/api/status")["records"])
        return False

    def has_answers(self, count: int) -> Callable[[], bool]:
        """Whether so many of the requests asked from now on were answered whole."""
        known = len(self.load.calls)
        return lambda: sum(call.complete for call in self.load.calls[known:]) >= count

    def hold(self) -> None:
        """Nothing is recorded for a while: answers go on, and the journal grows."""
        end = time.monotonic() + TROUBLE_SECONDS
        records = self.service.server.get("/api/status")["records"]
        grown = self.has_answers(60)
        before = self.lag_bytes()
        wait_until(lambda: grown() and time.monotonic() > end, TROUBLE_SECONDS + _PATIENCE_SECONDS, "answers")
        assert self.service.server.get("/api/status")["records"] == records
        assert self.lag_bytes() > before

    def lag_bytes(self) -> int:
        """How much of the journal is not recorded."""
        return int(self.service.server.get("/api/status")["journal"]["lag_bytes"])

    def judge(self) -> None:
        """Every call of the load was answered, and all of them are in the log, once and whole."""
        calls = self.load.calls
        assert self.load.refused_at == []
        assert [call for call in calls if not (call.complete or call.left) or call.status != 200] == []
        served = [each for each in self._provider.ended() if each.tag != POISON]
        records = [record for record in self.service.all_records() if record.namespace != "poison"]
        assert judge(served, calls, [self.service.logged(record) for record in records]) == []
        assert len(records) == len(calls)

    def deaths(self, role: str = "recorder") -> int:
        """How often a part of the service has died."""
        return sum(event["role"] == role for event in self.service.server.events("child_died"))

    def ask_poison(self) -> str:
        """One request in the namespace that a changed recorder knows; its id."""
        headers = {"Crash-Tag": POISON, "Service-Namespace": "poison", "Content-Type": "application/json"}
        url = f"{self.service.server.base_url}/chat/completions"
        with urllib.request.urlopen(urllib.request.Request(url, POISON_BODY, headers), timeout=30) as answer:
            answer.read()  # whoever leaves before the end is a caller who left
            return str(answer.headers["Service-Request-Id"])


@contextmanager
def _trial(directory: Path, *flags: str) -> Iterator[Trial]:
    with Provider(directory) as provider, Service(directory, provider.url, *flags) as service:
        yield Trial(service, provider)
        assert service.server.stop() == 0


@contextmanager
def _changed_trial(directory: Path, patch: pytest.MonkeyPatch, change: str) -> Iterator[Trial]:
    """A service whose recorder does not behave."""
    (directory / "path").mkdir()
    (directory / "path" / "sitecustomize.py").write_text(_SITECUSTOMIZE + change)
    with Provider(directory) as provider:
        paths = [str(directory / "path"), os.environ.get("PYTHONPATH", "")]
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))
        patch.setenv("DEATHS", str(directory / "death-"))
        with Service(directory, provider.url) as service:
            yield Trial(service, provider)
            assert service.server.stop() == 0


def test_while_another_program_holds_the_store_traffic_goes_on_and_all_is_recorded_later(tmp_path: Path) -> None:
    with _trial(tmp_path) as trial:
        database, server = str(trial.service.data.store / DATABASE), trial.service.server

        def lock() -> None:
            connection = apsw.Connection(database)
            connection.set_busy_timeout(60_000)
            connection.execute("BEGIN IMMEDIATE")
            try:
                trial.hold()
                wait_until(lambda: server.events("store_unavailable"), _PATIENCE_SECONDS, "a word of the recorder")
            finally:
                connection.execute("ROLLBACK")
                connection.close()

        trial.run(lock)
        trial.judge()
        reasons = [event["reason"] for event in server.events("store_unavailable")]
        assert reasons
        assert all("another program holds the database" in reason for reason in reasons)
        assert trial.deaths() == 0


def test_while_the_recorder_stands_still_traffic_goes_on_and_all_is_recorded_later(tmp_path: Path) -> None:
    with _trial(tmp_path, "--segment-bytes", "1MiB") as trial:
        recorder = trial.service.server.pid_of("recorder")

        def stop() -> None:
            os.kill(recorder, signal.SIGSTOP)
            try:
                trial.hold()
            finally:
                os.kill(recorder, signal.SIGCONT)

        trial.run(stop)
        trial.judge()
        assert trial.deaths() == 0


def test_an_exception_in_the_recorders_loop_disturbs_no_traffic_and_it_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with _changed_trial(tmp_path, monkeypatch, _FAILING) as trial:
        trial.run(lambda: wait_until(lambda: trial.deaths() >= 4, _PATIENCE_SECONDS, "four deaths of the recorder"))
        trial.judge()
        assert (trial.deaths(), trial.deaths("relay")) == (4, 0)


def test_a_request_that_kills_the_recorder_is_recorded_unread_and_all_others_as_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with _changed_trial(tmp_path, monkeypatch, _DEADLY) as trial:
        asked: list[str] = []

        def poison() -> None:
            asked.append(trial.ask_poison())
            trial.service.server.record(asked[0], _PATIENCE_SECONDS)

        trial.run(poison)
        trial.judge()
        record = trial.service.server.record(asked[0])
        assert (record["outcome"], record["model"]) == ("complete", None)
        assert trial.service.server.body(asked[0], "request") == POISON_BODY
        assert (trial.deaths(), trial.deaths("relay")) == (2, 0)


def test_a_record_that_no_store_takes_is_set_aside_with_its_bytes_and_all_others_are_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with _changed_trial(tmp_path, monkeypatch, _UNSTORABLE) as trial:
        asked: list[str] = []
        trial.run(lambda: asked.append(trial.ask_poison()))
        trial.judge()
        (kept,) = trial.service.data.quarantine.iterdir()
        assert kept.stem == asked[0]
        assert POISON_BODY in kept.read_bytes()
        assert [event["id"] for event in trial.service.server.events("record_quarantined")] == asked
        assert trial.deaths() == 0
