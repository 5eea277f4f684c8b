"""The log's database damaged, deleted or not ours: it is set aside, an empty one takes over, and the log says so."""

import http.client
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from tests.support.long import sampled
from tests.support.server import Server, SimulatedProvider, wait_until

from relaybook.log.store.sqlite.connection import DATABASE
from relaybook.log.store.sqlite.set_aside import list_set_aside

Harm = Callable[[Path], None]
PATH: Final = "/v1/chat/completions"
QUESTION: Final = b'{"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Hello"}]}'
HEADERS: Final = {"Content-Type": "application/json", "Authorization": "Bearer sk-any-caller"}


def ask(server: Server, space: bytes = b"") -> str:
    """One request through the relay, with so much white space behind its body; its id."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    connection.request("POST", PATH, QUESTION + space, HEADERS)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    assert answer.status == 200
    return answer.headers["Service-Request-Id"]


def overwrite_the_beginning(store: Path) -> None:
    with (store / DATABASE).open("r+b") as file:
        file.write(b"\x55" * 65536)


def delete_the_database(store: Path) -> None:
    for path in store.glob(DATABASE + "*"):
        path.unlink()


def delete_the_directory(store: Path) -> None:
    shutil.rmtree(store)


def put_another_programs_there(store: Path) -> None:
    delete_the_database(store)
    connection = sqlite3.connect(store / DATABASE)
    connection.execute("CREATE TABLE recipes (name TEXT)")
    connection.commit()
    connection.close()


def put_no_database_there(store: Path) -> None:
    delete_the_database(store)
    (store / DATABASE).write_text("These are my notes.\n" * 500)


HARMS = [
    overwrite_the_beginning,
    delete_the_database,
    delete_the_directory,
    put_another_programs_there,
    put_no_database_there,
]


def gaps(server: Server) -> list[dict[str, Any]]:
    return [gap for gap in server.get("/api/status")["gaps"] if gap["reason"] == "store_set_aside"]


#: SQLite notices the first only when it reads those pages again, which a running writer may never have to.
NOTICED_BY_A_RUNNING_WRITER = HARMS[1:]


@pytest.mark.parametrize("harm", sampled(NOTICED_BY_A_RUNNING_WRITER, 2), ids=lambda harm: harm.__name__)
def test_harmed_while_it_is_written_to_the_log_goes_on_in_an_empty_store(tmp_path: Path, harm: Harm) -> None:
    with SimulatedProvider(tmp_path) as provider, Server(tmp_path, provider.url) as server:
        server.record(ask(server))
        harm(server.data / "store")
        for request_id in [ask(server) for _ in range(20)]:
            server.record(request_id, 60)
        assert server.events("store_set_aside")
        if harm is not delete_the_directory:
            assert list_set_aside(server.data / "store")
            wait_until(lambda: gaps(server))
        assert server.get("/api/status")["frames_lost"] == 0


def test_overwritten_while_it_is_written_to_the_log_goes_on_and_so_does_the_next_start(tmp_path: Path) -> None:
    with SimulatedProvider(tmp_path) as provider:
        with Server(tmp_path, provider.url) as server:
            server.record(ask(server))
            overwrite_the_beginning(server.data / "store")
            for request_id in [ask(server) for _ in range(20)]:
                server.record(request_id, 60)
        with Server(tmp_path, provider.url) as server:
            server.record(ask(server), 60)
            assert server.get("/api/status")["frames_lost"] == 0


@pytest.mark.parametrize("harm", sampled(HARMS, 2), ids=lambda harm: harm.__name__)
def test_harmed_while_nothing_runs_the_next_start_begins_an_empty_store(tmp_path: Path, harm: Harm) -> None:
    with SimulatedProvider(tmp_path) as provider:
        with Server(tmp_path, provider.url) as server:
            server.record(ask(server))
        harm(server.data / "store")
        with Server(tmp_path, provider.url) as server:
            server.record(ask(server), 60)
            is_set_aside = harm not in (delete_the_database, delete_the_directory)
            assert bool(list_set_aside(server.data / "store")) == is_set_aside
            assert bool(gaps(server)) == is_set_aside
            assert len(server.records()) == 1
            assert [path for path in server.data.iterdir() if path.stat().st_mode & 0o077] == []


def test_segments_that_the_lost_store_had_recorded_are_not_missed(tmp_path: Path) -> None:
    """A run whose first files are gone already is read from the first that is left, and no frame counts as lost."""
    with SimulatedProvider(tmp_path) as provider, Server(tmp_path, provider.url, "--segment-bytes", "1MiB") as server:
        while not list(server.data.glob(f"journal/*/{3:016}.segment")):  # the spare one, so the second is in use
            server.record(ask(server, b" " * 300_000), 60)
        wait_until(lambda: not list(server.data.glob(f"journal/*/{1:016}.segment")), 60)
        delete_the_database(server.data / "store")
        ids = [ask(server) for _ in range(20)]
        for request_id in ids:
            server.record(request_id, 60)
        logged = [record["id"] for record in server.records()]
        assert len(logged) == len(set(logged))
        assert server.get("/api/status")["frames_lost"] == 0


def test_a_directory_that_a_person_named_like_one_set_aside_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "data" / "store.corrupt-from-monday").mkdir(parents=True)
    with SimulatedProvider(tmp_path) as provider, Server(tmp_path, provider.url) as server:
        server.record(ask(server), 60)
        assert gaps(server) == []
        assert server.events("child_died") == []
