"""If the store or the recorder fails, traffic continues. The journal keeps all requests, which are recorded later.

In these tests, another program locks the store, the recorder is stopped, the recorder's loop raises an exception, a
request crashes the recorder, or a value cannot be stored. The lock and the stop last two seconds, or a minute in the
long form. Other tests cover a store of a later version (tests/integration/test_settings_errors.py) and a damaged or
lost store (tests/integration/test_store_lost.py).
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
from tests.crash.service import Provider, Service, wait_for
from tests.support.long import LONG, new_seed
from tests.support.server import wait_until

from relaybook.log.store.files import DATABASE

TROUBLE_SECONDS: Final = 60.0 if LONG else 2.0
CLIENTS: Final = 20
POISON: Final = "poison-whole-10"
POISON_BODY: Final = b'{"model": "gpt-4o-mini", "messages": []}'
_TIMEOUT_SECONDS: Final = 60.0
#: Source of a module that Python runs at the start of every process that has the module on its path. Only the
#: recorder uses the classes that the module changes.
_SITECUSTOMIZE: Final = """
import os
from relaybook.recorder.loop import Recorder
from relaybook.recorder.entry_builder import EntryBuilder

entry, step = EntryBuilder.entry, Recorder.step
def is_poison(exchange):
    return exchange.opened.namespace == "poison"
"""
_DEADLY: Final = """
def deadly(self, exchange, bodies):
    if bodies is not None and is_poison(exchange):
        raise RuntimeError("a library cannot read this body")
    return entry(self, exchange, bodies)
EntryBuilder.entry = deadly
"""
_UNSTORABLE: Final = """
def unstorable(self, exchange, bodies):
    made = entry(self, exchange, bodies)
    if is_poison(exchange):
        made.record.user = "\\ud800"
    return made
EntryBuilder.entry = unstorable
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
    """Run a service under load while its store fails, then check the log."""

    def __init__(self, service: Service, provider: Provider) -> None:
        self.service = service
        self._provider = provider
        self.load = Load(service.server.port, CLIENTS, random.Random(4), mixed)

    def run(self, trouble: Callable[[], object]) -> None:
        """Run load before, during and after ``trouble``, which runs in a thread.

        Returns when everything is recorded.
        """
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(self._run(trouble))

    async def _run(self, trouble: Callable[[], object]) -> None:
        try:
            self.load.start("trouble")
            await wait_for(self.has_responses(25), "responses before", _TIMEOUT_SECONDS)
            await wait_for(self.is_recorded, "records before", _TIMEOUT_SECONDS)
            await asyncio.to_thread(trouble)
            await wait_for(self.has_responses(25), "responses after", _TIMEOUT_SECONDS)
            await self.load.finish()
        finally:
            await self.load.abandon()
        await wait_for(self.service.is_idle, "all recorded", _TIMEOUT_SECONDS)

    def is_recorded(self) -> bool:
        """Return whether the dashboard responds and shows a record."""
        with suppress(OSError):
            return bool(self.service.server.get("/api/status")["records"])
        return False

    def has_responses(self, count: int) -> Callable[[], bool]:
        """Return a function that tells whether ``count`` requests have received a complete response.

        Only requests that are sent from now on count.
        """
        known = len(self.load.calls)
        return lambda: sum(call.complete for call in self.load.calls[known:]) >= count

    def hold(self) -> None:
        """Check that for a while nothing is recorded, although responses continue and the journal grows."""
        end = time.monotonic() + TROUBLE_SECONDS
        records = self.service.server.get("/api/status")["records"]
        grown = self.has_responses(60)
        before = self.lag_bytes()
        wait_until(lambda: grown() and time.monotonic() > end, TROUBLE_SECONDS + _TIMEOUT_SECONDS, "responses")
        assert self.service.server.get("/api/status")["records"] == records
        assert self.lag_bytes() > before

    def lag_bytes(self) -> int:
        """Return the size of the part of the journal that is not recorded yet."""
        return int(self.service.server.get("/api/status")["journal"]["lag_bytes"])

    def judge(self) -> None:
        """Assert that every request of the load got a response and has exactly one correct record."""
        calls = self.load.calls
        assert self.load.refused_at == []
        assert [call for call in calls if not (call.complete or call.left) or call.status != 200] == []
        served = [each for each in self._provider.ended() if each.tag != POISON]
        records = [record for record in self.service.all_records() if record.namespace != "poison"]
        assert judge(served, calls, [self.service.logged(record) for record in records]) == []
        assert len(records) == len(calls)

    def deaths(self, role: str = "recorder") -> int:
        """Return how often a process of a role has died."""
        return sum(event["role"] == role for event in self.service.server.events("child_died"))

    def send_poison(self) -> str:
        """Send one request in the namespace that makes the modified recorder fail. Returns its id."""
        headers = {"Crash-Tag": POISON, "Service-Namespace": "poison", "Content-Type": "application/json"}
        url = f"{self.service.server.base_url}/chat/completions"
        with urllib.request.urlopen(urllib.request.Request(url, POISON_BODY, headers), timeout=30) as response:
            response.read()  # if the client disconnected before the end, the outcome would be client_closed
            return str(response.headers["Service-Request-Id"])


