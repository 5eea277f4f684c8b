"""If the writer of the SQLite store is killed, committed records stay complete and uncommitted records are gone."""

import random
import subprocess
import sys
from pathlib import Path

from tests.support.records import a_batch, an_entry, soon

from relaybook.log.namespaces import NamespaceQuery
from relaybook.log.query.filters import Filter
from relaybook.log.store.files import BODIES, DATABASE
from relaybook.log.store.sqlite.connection import open_for_reading
from relaybook.log.store.sqlite.packs.pack_writer import pack_name
from relaybook.log.store.sqlite.reader import SqliteReader
from relaybook.log.store.sqlite.writer import SqliteWriter

#: This program commits forever. It stores the number of records as the position of its run. The id of a record is the
#: random seed of the record's body.
COMMITTER = """
import random, sys
from pathlib import Path
from relaybook.log.store.entry import Body
from relaybook.log.store.port import Batch
from relaybook.log.store.status import RunPosition
from relaybook.log.store.sqlite.writer import SqliteWriter
from tests.support.records import an_entry, new_record_id

writer = SqliteWriter(Path(sys.argv[1]))
count = writer.positions()["run"].read_to[0] if writer.positions() else 0
while True:
    entries = []
    for number in range(random.randint(1, 60)):
        record_id = new_record_id()
        data = random.Random(record_id).randbytes(400_000 if number == 7 else 900)
        aside = [writer.write_body(data[:300])] if number % 5 == 0 else []
        entries.append(an_entry(Body(aside, [data[300:] if aside else data]), b"", id=record_id))
    count += len(entries)
    position = RunPosition(read_to=(count, 0, 0), replay_from=(0, 0, 0))
    writer.commit(Batch(entries=entries, positions={"run": position}))
    print(count, flush=True)
"""


def kill_after(directory: Path, commits: int) -> int:
    """Start a writer and kill it some time after this many commits. Returns the last count that the writer printed."""
    child = subprocess.Popen([sys.executable, "-c", COMMITTER, str(directory)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    with child, child.stdout:
        printed = [int(child.stdout.readline()) for _ in range(commits)]
        child.kill()
        printed += [int(line) for line in child.stdout if line.endswith("\n")]
    return printed[-1]


def test_committed_records_of_a_killed_writer_are_complete(tmp_path: Path) -> None:
    rng = random.Random(7)
    for _ in range(15):
        printed = kill_after(tmp_path, rng.randint(1, 6))
        recorded = check(tmp_path)
        assert recorded >= printed
    with_more = an_entry(b"after all")
    writer = SqliteWriter(tmp_path)
    writer.commit(a_batch(with_more))
    assert with_more.record.seq == recorded + 1
    writer.close()


def check(directory: Path) -> int:
    """Assert that positions, rows, counters, pack lengths and bodies agree. Returns the number of records."""
    SqliteWriter(directory).close()
    reader = SqliteReader(directory)
    status = reader.status()
    assert status.positions["run"].read_to[0] == status.records == status.last_seq
    (namespace,) = reader.namespaces(NamespaceQuery(), 5, None, soon())[0]
    assert namespace.requests == status.records
    connection = open_for_reading(directory)
    for pack, length in connection.execute("SELECT pack, length FROM packs"):
        assert (directory / BODIES / pack_name(pack)).stat().st_size == length
    assert connection.execute("SELECT count(*), max(seq) FROM requests").fetchone() == (status.records, status.records)
    assert connection.pragma("quick_check") == "ok"
    connection.close()
    for record in reader.page(Filter(), 200, None, soon()).records:
        body = b"".join(reader.body(record.id, "request") or ())
        assert body == random.Random(record.id).randbytes(len(body))
        assert len(body) in (900, 400_000)
    reader.close()
    return status.records


def test_bytes_after_the_last_commit_are_truncated(tmp_path: Path) -> None:
    writer = SqliteWriter(tmp_path)
    writer.commit(a_batch(an_entry()))
    (pack,) = (tmp_path / BODIES).iterdir()
    length = pack.stat().st_size
    writer.write_body(b"never referred to")
    assert pack.stat().st_size > length
    writer.close()
    SqliteWriter(tmp_path).close()
    assert pack.stat().st_size == length
    assert (tmp_path / DATABASE).exists()
