"""Connect to a database of a ClickHouse server, run statements with deadlines, and translate errors.

``clickhouse-connect`` is imported when a connection is opened, because it is an optional dependency.
"""

import logging
import re
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, Final

import msgspec

from relaybook import clock
from relaybook.ids import id_text, new_id
from relaybook.log.store.errors import BatchRejected, DeadlinePassed, StoreFull, StoreMisconfigured, StoreUnavailable
from relaybook.settings.store_url import DatabaseAddress

_CONNECT_SECONDS: Final = 5
#: A server that sends nothing for this time is considered unavailable.
_RECEIVE_SECONDS: Final = 60
_INSERT_SECONDS: Final = 15
#: Interval at which the server is asked for its time.
_ASK_EVERY_NS: Final = 10 * clock.NANOSECONDS
#: Mutations run in the background. By default, some versions of the server respond only when a mutation has ended.
_IN_BACKGROUND: Final = {"mutations_sync": 0}
#: Statements with many ids are longer than the server's default limit.
_LONG: Final = {"max_query_size": 64 << 20}
_TIMEOUT_CODES: Final = (159, 160)
_DISK_FULL_CODE: Final = 243
_UNKNOWN_DATABASE_CODE: Final = 81
_WRONG_PASSWORD_CODES: Final = (192, 193, 516)
_NO_RIGHT_CODES: Final = (164, 497)
#: ClickHouse error codes for a value that is too large or out of range.
_BAD_VALUE_CODES: Final = (69, 128, 131, 321)
#: ClickHouse error codes for an incorrect query, an unknown setting or a disabled feature. On a server that supports
#: all statements of this package, these errors do not occur.
_UNSUPPORTED_CODES: Final = (80, 115, 344)
_HIGHEST_VERSION: Final = """
SELECT greatest(%(now)s, (SELECT max(version) FROM state) + 1, (SELECT max(version) FROM feedback) + 1)
"""
_TEXT: Final = re.compile(r"DB::Exception: (.*?)\.?(?: \([A-Z_]+\)|$)", re.DOTALL)

Row = tuple[Any, ...]
Values = Mapping[str, Any]


class Parameters:
    """Collects the values of a statement.

    The SQL text contains placeholders, which the server replaces with the values.
    """

    def __init__(self, values: Values = MappingProxyType({})) -> None:
        """``values`` are the values of other conditions in the same statement."""
        self.values: dict[str, Any] = dict(values)

    def add(self, value: Any, type_: str = "String") -> str:
        """Add a value and return its placeholder."""
        name = f"p{len(self.values)}"
        self.values[name] = value
        return f"{{{name}:{type_}}}"


def quoted(text: str) -> str:
    """Return text as an SQL literal. Mutations need literals, because they cannot have parameters."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _reason(error: BaseException) -> str:
    """Return the operating system's error message, or the error's own text if there is none."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror
        if isinstance(cause, TimeoutError):
            return "timed out"
        cause = cause.__cause__ or cause.__context__
    return str(error)[:300]


def _is_late(begun_ns: int, seconds: float) -> bool:
    """Return whether a statement took at least as long as its ``max_execution_time``.

    Its result cannot be used, because ClickHouse ends such statements: usually with an error, but sometimes with an
    empty result.
    """
    return clock.monotonic_ns() - begun_ns >= seconds * clock.NANOSECONDS


