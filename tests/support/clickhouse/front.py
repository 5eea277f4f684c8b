"""Serve the HTTP interface of ClickHouse, backed by the real engine in this process (chdb).

For ``clickhouse-connect``, this program is a ClickHouse server. It supports compression in both directions, parameters,
settings per request, sessions, and errors in ClickHouse's format. It runs in a separate process, so that tests can kill
it: ``front.py DIRECTORY PORT [PASSWORD]`` prints its port once it listens.

After a request for ``/faults?refuse=0.1&lose=0.2&delay=0.5``, the server fails. It responds with 503 to a tenth of the
requests. It runs a fifth of them, but closes the connection without a response. It waits for half a second before it
runs a request.

Not supported: results larger than memory, summaries and progress, users other than ``default``, external data, and
everything that needs a cluster.
"""

import base64
import binascii
import gzip
import random
import re
import sys
import tempfile
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, Final
from urllib.parse import parse_qsl, urlsplit

import chdb
import lz4.frame
import zstandard

#: URL parameters that are not settings of the engine.
_NOT_SETTINGS: Final = frozenset(
    {
        "buffer_size",
        "cancel_http_readonly_queries_on_client_close",
        "client_protocol_version",
        "compress",
        "database",
        "decompress",
        "default_format",
        "enable_http_compression",
        "http_headers_progress_interval_ms",
        "password",
        "query",
        "query_id",
        "role",
        "send_progress_in_http_headers",
        "session_check",
        "session_id",
        "session_timeout",
        "user",
        "wait_end_of_query",
    }
)
#: The HTTP status of error codes, as in HTTPHandler.cpp; 500 for all others.
_STATUS: Final = {43: 400, 47: 404, 60: 404, 62: 400, 81: 404, 164: 403, 516: 403}
_WRONG_PASSWORD: Final = 516
_UNSUPPORTED: Final = 48
_PROCESSES: Final = b"system.processes"
_INSERT: Final = re.compile(rb"\s*(INSERT\s+INTO\s[^;]+?)\s+FORMAT\s+(\w+)[ \t]*\r?\n", re.IGNORECASE)
_CODE: Final = re.compile(r"Code: (\d+)")
_DECOMPRESS: Final = {
    "deflate": zlib.decompress,
    "gzip": gzip.decompress,
    "lz4": lz4.frame.decompress,
    "zstd": lambda data: zstandard.ZstdDecompressor().decompressobj().decompress(data),
}
_COMPRESS: Final = {
    "zstd": zstandard.ZstdCompressor(level=1).compress,
    "lz4": lz4.frame.compress,
    "gzip": gzip.compress,
    "deflate": zlib.compress,
}


class Refused(Exception):
    """A request that this server itself rejects, with an error code of ClickHouse."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"Code: {code}. DB::Exception: {message}")


class Engine:
    """Connections to the engine. Requests without a session share idle connections. A session keeps its own."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._lock = threading.Lock()
        self._idle: list[Any] = []
        self._sessions: dict[str, Any] = {}
        self._sessions_in_use: set[str] = set()
        #: The ids of the queries that are running.
        self.running: set[str] = set()
        # The engine ends with its last connection.
        self._first = chdb.connect(directory)

    def run(self, sql: bytes, data: bytes, url_parameters: dict[str, str], result_format: str) -> bytes:
        """Run a statement and return its result.

        ``data`` has the rows of an INSERT. They can also follow the statement in ``sql``.
        """
        if _PROCESSES in sql:
            # The engine does not know the ids of queries.
            running = ", ".join(f"'{query_id}'" for query_id in sorted(self.running))
            sql = sql.replace(_PROCESSES, f"(SELECT arrayJoin([{running}]::Array(String)) AS query_id)".encode())
        values = {name[6:]: value for name, value in url_parameters.items() if name.startswith("param_")}
        insert = _INSERT.match(sql + b"\n" if data else sql)
        with self._connection(url_parameters) as connection:
            if insert is None:
                if data:
                    raise Refused(_UNSUPPORTED, "External data is not supported by this test server. (NOT_IMPLEMENTED)")
                return bytes(connection.query(sql.decode(), result_format, params=values).bytes() or b"")
            with tempfile.NamedTemporaryFile() as rows:
                rows.write(data or sql[insert.end() :])
                rows.flush()
                statement = f"{insert[1].decode()} FROM INFILE '{rows.name}' FORMAT {insert[2].decode()}"
                connection.query(statement, params=values)
            return b""

    @contextmanager
    def _connection(self, url_parameters: dict[str, str]) -> Iterator[Any]:
        """Yield a connection with the database and the settings of a request."""
        session, database = url_parameters.get("session_id"), url_parameters.get("database") or "default"
        settings = {
            name: value
            for name, value in url_parameters.items()
            if name not in _NOT_SETTINGS and not name.startswith("param_")
        }
        connection = self._take(session)
        try:
            connection.query(f"USE {_quoted(database, '`')}")
            for name, value in settings.items():
                connection.query(f"SET {_quoted(name, '`')} = {_quoted(value, chr(39))}")
            yield connection
        finally:
            self._give_back(session, connection, settings)

    def _take(self, session: str | None) -> Any:
        with self._lock:
            if session is None:
                return self._idle.pop() if self._idle else chdb.connect(self._directory)
            if session in self._sessions_in_use:
                raise Refused(373, f"Session {session} is locked by a concurrent client. (SESSION_IS_LOCKED)")
            self._sessions_in_use.add(session)
            return self._sessions.pop(session, None) or chdb.connect(self._directory)

    def _give_back(self, session: str | None, connection: Any, settings: dict[str, str]) -> None:
        """Reset the settings of a request. A connection that cannot be reset, because it is read-only, is closed."""
        try:
            for name in settings:
                connection.query(f"SET {_quoted(name, '`')} = DEFAULT")
        except chdb.ChdbError:
            connection.close()
            connection = None
        with self._lock:
            if session is not None:
                self._sessions_in_use.discard(session)
                self._sessions[session] = connection
            elif connection is not None:
                self._idle.append(connection)


