"""The ClickHouse test server behaves like a server for ``clickhouse-connect``."""

import socket
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import pytest
from tests.support.clickhouse.server import ClickHouse, needs_clickhouse, needs_own_server

pytestmark = [needs_clickhouse, needs_own_server]


@pytest.fixture
def server() -> Iterator[ClickHouse]:
    started = ClickHouse()
    yield started
    started.close()


@pytest.fixture
def client(server: ClickHouse) -> Iterator[Any]:
    with connect(server) as opened:
        yield opened


def connect(server: ClickHouse, **options: Any) -> Any:
    import clickhouse_connect

    defaults: dict[str, Any] = {"autogenerate_session_id": False, "query_retries": 0}
    return clickhouse_connect.get_client(host="127.0.0.1", port=server.port, **{**defaults, **options})


def error_of(client: Any, sql: str) -> str:
    from clickhouse_connect.driver.exceptions import DatabaseError

    with pytest.raises(DatabaseError) as caught:
        client.query(sql)
    return str(caught.value)


def test_version_of_the_engine_is_known(client: Any) -> None:
    assert client.ping()
    assert int(client.server_version.split(".")[0]) >= 26


@pytest.mark.parametrize("compression", [False, "lz4", "zstd", "gzip"])
def test_inserted_rows_are_read_back(server: ClickHouse, compression: Any) -> None:
    rows: list[list[Any]] = [
        [1, "Grüße\n'\\", b"\x00\xff\n", {"user-id": "42"}, None, datetime(2026, 11, 21, tzinfo=UTC)],
        [2**64 - 1, "", b"", {}, 1.5, datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)],
    ]
    with connect(server, compress=compression) as client:
        client.command(
            "CREATE TABLE t (n UInt64, text String, raw String, properties Map(LowCardinality(String), String), "
            "cost Nullable(Float64), at DateTime64(6, 'UTC')) ENGINE = MergeTree ORDER BY n"
        )
        client.insert("t", rows, column_names=["n", "text", "raw", "properties", "cost", "at"])
        formats = {"raw": "bytes"}
        read = client.query("SELECT * FROM t ORDER BY n", column_formats=formats, tz_mode="aware").result_rows
    assert [list(row) for row in read] == rows


def test_parameters_are_values_not_sql(client: Any) -> None:
    values = {"text": "it's \\ a\tline\n{x:String}", "numbers": [1, 2], "none": None}
    sql = "SELECT {text:String}, {numbers:Array(UInt8)}, {none:Nullable(String)}"
    assert client.query(sql, parameters=values).result_rows == [(values["text"], [1, 2], None)]


def test_settings_apply_to_one_request(client: Any) -> None:
    sql = "SELECT getSetting('max_block_size')"
    before = client.query(sql).result_rows
    assert client.query(sql, settings={"max_block_size": 17}).result_rows == [(17,)]
    assert client.query(sql).result_rows == before


def test_a_read_only_request_cannot_write_and_the_next_one_can(client: Any) -> None:
    from clickhouse_connect.driver.exceptions import DatabaseError

    create = "CREATE TABLE written (n UInt8) ENGINE = MergeTree ORDER BY n"
    with pytest.raises(DatabaseError, match="164"):
        client.command(create, settings={"readonly": 1})
    assert client.query("SELECT 1", settings={"readonly": 1}).result_rows == [(1,)]
    client.command(create)
    assert client.query("SELECT count() FROM written").result_rows == [(0,)]


@pytest.mark.parametrize(
    ("sql", "code"),
    [("SELECT (", "62"), ("SELECT * FROM missing", "60"), ("SELECT missing", "47"), ("SELECT throwIf(1)", "395")],
)
def test_an_error_has_the_code_of_the_engine(client: Any, sql: str, code: str) -> None:
    assert f"code: {code}" in error_of(client, sql).lower()
    assert client.query("SELECT 1").result_rows == [(1,)]


def test_a_missing_database_is_an_error(server: ClickHouse) -> None:
    from clickhouse_connect.driver.exceptions import DatabaseError

    with pytest.raises(DatabaseError, match="81"):
        connect(server, database="missing").query("SELECT 1")