class Database:
    """A ClickHouse database. The connection is opened on first use, and again after a failure. Thread-safe."""

    def __init__(self, address: DatabaseAddress) -> None:
        self.address = address
        self._client: Any = None
        self._lock = threading.Lock()
        #: A time by the server's clock in microseconds, and the monotonic time in nanoseconds when that time was read.
        self._server_time: tuple[int, int] | None = None
        self._version = 0

    def server_us(self) -> int:
        """Return the time by the server's clock, in microseconds since 1970. Raises StoreUnavailable."""
        read, now_ns = self._server_time, clock.monotonic_ns()
        if read is None or now_ns - read[1] >= _ASK_EVERY_NS:
            ((server_us,),) = self.query("SELECT toUnixTimestamp64Micro(now64(6))")
            read = self._server_time = server_us, clock.monotonic_ns()
        return read[0] + (clock.monotonic_ns() - read[1]) // 1000

    def next_version(self) -> int:
        """Return a version for rows that replace other rows.

        The version comes from the server's clock. It is higher than all versions that this process has returned so far.
        It is also higher than all versions that were in the tables when this process began. Both are true even if the
        clock has gone back. Raises StoreUnavailable.
        """
        now_us = self.server_us()
        if self._version == 0:
            ((now_us,),) = self.query(_HIGHEST_VERSION, {"now": now_us})
        with self._lock:
            self._version = max(self._version + 1, now_us)
            return self._version

    def query(
        self, sql: str, values: Values | None = None, *, deadline_ns: int | None = None, as_bytes: Collection[str] = ()
    ) -> list[Row]:
        """Return the rows of a query. The columns in ``as_bytes`` are returned as bytes, and all other strings as text.

        Raises DeadlinePassed and StoreUnavailable.
        """
        settings: dict[str, Any] = {}
        begun_ns, seconds = clock.monotonic_ns(), float("inf")
        if deadline_ns is not None:
            seconds = (deadline_ns - begun_ns) / clock.NANOSECONDS
            if seconds <= 0:
                raise DeadlinePassed
            settings["max_execution_time"] = seconds = min(max(seconds, 0.001), _RECEIVE_SECONDS)
        # clickhouse-connect puts the values into the text of the query.
        if len(sql) + sum(len(str(value)) for value in (values or {}).values()) > 100_000:
            settings.update(_LONG)
        with self._translated(has_deadline=deadline_ns is not None):
            formats = dict.fromkeys(as_bytes, "bytes")
            rows: list[Row] = (
                self._connected()
                .query(sql, parameters=values or None, settings=settings, column_formats=formats)
                .result_rows
            )
        if _is_late(begun_ns, seconds):
            raise DeadlinePassed
        return rows

    def execute(self, sql: str, values: Values | None = None) -> None:
        """Run a statement without a result, or begin a mutation. Raises StoreUnavailable."""
        settings = _IN_BACKGROUND | (_LONG if len(sql) > 100_000 else {})
        with self._translated():
            self._connected().command(sql, parameters=values or None, settings=settings)

    def insert(self, table: str, types: Mapping[str, str], rows: Sequence[Sequence[Any]], query_id: str = "") -> None:
        """Insert rows in one block. ``types`` maps each column to its type.

        Raises BatchRejected if a value does not fit its column, and StoreUnavailable. After StoreUnavailable, the rows
        may be in the table, or may be inserted later. If the connection ends without a response, ``clickhouse-connect``
        immediately sends the rows again. Because of the deduplication token, the server drops rows that it already has.
        """
        if not rows:
            return
        begun_ns = clock.monotonic_ns()
        from clickhouse_connect.driver.exceptions import DatabaseError, DataError

        query_id = query_id or id_text(new_id())
        settings = {
            "async_insert": 0,
            "insert_deduplication_token": query_id,
            "max_execution_time": _INSERT_SECONDS,
            "query_id": query_id,
        }
        with self._translated():
            try:
                client = self._connected()
                context = client.create_insert_context(
                    table, list(types), column_type_names=list(types.values()), settings=settings
                )
                # All rows must be in one block. The server inserts blocks one by one, and would drop all blocks after
                # the first as duplicates.
                context.req_block_size = len(rows)
                client.insert(data=rows, context=context)
            except (DataError, ValueError, TypeError, OverflowError) as error:
                raise BatchRejected(f"A value cannot be stored: {error}") from error
            except DatabaseError as error:
                if error.code not in _BAD_VALUE_CODES:
                    raise
                raise BatchRejected(f"ClickHouse cannot store a value: {str(error)[:300]}") from error
        if _is_late(begun_ns, _INSERT_SECONDS):
            raise StoreUnavailable(f"ClickHouse at {self.address} took more than {_INSERT_SECONDS} s for an insert.")

    def damaged_parts(self, table: str) -> list[tuple[str, str]]:
        """Let the server check all parts of a table. Return the name and the problem of each damaged part."""
        with self._translated():
            lines: bytes = self._connected().raw_query(
                f"CHECK TABLE {table}", settings={"check_query_single_value_result": 0}, fmt="JSONEachRow"
            )
        parts = [msgspec.json.decode(line) for line in lines.splitlines()]
        return [(part["part_path"], part["message"]) for part in parts if not part["is_passed"]]

    def close(self) -> None:
        """Close the connections. Idempotent."""
        with self._lock:
            if self._client is not None:
                self._client.close()
                self._client = None

    def _connected(self) -> Any:
        with self._lock:
            if self._client is None:
                self._client = self._connect()
            return self._client

    def _connect(self) -> Any:
        try:
            import clickhouse_connect
            from clickhouse_connect.driver.httputil import default_pool_manager
        except ImportError:
            raise StoreMisconfigured(
                "A log in ClickHouse needs the package clickhouse-connect: pip install 'clickhouse-connect>=1.12'."
            ) from None
        for name in ("clickhouse_connect", "urllib3"):
            logging.getLogger(name).setLevel(logging.CRITICAL)  # the messages are also in Relaybook's errors
        host, port, database, user, password, secure = self.address
        return clickhouse_connect.get_client(
            host=host,
            port=port,
            database=database,
            username=user,
            password=password,
            interface="https" if secure else "http",
            connect_timeout=_CONNECT_SECONDS,
            send_receive_timeout=_RECEIVE_SECONDS,
            query_retries=0,
            autogenerate_session_id=False,  # requests with the same session cannot run at the same time
            client_name="relaybook",
            pool_mgr=default_pool_manager(),  # otherwise, the client would use the proxy of HTTP_PROXY
        )

    @contextmanager
    def _translated(self, *, has_deadline: bool = False) -> Iterator[None]:
        """Translate errors of ``clickhouse-connect`` into errors of a store."""
        try:
            yield
        except (StoreUnavailable, BatchRejected):
            raise
        except Exception as error:
            code = getattr(error, "code", None)
            if code in _TIMEOUT_CODES and has_deadline:
                raise DeadlinePassed from error
            if code == _DISK_FULL_CODE:
                raise StoreFull(f"The disk of {self.address} is full.") from error
            if code is not None:
                raise self._error(code, str(error)) from error
            if isinstance(error, OSError) or type(error).__module__.startswith(("clickhouse_connect", "urllib3")):
                raise StoreUnavailable(f"ClickHouse at {self.address} did not respond: {_reason(error)}.") from error
            raise

    def _error(self, code: int, text: str) -> StoreUnavailable:
        """Return the exception to raise for an error response of the server, which has this code and text."""
        host, port, database, user, *_ = self.address
        if code == _UNKNOWN_DATABASE_CODE:
            return StoreMisconfigured(
                f"There is no database {database} on {host}:{port}. To create the database, run CREATE DATABASE "
                f"{database}."
            )
        if code in _WRONG_PASSWORD_CODES:
            return StoreMisconfigured(
                f"ClickHouse at {host}:{port} rejected the user {user} or its password. Check --store and "
                "RELAYBOOK_STORE_PASSWORD."
            )
        found = _TEXT.search(text)
        reason = (found[1] if found else text)[:300]
        if code in _NO_RIGHT_CODES:
            return StoreMisconfigured(
                f"The user {user} may not use {self.address} as a log: {reason}. The user must be allowed to create, "
                "read, change and drop tables in this database, and to read the system tables."
            )
        if code in _UNSUPPORTED_CODES:
            return StoreMisconfigured(
                f"ClickHouse at {host}:{port} does not have a feature that a log needs: {reason}. Use version 26.9 or "
                "later."
            )
        return StoreUnavailable(f"ClickHouse at {self.address}: {reason}.")