def _form_fields(content_type: str, body: bytes) -> dict[str, str]:
    """Return the parameters that a client sends as form fields, because they are too long for a URL."""
    form: Any = message_from_bytes(f"Content-Type: {content_type}\r\n\r\n".encode() + body, policy=HTTP)
    return {
        str(part.get_param("name", header="content-disposition")): part.get_payload(decode=True).decode()
        for part in form.walk()
        if not part.is_multipart()
    }


def _quoted(text: str, quote: str) -> str:
    return quote + text.replace("\\", "\\\\").replace(quote, "\\" + quote) + quote


class Handler(BaseHTTPRequestHandler):
    """One connection of a client. ``engine`` and ``password`` are set by ``serve``."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    engine: Engine
    password: str = ""
    faults: ClassVar[dict[str, float]] = {}

    def log_message(self, *_: object) -> None:
        """Print nothing."""

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        self._answer(self._read_body())

    def _read_body(self) -> bytes:
        if "content-length" in self.headers:
            return self.rfile.read(int(self.headers["content-length"]))
        body = bytearray()
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return bytes(body)

    def _answer(self, body: bytes) -> None:
        url = urlsplit(self.path)
        parameters = dict(parse_qsl(url.query, keep_blank_values=True))
        if url.path == "/faults":
            Handler.faults = {name: float(value) for name, value in parameters.items()}
        if url.path in ("/ping", "/faults"):
            self._send(200, b"Ok.\n", {})
            return
        time.sleep(self.faults.get("delay", 0))
        if random.random() < self.faults.get("refuse", 0):
            self._send(503, b"overloaded", {})
            return
        result_format = self.headers.get("x-clickhouse-format") or parameters.get("default_format", "TabSeparated")
        headers = {"X-ClickHouse-Format": result_format, "X-ClickHouse-Query-Id": parameters.get("query_id", "")}
        query_id = parameters.get("query_id", "")
        try:
            self.engine.running.add(query_id)
            self._check_password()
            body = self._decompressed(body)
            if "multipart/form-data" in self.headers.get("content-type", ""):
                parameters |= _form_fields(self.headers["content-type"], body)
                body = b""
            sql = parameters.get("query", "").encode()
            sql, data = (sql, body) if sql else (body, b"")
            status, result = 200, self.engine.run(sql, data, parameters, result_format)
        except Exception as error:  # Every failure of the engine is an answer to the client.
            message = str(error)
            message = message[max(0, message.find("Code: ")) :]
            found = _CODE.search(message)
            code = int(found[1]) if found else 1000
            status, result = _STATUS.get(code, 500), message.encode()
            headers["X-ClickHouse-Exception-Code"] = str(code)
        finally:
            self.engine.running.discard(query_id)
        if random.random() < self.faults.get("lose", 0):
            self.close_connection = True
            return
        if parameters.get("enable_http_compression") == "1" and result:
            accepted = {name.split(";")[0].strip() for name in self.headers.get("accept-encoding", "").split(",")}
            for encoding, compress in _COMPRESS.items():
                if encoding in accepted:
                    headers["Content-Encoding"] = encoding
                    result = compress(result)
                    break
        self._send(status, result, headers)

    def _check_password(self) -> None:
        given = self.headers.get("x-clickhouse-key", "")
        scheme, _, credentials = self.headers.get("authorization", "").partition(" ")
        if scheme == "Basic":
            try:
                given = base64.b64decode(credentials).decode().partition(":")[2]
            except (binascii.Error, UnicodeDecodeError):
                given = ""
        if given != self.password:
            raise Refused(
                _WRONG_PASSWORD,
                "default: Authentication failed: password is incorrect, or there is no user with such name. "
                "(AUTHENTICATION_FAILED)",
            )

    def _decompressed(self, body: bytes) -> bytes:
        encoding = self.headers.get("content-encoding", "")
        return bytes(_DECOMPRESS[encoding](body)) if encoding else body

    def _send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-ClickHouse-Summary", "{}")
        self.send_header("X-ClickHouse-Timezone", "UTC")
        self.send_header("X-ClickHouse-Server-Display-Name", "test")
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


class Server(ThreadingHTTPServer):
    """The HTTP server. Its threads end with the process."""

    daemon_threads = True
    # Clients open many connections at once.
    request_queue_size = 128


def serve(directory: str, port: int, password: str) -> None:
    """Serve until the process is killed. Prints the port."""
    Handler.engine, Handler.password = Engine(directory), password
    server = Server(("127.0.0.1", port), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else "")
