"""A store that is damaged, deleted or from another program is replaced by an empty one. Its files are set aside."""

import shutil
import sqlite3
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.support.long import sampled
from tests.support.raw_http import QUESTION, send_request
from tests.support.server import Server, SimulatedProvider, wait_until

from relaybook.log.store.files import DATABASE
from relaybook.log.store.sqlite.set_aside import list_set_aside

Damage = Callable[[Path], None]


def send(server: Server, space: bytes = b"") -> str:
    """Send a request through the relay, with this white space at the end of its body. Returns the request's id."""
    response = send_request(server.port, body=QUESTION + space)
    assert response.status == 200
    return dict(response.headers)["service-request-id"]


def overwrite_start(store: Path) -> None:
    with (store / DATABASE).open("r+b") as file:
        file.write(b"\x55" * 65536)


def delete_the_database(store: Path) -> None:
    for path in store.glob(DATABASE + "*"):
        path.unlink()


def delete_the_directory(store: Path) -> None:
    shutil.rmtree(store)


def replace_by_another_programs_database(store: Path) -> None:
    delete_the_database(store)
    connection = sqlite3.connect(store / DATABASE)
    connection.execute("CREATE TABLE recipes (name TEXT)")
    connection.commit()
    connection.close()


def replace_by_a_text_file(store: Path) -> None:
    delete_the_database(store)
    (store / DATABASE).write_text("These are my notes.\n" * 500)


DAMAGES = [
    overwrite_start,
    delete_the_database,
    delete_the_directory,
    replace_by_another_programs_database,
    replace_by_a_text_file,
]


def gaps(server: Server) -> list[dict[str, Any]]:
    return [gap for gap in server.get("/api/status")["gaps"] if gap["reason"] == "store_set_aside"]


#: SQLite detects the first damage only when it reads the damaged pages again. A running writer may never do that.
DETECTED_BY_A_RUNNING_WRITER = DAMAGES[1:]


@pytest.mark.parametrize("damage", sampled(DETECTED_BY_A_RUNNING_WRITER, 2), ids=lambda damage: damage.__name__)
def test_a_store_lost_while_the_server_runs_is_replaced_by_an_empty_one(tmp_path: Path, damage: Damage) -> None:
    with SimulatedProvider() as provider, Server(tmp_path, provider.url) as server:
        server.record(send(server))
        damage(server.data / "store")
        for request_id in [send(server) for _ in range(20)]:
            server.record(request_id, 60)
        is_deleted = damage is delete_the_directory
        assert bool(server.events("store_deleted")) == is_deleted
        assert bool(server.events("store_set_aside")) != is_deleted
        if not is_deleted:
            assert list_set_aside(server.data / "store")
            wait_until(lambda: gaps(server))
        assert server.get("/api/status")["frames_lost"] == 0


@pytest.mark.parametrize("damage", sampled(DAMAGES, 2), ids=lambda damage: damage.__name__)
def test_a_store_lost_while_no_server_runs_is_replaced_by_an_empty_one_at_the_next_start(
    tmp_path: Path, damage: Damage
) -> None:
    with SimulatedProvider() as provider:
        with Server(tmp_path, provider.url) as server:
            server.record(send(server))
        damage(server.data / "store")
        with Server(tmp_path, provider.url) as server:
            server.record(send(server), 60)
            is_set_aside = damage not in (delete_the_database, delete_the_directory)
            assert bool(list_set_aside(server.data / "store")) == is_set_aside
            assert bool(gaps(server)) == is_set_aside
            assert len(server.records()) == 1
            assert [path for path in server.data.iterdir() if path.stat().st_mode & 0o077] == []


def test_segments_recorded_by_the_lost_store_do_not_count_as_a_loss(tmp_path: Path) -> None:
    """If the first segments of a run are missing, reading starts at the next segment, and no frame counts as lost."""
    with SimulatedProvider() as provider, Server(tmp_path, provider.url, "--segment-bytes", "1MiB") as server:
        # When segment 3 exists as the spare, segment 2 is in use.
        while not list(server.data.glob(f"journal/*/{3:016}.segment")):
            server.record(send(server, b" " * 300_000), 60)
        wait_until(lambda: not list(server.data.glob(f"journal/*/{1:016}.segment")), 60)
        delete_the_database(server.data / "store")
        ids = [send(server) for _ in range(20)]
        for request_id in ids:
            server.record(request_id, 60)
        logged = [record["id"] for record in server.records()]
        assert len(logged) == len(set(logged))
        assert server.get("/api/status")["frames_lost"] == 0


def test_a_users_directory_named_like_a_store_moved_aside_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "data" / "store.corrupt-from-monday").mkdir(parents=True)
    with SimulatedProvider() as provider, Server(tmp_path, provider.url) as server:
        server.record(send(server), 60)
        assert gaps(server) == []
        assert server.events("child_died") == []


def overwrite_the_schema(store: Path) -> None:
    """Move everything from the WAL to the database, and overwrite the pages that define the tables.

    Open connections keep the definitions in memory, so they do not read these pages again.
    """
    connection = sqlite3.connect(store / DATABASE)
    assert connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone() == (0, 0, 0)
    (page_bytes,) = connection.execute("PRAGMA page_size").fetchone()
    connection.close()
    with (store / DATABASE).open("r+b") as file:
        pages = list(iter(partial(file.read, page_bytes), b""))
        defining = [number for number, page in enumerate(pages) if number > 0 and b"CREATE TABLE" in page]
        assert defining
        for number in defining:
            file.seek(number * page_bytes)
            file.write(b"\x55" * page_bytes)


@pytest.mark.parametrize("damage", [overwrite_start, overwrite_the_schema])
def test_a_stop_keeps_the_journal_if_the_cache_of_the_recorder_hides_that_the_store_is_damaged(
    tmp_path: Path, damage: Damage
) -> None:
    with SimulatedProvider() as provider:
        with Server(tmp_path, provider.url) as server:
            ids = [send(server) for _ in range(3)]
            server.record(ids[-1], 60)
            damage(server.data / "store")
            ids += [send(server) for _ in range(3)]
        with Server(tmp_path, provider.url) as server:
            for request_id in ids:
                server.record(request_id, 60)
            assert len(server.records()) == 6
            assert server.get("/api/status")["frames_lost"] == 0


def test_a_segment_is_deleted_only_if_its_requests_can_be_read_without_the_cache_of_the_recorder(
    tmp_path: Path,
) -> None:
    with SimulatedProvider() as provider, Server(tmp_path, provider.url, "--segment-bytes", "1MiB") as server:
        ids = [send(server)]
        server.record(ids[0], 60)
        overwrite_the_schema(server.data / "store")
        ids += [send(server, b" " * 300_000) for _ in range(20)]
        wait_until(lambda: server.events("store_set_aside"))
        for request_id in ids:
            server.record(request_id, 60)