@contextmanager
def _trial(directory: Path, *flags: str) -> Iterator[Trial]:
    with Provider(directory) as provider, Service(directory, provider.url, *flags) as service:
        yield Trial(service, provider)
        assert service.server.stop() == 0


@contextmanager
def _modified_trial(directory: Path, patch: pytest.MonkeyPatch, change: str) -> Iterator[Trial]:
    """Run a service whose recorder is modified by ``change`` so that it fails."""
    (directory / "path").mkdir()
    (directory / "path" / "sitecustomize.py").write_text(_SITECUSTOMIZE + change)
    with Provider(directory) as provider:
        paths = [str(directory / "path"), os.environ.get("PYTHONPATH", "")]
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))
        patch.setenv("DEATHS", str(directory / "death-"))
        with Service(directory, provider.url) as service:
            yield Trial(service, provider)
            assert service.server.stop() == 0


def test_while_another_program_locks_the_store_traffic_continues_and_is_recorded_later(tmp_path: Path) -> None:
    with _trial(tmp_path) as trial:
        database, server = str(trial.service.data.store / DATABASE), trial.service.server

        def lock() -> None:
            connection = apsw.Connection(database)
            connection.set_busy_timeout(60_000)
            connection.execute("BEGIN IMMEDIATE")
            try:
                trial.hold()
                wait_until(lambda: server.events("store_unavailable"), _TIMEOUT_SECONDS, "a word of the recorder")
            finally:
                connection.execute("ROLLBACK")
                connection.close()

        trial.run(lock)
        trial.judge()
        reasons = [event["reason"] for event in server.events("store_unavailable")]
        assert reasons
        assert all("another program is using the database" in reason for reason in reasons)
        assert trial.deaths() == 0


def test_while_the_recorder_is_stopped_traffic_continues_and_is_recorded_later(tmp_path: Path) -> None:
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


def test_an_exception_in_the_recorders_loop_affects_no_traffic_and_the_recorder_restarts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with _modified_trial(tmp_path, monkeypatch, _FAILING) as trial:
        trial.run(lambda: wait_until(lambda: trial.deaths() >= 4, _TIMEOUT_SECONDS, "four deaths of the recorder"))
        trial.judge()
        assert (trial.deaths(), trial.deaths("relay")) == (4, 0)


def test_a_request_that_crashes_the_recorder_is_recorded_unparsed_and_all_others_normally(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with _modified_trial(tmp_path, monkeypatch, _DEADLY) as trial:
        poison_ids: list[str] = []

        def poison() -> None:
            poison_ids.append(trial.send_poison())
            trial.service.server.record(poison_ids[0], _TIMEOUT_SECONDS)

        trial.run(poison)
        trial.judge()
        record = trial.service.server.record(poison_ids[0])
        assert (record["outcome"], record["model"]) == ("complete", None)
        assert trial.service.server.body(poison_ids[0], "request") == POISON_BODY
        assert (trial.deaths(), trial.deaths("relay")) == (2, 0)


def test_a_record_that_the_store_rejects_is_quarantined_with_its_bytes_and_all_others_are_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with _modified_trial(tmp_path, monkeypatch, _UNSTORABLE) as trial:
        poison_ids: list[str] = []
        trial.run(lambda: poison_ids.append(trial.send_poison()))
        trial.judge()
        (kept,) = trial.service.data.quarantine.iterdir()
        assert kept.stem == poison_ids[0]
        assert POISON_BODY in kept.read_bytes()
        assert [event["id"] for event in trial.service.server.events("record_quarantined")] == poison_ids
        assert trial.deaths() == 0


def test_a_recorder_that_is_killed_again_and_again_in_its_first_second_still_reads_every_body(tmp_path: Path) -> None:
    kills = 50 if LONG else 5
    rng = random.Random(new_seed())
    with _trial(tmp_path) as trial:

        def kill_young() -> None:
            for _ in range(kills):
                time.sleep(rng.uniform(0, 1))  # a kill at a random time is what is tested
                before = trial.deaths()
                wait_until(lambda: trial.service.kill("recorder"), _TIMEOUT_SECONDS, "a recorder")
                wait_until(lambda before=before: trial.deaths() > before, _TIMEOUT_SECONDS, "its death")

        trial.run(kill_young)
        trial.judge()
        assert trial.deaths() >= kills
        assert [record.id for record in trial.service.all_records() if record.model is None] == []
        notes = [note.code for record in trial.service.all_records() for note in record.notes]
        assert "not_understood" not in notes
