"""When a deletion is done, no file of ClickHouse has a byte of the deleted requests."""

from collections.abc import Iterator

import pytest
from tests.support.canaries import Canaries
from tests.support.clickhouse.server import ClickHouse, needs_clickhouse, needs_own_server
from tests.support.records import an_entry
from tests.support.server import wait_until

from relaybook import clock
from relaybook.ids import id_text, new_id
from relaybook.log.namespaces import LabelChange
from relaybook.log.query.filters import Filter, Term
from relaybook.log.record import Feedback
from relaybook.log.store.clickhouse.deletions import ClickHouseDeletions
from relaybook.log.store.clickhouse.feedback import ClickHouseFeedbackLog
from relaybook.log.store.clickhouse.labels import ClickHouseLabels
from relaybook.log.store.clickhouse.reader import ClickHouseReader
from relaybook.log.store.clickhouse.writer import ClickHouseWriter
from relaybook.log.store.port import Batch

pytestmark = [needs_clickhouse, needs_own_server]


@pytest.fixture
def server() -> Iterator[ClickHouse]:
    started = ClickHouse()
    yield started
    started.close()


def test_no_file_has_a_byte_of_a_deleted_request(server: ClickHouse) -> None:
    log, canaries = server.create_log(), Canaries(1)
    writer = ClickHouseWriter(log, id_text(new_id()))
    early = Feedback(source="early", comment=canaries.values["early"], at=clock.wall_us())
    assert not ClickHouseFeedbackLog(log).add_feedback(canaries.values["id"], early)
    others = [an_entry(b"kept prompt", b"kept answer", user="other") for _ in range(300)]
    writer.commit(Batch(entries=[*others[:150], canaries.entry(writer), *others[150:]]))
    ClickHouseLabels(log).change(LabelChange(namespace=canaries.values["namespace"], pinned=True))
    assert canaries.found(server.directory) == set(canaries.values)
    ClickHouseDeletions(log).request(Filter((Term("user", (canaries.values["user"],)),)), 1, "127.0.0.1")
    reader = ClickHouseReader(log)

    def is_done() -> bool:
        writer.delete(0)
        return reader.deletions(1)[0].state == "done"

    wait_until(is_done, 60, what="the deletion")
    assert canaries.found(server.directory) == set()
    records = reader.page(Filter(), 500, None, 2**62).records
    assert len(records) == 300
    assert b"".join(reader.body(records[0].id, "request") or ()) == b"kept prompt"
    writer.close()
    reader.close()
