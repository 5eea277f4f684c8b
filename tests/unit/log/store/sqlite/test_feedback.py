"""In the SQLite store, feedback reaches a request that is recorded at the same time. Expired feedback is deleted."""

import random
import threading
from pathlib import Path

import apsw
import pytest
from tests.support.records import a_batch, an_entry, soon

from relaybook import clock
from relaybook.log.feedback import PENDING_US
from relaybook.log.query.filters import Filter, Term
from relaybook.log.record import Feedback
from relaybook.log.store.errors import StoreUnavailable
from relaybook.log.store.files import DATABASE
from relaybook.log.store.sqlite.feedback import SqliteFeedbackLog
from relaybook.log.store.sqlite.reader import SqliteReader
from relaybook.log.store.sqlite.writer import SqliteWriter


def pending(directory: Path) -> list[str]:
    connection = apsw.Connection(str(directory / DATABASE), flags=apsw.SQLITE_OPEN_READONLY)
    found = [id_ for (id_,) in connection.execute("SELECT request_id FROM pending_feedback")]
    connection.close()
    return found


def test_no_feedback_is_lost_while_requests_are_recorded(tmp_path: Path) -> None:
    writer = SqliteWriter(tmp_path, busy_s=30.0)
    entries = [an_entry(completion_id=f"chatcmpl-{number}") for number in range(60)]
    chosen = random.Random(3).sample([entry.record.completion_id or "" for entry in entries], 60)
    failures: list[Exception] = []

    def give(ids: list[str]) -> None:
        log = SqliteFeedbackLog(tmp_path, busy_s=30.0)
        try:
            for any_id in ids:
                log.add_feedback(any_id, Feedback(source="users", score=1.0, at=clock.wall_us()))
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=give, args=(chosen[start::2],)) for start in range(2)]
    for thread in threads:
        thread.start()
    for entry in entries:
        writer.commit(a_batch(entry))
    for thread in threads:
        thread.join()
    assert failures == []
    assert pending(tmp_path) == []
    reader = SqliteReader(tmp_path)
    assert reader.count(Filter((Term("score", ("=1.0",)),)), soon()).requests == reader.status().feedback == 60
    reader.close()
    writer.close()


def test_maintenance_deletes_expired_feedback(tmp_path: Path) -> None:
    writer = SqliteWriter(tmp_path)
    log, now = SqliteFeedbackLog(tmp_path), clock.wall_us()
    log.add_feedback("old", Feedback(source="users", comment="old", at=now - PENDING_US - 1))
    log.add_feedback("new", Feedback(source="users", comment="new", at=now))
    writer.run_maintenance(clock.monotonic_ns())
    assert pending(tmp_path) == ["new"]
    writer.close()


def test_without_a_log_nothing_is_stored_or_created(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable):
        SqliteFeedbackLog(tmp_path).add_feedback("x", Feedback(source="users", score=1.0, at=1))
    assert list(tmp_path.iterdir()) == []


def test_feedback_waits_for_a_busy_database_only_until_its_time_limit(tmp_path: Path) -> None:
    SqliteWriter(tmp_path).close()
    other = apsw.Connection(str(tmp_path / DATABASE))
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailable, match="another program is using the database"):
        SqliteFeedbackLog(tmp_path, busy_s=0.01).add_feedback("x", Feedback(source="users", score=1.0, at=1))
    other.close()
