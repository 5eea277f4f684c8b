"""Store the feedback on requests, by request id and source.

Feedback on a request that is not recorded yet is pending. The table ``state`` has pending feedback. The key of pending
feedback consists of the id in the feedback and the source. After each commit, the writer moves pending feedback to the
requests that are now recorded.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from relaybook import clock
from relaybook.log.feedback import (
    MAX_PENDING,
    MAX_SOURCES,
    PENDING_US,
    combined,
    pending_id,
    too_many_pending,
    too_many_sources,
)
from relaybook.log.record import FOREIGN_IDS, Feedback, Record
from relaybook.log.store.clickhouse.connection import Database
from relaybook.log.store.clickhouse.schema import FEEDBACK_COLUMNS, create_tables
from relaybook.log.store.clickhouse.state import State
from relaybook.settings.store_url import DatabaseAddress

PENDING: Final = "pending_feedback"
_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(tuple[str, Feedback]).decode


class ClickHouseFeedbackLog:
    """Adds feedback while a writer may be running. Implements ``FeedbackLog``."""

    def __init__(self, address: DatabaseAddress) -> None:
        self._database = Database(address)
        self._state = State(self._database)

    def add_feedback(self, any_id: str, feedback: Feedback) -> bool:
        create_tables(self._database, self._state)
        own_id = pending_id(any_id)
        found = _ids_of_requests(self._database, [own_id, any_id])
        record_id = found.get(own_id) or found.get(any_id)
        if record_id is not None:
            sql = "SELECT count() FROM feedback FINAL WHERE id = %(id)s AND source <> %(source)s"
            ((others,),) = self._database.query(sql, {"id": record_id, "source": feedback.source})
            if others >= MAX_SOURCES:
                raise too_many_sources()
            store_feedback(self._database, [(record_id, feedback)])
            return True
        key = f"{own_id}\n{feedback.source}"
        pending = self._state.read(PENDING)
        if key not in pending and len(pending) >= MAX_PENDING:
            raise too_many_pending()
        self._state.write({(PENDING, key): _encode((any_id, feedback))})
        return False


def _ids_of_requests(database: Database, any_ids: Sequence[str]) -> dict[str, str]:
    """Return the Relaybook id of the request for each of ``any_ids``, which are Relaybook ids or foreign ids.

    If several requests have the same foreign id, the newest request is used. Ids that no request has are omitted.
    """
    values = {"ids": list(any_ids)}
    newest: dict[str, int] = {}
    for name in FOREIGN_IDS:
        # The query uses only columns of the foreign id's projection: the foreign id and ``seq``. No condition on
        # ``removed`` is needed, because removed requests have no foreign ids.
        sql = f"SELECT {name}, max(seq) FROM requests WHERE {name} IN %(ids)s GROUP BY {name}"
        newest.update(database.query(sql, values))
    sql = "SELECT id, id FROM requests WHERE id IN %(ids)s AND NOT removed"
    found: dict[str, str] = dict(database.query(sql, values))
    if newest:
        seqs = ", ".join(map(str, newest.values()))
        ids: dict[int, str] = dict(database.query(f"SELECT seq, id FROM requests WHERE seq IN ({seqs})"))
        found |= {any_id: ids[seq] for any_id, seq in newest.items() if any_id not in found and seq in ids}
    return found


def join_pending(database: Database, state: State, ended: Iterable[str]) -> None:
    """Move pending feedback to recorded requests, and delete expired pending feedback.

    Feedback is pending if it was sent before its request was recorded. Pending feedback expires after an hour. If the
    id in the feedback is the Relaybook id of a running request, the feedback does not expire before this request ends.
    ``ended`` are the Relaybook ids of requests that have just ended.
    """
    pending = state.read(PENDING)
    if not pending:
        return
    feedback = [(key, *_decode(value)) for key, value in pending.items()]
    waiting = {*ended, *state.read("running")}
    oldest = clock.wall_us() - PENDING_US
    ids = {each for _, any_id, _ in feedback for each in (any_id, pending_id(any_id))}
    requests = _ids_of_requests(database, sorted(ids))
    requests |= {any_id: requests[own_id] for any_id in ids if (own_id := pending_id(any_id)) in requests}
    joined = [
        (requests[any_id], each)
        for _, any_id, each in sorted(feedback, key=lambda found: found[2].at)
        if any_id in requests and (each.at >= oldest or pending_id(any_id) in waiting)
    ]
    store_feedback(database, _without_replaced(database, joined))
    done = [
        key
        for key, any_id, each in feedback
        if any_id in requests or (each.at < oldest and pending_id(any_id) not in waiting)
    ]
    if done:
        state.write({(PENDING, key): None for key in done})


def _without_replaced(database: Database, feedback: list[tuple[str, Feedback]]) -> list[tuple[str, Feedback]]:
    """Return the feedback that is new.

    Leave out items that are already stored, and items that are older than the stored feedback from the same source on
    the same request.
    """
    if not feedback:
        return []
    sql = "SELECT id, source, at FROM feedback FINAL WHERE id IN %(ids)s"
    stored_at = {
        (record_id, source): at
        for record_id, source, at in database.query(sql, {"ids": [record_id for record_id, _ in feedback]})
    }
    return [each for each in feedback if stored_at.get((each[0], each[1].source), -1) < each[1].at]


def store_feedback(database: Database, feedback: Iterable[tuple[str, Feedback]]) -> None:
    """Store pairs of request id and feedback. New feedback replaces earlier feedback from the same source."""
    rows = [
        (record_id, each.source, each.score, each.label, each.comment, each.at, database.next_version())
        for record_id, each in feedback
    ]
    database.insert("feedback", FEEDBACK_COLUMNS, rows)


def load_feedback(database: Database, records: Sequence[Record], deadline_ns: int | None = None) -> None:
    """Read the stored feedback on the records, and set their field ``feedback``."""
    if not records:
        return
    by_id = {record.id: record for record in records}
    sql = "SELECT id, source, score, label, comment, at FROM feedback FINAL WHERE id IN %(ids)s ORDER BY id, source"
    found: dict[str, list[Feedback]] = {}
    for record_id, source, score, label, comment, at in database.query(
        sql, {"ids": list(by_id)}, deadline_ns=deadline_ns
    ):
        each = Feedback(source=source, score=score, label=label, comment=comment, at=at)
        found.setdefault(record_id, []).append(each)
    for record_id, feedback in found.items():
        by_id[record_id].feedback = combined(feedback)