def test_the_database_of_a_client_is_used(server: ClickHouse, client: Any) -> None:
    client.command("CREATE DATABASE relaybook")
    client.command("CREATE TABLE relaybook.t (n UInt8) ENGINE = MergeTree ORDER BY n")
    with connect(server, database="relaybook") as other:
        other.insert("t", [[7]], column_names=["n"])
        assert other.query("SELECT n FROM t").result_rows == [(7,)]
    assert "code: 60" in error_of(client, "SELECT n FROM t").lower()


def test_a_wrong_password_is_rejected() -> None:
    from clickhouse_connect.driver.exceptions import DatabaseError

    server = ClickHouse("right")
    try:
        with connect(server, password="right") as client:
            assert client.query("SELECT 1").result_rows == [(1,)]
        with pytest.raises(DatabaseError, match="516"):
            connect(server, password="wrong")
    finally:
        server.close()


def test_a_session_keeps_its_temporary_tables(server: ClickHouse, client: Any) -> None:
    with connect(server, session_id="one") as session:
        session.command("CREATE TEMPORARY TABLE mine (n UInt8)")
        session.command("INSERT INTO mine VALUES (3)")
        assert session.query("SELECT n FROM mine").result_rows == [(3,)]
    assert "code: 60" in error_of(client, "SELECT n FROM mine").lower()


def test_a_session_runs_one_request_at_a_time(server: ClickHouse, client: Any) -> None:
    from clickhouse_connect.driver.exceptions import DatabaseError, OperationalError

    running = "SELECT count() FROM system.processes WHERE query_id = 'slow'"
    with connect(server, session_id="one") as session, ThreadPoolExecutor(1) as pool:
        settings = {"max_block_size": 1, "query_id": "slow"}
        slow = pool.submit(session.query, "SELECT sleepEachRow(1) FROM numbers(60)", settings=settings)
        try:
            while client.query(running).result_rows == [(0,)]:
                assert not slow.done()
            with pytest.raises(DatabaseError, match="code: 373"):
                connect(server, session_id="one").query("SELECT 1")
        finally:
            server.kill()
        with pytest.raises(OperationalError):
            slow.result()


def test_rows_are_streamed_in_blocks(client: Any) -> None:
    with client.query_row_block_stream("SELECT number FROM numbers(200000)") as blocks:
        assert sum(len(block) for block in blocks) == 200_000


def test_requests_run_at_the_same_time(server: ClickHouse, client: Any) -> None:
    client.command("CREATE TABLE t (n UInt64) ENGINE = MergeTree ORDER BY n")

    def insert(number: int) -> None:
        with connect(server) as own:
            for each in range(5):
                own.insert("t", [[number * 5 + each]], column_names=["n"], settings={"max_block_size": 99})
                own.query("SELECT count() FROM t")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(insert, range(8)))
    assert client.query("SELECT count(), uniqExact(n) FROM t").result_rows == [(40, 40)]


def test_a_repeated_token_is_dropped_also_after_a_kill(server: ClickHouse, client: Any) -> None:
    client.command(
        "CREATE TABLE t (n UInt64) ENGINE = MergeTree ORDER BY n SETTINGS non_replicated_deduplication_window = 100"
    )
    rows = [[number] for number in range(100)]

    def insert(token: str) -> None:
        client.insert("t", rows, column_names=["n"], settings={"insert_deduplication_token": token})

    insert("node-1")
    insert("node-1")
    assert client.query("SELECT count() FROM t").result_rows == [(100,)]
    server.kill()
    server.start()
    insert("node-1")
    assert client.query("SELECT count() FROM t").result_rows == [(100,)]
    insert("node-2")
    assert client.query("SELECT count() FROM t").result_rows == [(200,)]


def test_a_killed_server_refuses_connections(server: ClickHouse) -> None:
    server.kill()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", server.port), timeout=5)
    server.start()
    with urllib.request.urlopen(f"http://127.0.0.1:{server.port}/ping") as response:
        assert response.read() == b"Ok.\n"


def test_an_unsupported_request_is_an_error(client: Any) -> None:
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(f"{client.url}/?query=SELECT+1", data=b"rows")
    assert b"External data is not supported" in caught.value.read()
