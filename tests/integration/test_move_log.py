"""``relaybook import --store``: everything in a SQLite log can be moved to ClickHouse."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from tests.support.clickhouse.server import needs_clickhouse, new_server, url_of
from tests.support.log_contents import contents
from tests.support.records import A_TIMESTAMP, an_entry, soon, traffic

from relaybook.cli import move_log
from relaybook.cli.failure import CommandFailed
from relaybook.cli.main import main
from relaybook.ids import id_text, new_id
from relaybook.log.namespaces import LabelChange, NamespaceQuery
from relaybook.log.query.filters import Filter, Term
from relaybook.log.record import Feedback, Gap
from relaybook.log.saved_filters import SavedFilter
from relaybook.log.store import open_store
from relaybook.log.store.clickhouse.store import ClickHouseStore
from relaybook.log.store.errors import StoreMisconfigured
from relaybook.log.store.port import Batch, Reader, Store
from relaybook.server.data_directory import DataDirectory
from relaybook.settings.definitions import Settings

#: Two batches.
REQUESTS = 60
FEEDBACK = [Feedback(source="judge", score=0.1, comment="ü", at=A_TIMESTAMP)]
GAP = Gap(from_at=A_TIMESTAMP, to_at=A_TIMESTAMP + 1, count=3, reason="damaged")


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(move_log, "_RECORDS", 40)
    monkeypatch.setattr(move_log, "_BATCH_BYTES", 1 << 20)
    monkeypatch.setattr(move_log, "_PART_BYTES", 1 << 20)


@pytest.fixture
def source(tmp_path: Path) -> Store:
    """A SQLite log with everything that a log can have."""
    store = open_store(tmp_path / "data" / "store")
    writer = store.open_writer()
    make = traffic(3)
    entries = [
        *(make() for _ in range(REQUESTS)),
        an_entry(bytes(range(256)) * 12_000, b"large", request_bytes=256 * 12_000, response_bytes=5),
        an_entry(None, None, body_state="no_bodies", outcome="client_closed"),
        an_entry(None, None, body_state="expired"),
    ]
    entries[5].record.feedback = FEEDBACK
    for entry in entries[10:20]:
        entry.chain = b"chain of " + entry.record.id.encode()
    writer.commit(Batch(entries=entries, gaps=[GAP]))
    writer.close()
    store.open_labels().change(LabelChange(namespace="ios", pinned=False))
    store.open_labels().change(LabelChange(namespace="staging", pinned=True, color=7, group="Stage", position=3))
    store.open_saved_filters().save_filter(SavedFilter("errors", (("failed", "true"),), 17))
    return store


@pytest.fixture(params=["sqlite", pytest.param("clickhouse", marks=needs_clickhouse)])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """An empty log in another place."""
    if request.param == "sqlite":
        yield open_store(tmp_path / "other" / "store")
        return
    server = new_server()
    yield ClickHouseStore(tmp_path / "other" / "store", server.create_log())
    server.close()


def labels(reader: Reader) -> list[tuple[object, ...]]:
    rows, _ = reader.namespaces(NamespaceQuery(pinned=True, sort="requests"), 100, None, soon())
    return [(row.namespace, row.color, row.group, row.position) for row in rows]


def comparable(store: Store) -> list[object]:
    """Return the contents of a log without the numbers of requests, which differ."""
    found, *counts, links = contents(store.open_reader())
    return [
        [[msgspec.structs.replace(record, seq=None), *rest] for record, *rest in found],
        *counts,
        [msgspec.structs.replace(link, seq=0) for link in links],
    ]


def test_everything_is_moved_and_a_repetition_adds_nothing(
    source: Store, target: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    expected, before = comparable(source), source.open_reader()
    for added, known in ((REQUESTS + 3, ""), (0, f"; {REQUESTS + 3} were already in the log")):
        move_log.copy_log(source, target, "the store")
        after = target.open_reader()
        assert comparable(target) == expected
        assert labels(after) == labels(before)
        assert after.saved_filters() == [SavedFilter("errors", (("failed", "true"),), 17)]
        assert after.gaps(0) == [GAP]
        first, second = capsys.readouterr().out.splitlines()
        assert first == f"{added} requests of the SQLite log were added to the store{known}."
        assert second == f"Pinned namespaces: {len(labels(before))}. Saved filters: 1."


@needs_clickhouse
def test_the_command_moves_the_log_once(
    source: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    server = new_server()
    address = server.create_log()
    monkeypatch.setenv("RELAYBOOK_STORE_PASSWORD", address.password)
    data = tmp_path / "data"
    command = ["import", "--data", str(data), "--store", url_of(address)]
    missing = url_of(address._replace(database="missing"))
    assert main([*command[:-1], missing]) == 1
    assert "There is no database missing" in capsys.readouterr().err
    assert main(command) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    (old,) = data.glob("store.moved-*")
    assert last == f"The files of the SQLite log are now in {old}. Delete this directory when you no longer need it."
    assert (old / "relaybook.sqlite").exists()
    assert sorted(path.name for path in (data / "store").iterdir()) == ["recorder", "store.lock"]
    assert not (data / "store.new").exists()
    assert main(command) == 1
    assert "There is no SQLite log in" in capsys.readouterr().err
    server.close()


def test_a_move_that_was_interrupted_while_it_moved_files_is_finished(
    source: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "data"
    (data / "store" / "recorder").touch()
    for name in ("store.moved-0", "store.moved-1", "store.new"):
        (data / name).mkdir()
    (data / "store.moved-0" / "bodies").mkdir()  # of an earlier log
    (data / "store" / "bodies").rename(data / "store.moved-1" / "bodies")
    with pytest.raises(StoreMisconfigured, match=r"is in ClickHouse\. Set --store"):
        source.check()
    command = ["import", "--data", str(data), "--store", "clickhouse://127.0.0.1:1/log"]
    assert main(command) == 0
    assert f"The files of the SQLite log are now in {data / 'store.moved-1'}. Delete" in capsys.readouterr().out
    assert sorted(path.name for path in (data / "store").iterdir()) == ["recorder", "store.lock"]
    assert not (data / "store.new").exists()
    assert {"bodies", "relaybook.sqlite"} <= {path.name for path in (data / "store.moved-1").iterdir()}
    assert main(command) == 1
    assert "There is no SQLite log in" in capsys.readouterr().err


def test_a_directory_of_a_shared_log_gets_no_log_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    directory = tmp_path / "data" / "store"
    directory.mkdir(parents=True)
    (directory / "recorder").touch()
    store = open_store(directory)
    for use in (store.check, store.open_writer):
        with pytest.raises(StoreMisconfigured, match=r"data is in ClickHouse. Set --store to the database's URL"):
            use()
    (tmp_path / "log.jsonl").touch()
    assert main(["import", str(tmp_path / "log.jsonl"), "--data", str(tmp_path / "data")]) == 1
    assert "is in ClickHouse. Set --store to the database's URL" in capsys.readouterr().err
    assert [path.name for path in directory.iterdir()] == ["recorder"]


def test_a_directory_with_a_sqlite_log_gets_no_shared_log(
    source: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, url = tmp_path / "data", "clickhouse://127.0.0.1:1/log"
    store = open_store(data / "store", Settings(store=url))
    for use in (store.check, store.open_writer):
        with pytest.raises(StoreMisconfigured, match=r"is in SQLite\. To move the log to ClickHouse, run"):
            use()
    (tmp_path / "log.jsonl").touch()
    assert main(["import", str(tmp_path / "log.jsonl"), "--data", str(data), "--store", url]) == 1
    assert f"The log of {data} is in SQLite." in capsys.readouterr().err
    assert main(["serve", "--data", str(data), "--store", url, "--upstream", "http://127.0.0.1:1/v1"]) == 2
    assert f"The log of {data} is in SQLite." in capsys.readouterr().err
    assert not (data / "store" / "recorder").exists()


def test_a_log_from_which_requests_are_being_deleted_is_not_moved(source: Store, target: Store) -> None:
    source.open_deletions().request(Filter((Term("namespace", ("staging",)),)), 1, "command line")
    with pytest.raises(CommandFailed, match="A deletion in the SQLite log is not finished"):
        move_log.copy_log(source, target, "the store")
    assert not target.exists()


def test_a_log_whose_journal_is_not_recorded_is_not_moved(
    source: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "data"
    (data / "journal" / id_text(new_id())).mkdir(parents=True)
    assert main(["import", "--data", str(data), "--store", "clickhouse://127.0.0.1:1/log"]) == 1
    assert capsys.readouterr().err == (
        f"relaybook: The journal in {data} has requests that are not in the log yet. Run relaybook drain --store "
        f"sqlite --data {data} first.\n"
    )


def test_there_must_be_a_log_and_no_server(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["import", "--data", str(tmp_path / "data"), "--store", "clickhouse://127.0.0.1:9/relaybook"]
    assert main(command) == 1
    assert capsys.readouterr().err.startswith("relaybook: There is no SQLite log in ")
    directory = DataDirectory(tmp_path / "data")
    directory.open()
    try:
        assert main(command) == 1
        assert capsys.readouterr().err.endswith("/data. Stop the server before you import the log.\n")
    finally:
        directory.close()
