"""Malformed requests: one case of each kind, its response, and whether the request is recorded or counted.

``python -m tests.integration.test_bad_input`` generates docs/reference/malformed-requests.md from the tables here and
in ``tests.support.hostile``. A test checks that the page matches the tables.
"""

import base64
import gzip
import hashlib
import http.client
import json
import re
import socket
import ssl
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlsplit

import pytest
import trustme
from tests.support.each import check_each
from tests.support.hostile.cases import CASES, SLOW_CASES
from tests.support.hostile.more_cases import MORE_CASES
from tests.support.long import LONG
from tests.support.needs import PREFIX
from tests.support.process_usage import peak_memory
from tests.support.raw_http import CHUNKED, LENGTH, QUESTION, Response, parse, request, send_raw, send_request
from tests.support.server import Server, SimulatedProvider, wait_until
from tests.support.simulated_upstream import Ledger, World, put_script

from relaybook.log.store.sqlite.reader import SqliteReader
from relaybook.server.data_directory import DataDirectory

PAGE: Final = Path(__file__).parents[2] / "docs" / "reference" / "malformed-requests.md"
MIB: Final = 1 << 20
GIB: Final = 1 << 30


# -- the tables ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BodyCase:
    """A body that is not a valid chat request. The client gets the upstream's response."""

    what: str
    body: bytes
    status: int
    lines: tuple[bytes, ...] = ()
    #: Fields of the record that are extracted from the body although the body is invalid.
    record: dict[str, Any] = field(default_factory=dict)
    #: The code of the error if the body is the response to a chat request. The valid JSON here has no output.
    response_error: str = "not_understood"


def _chat(content: str, *more: str) -> bytes:
    """Return a chat request with this JSON as the message content and with additional fields."""
    fields = ['"model": "gpt-4o-mini"', f'"messages": [{{"role": "user", "content": {content}}}]', *more]
    return ("{" + ", ".join(fields) + "}").encode()


BODY_CASES: Final = [
    BodyCase("no body", b"", 400, record={"model": None, "request_bytes": 0}, response_error="stream_incomplete"),
    BodyCase("not JSON", b"model=gpt-4o-mini&messages=hello", 400, record={"model": None}, response_error="not_json"),
    BodyCase("truncated JSON", QUESTION[:-9], 400, response_error="stream_incomplete"),
    BodyCase("an array", b"[1, 2, 3]", 400, record={"model": None}),
    BodyCase("a number", b"7", 400, record={"model": None}),
    BodyCase("fields of the wrong type", b'{"model": 7, "messages": "hello", "stream": "yes"}', 400),
    BodyCase("a lone surrogate", _chat('"\\ud800"'), 400),
    BodyCase("NUL in the text", _chat('"a\\u0000b"'), 200, record={"model": "gpt-4o-mini"}),
    BodyCase("NUL bytes", b"\x00" * 100, 400, record={"model": None}, response_error="not_json"),
    BodyCase("an integer with 5,000 digits", _chat('"a"', '"x": ' + "7" * 5000), 200),
    BodyCase("100,000 nested arrays", b"[" * 100_000, 400, record={"model": None}, response_error="stream_incomplete"),
    BodyCase(
        "100,000 nested arrays in a chat request",
        _chat('"a"', '"x": ' + "[" * 100_000 + "]" * 100_000),
        400,
        response_error="not_json",
    ),
    BodyCase("UTF-16", QUESTION.decode().encode("utf-16"), 400),
    BodyCase("a byte order mark", b"\xef\xbb\xbf" + QUESTION, 400),
    BodyCase("bytes that are not UTF-8", _chat('"caf\xe9"').replace("é".encode(), b"\xe9"), 400),
    BodyCase("a duplicate field", _chat('"a"', '"stream": false', '"stream": false'), 200),
    BodyCase("`NaN`", _chat('"a"', '"temperature": NaN'), 400),
    BodyCase("HTML and escape sequences in the text", _chat('"<script>alert(1)</script> \\u001b[31m\\u202e"'), 200),
    BodyCase("the wrong `Content-Type`", QUESTION, 200, (b"Content-Type: text/plain",)),
    BodyCase(
        "a multipart form",
        b"--x\r\n\r\n\r\n--x--",
        400,
        (b"Content-Type: multipart/form-data; boundary=x",),
        response_error="not_json",
    ),
    BodyCase("gzip-compressed JSON", gzip.compress(QUESTION, mtime=0), 400, (b"Content-Encoding: gzip",)),
    BodyCase(
        "gzip that decompresses to 256 MiB",
        gzip.compress(bytes(MIB), mtime=0) * 256,
        400,
        (b"Content-Encoding: gzip",),
        response_error="not_json",
    ),
    BodyCase("invalid gzip", b"\x1f\x8b nonsense", 400, (b"Content-Encoding: gzip",), response_error="not_json"),
]


@dataclass(frozen=True)
class TagCase:
    """Tags that the relay adjusts, or that only look wrong. ``codes`` are the expected warnings, in order."""

    what: str
    lines: tuple[bytes, ...]
    codes: tuple[str, ...] = ()
    namespace: str = "default"
    properties: dict[str, str] = field(default_factory=dict)
    body_state: str = "stored"


def _cut(text: str) -> str:
    return f"{text[:239]}~{hashlib.sha256(text.encode()).hexdigest()[:16]}"


_PROPERTIES: Final = {f"p{number:02d}": str(number) for number in range(64)}
_LONG: Final = "n" * 257

TAG_CASES: Final = [
    TagCase("an empty namespace (the default is used)", (b"Service-Namespace:",)),
    TagCase("a namespace of 256 characters", (b"Service-Namespace: " + b"n" * 256,), namespace="n" * 256),
    TagCase(
        "a namespace of 257 characters", (f"Service-Namespace: {_LONG}".encode(),), ("namespace_cut",), _cut(_LONG)
    ),
    TagCase(
        "a property value of 300 characters",
        (b"Service-Property-Note: " + b"v" * 300,),
        ("value_cut",),
        properties={"note": _cut("v" * 300)},
    ),
    TagCase(
        "control characters, percent-encoded",
        (b"Service-Namespace: a%0d%0aService-Evil: 1%00",),
        ("control_characters_replaced",),
        "a\ufffd\ufffdService-Evil: 1\ufffd",
    ),
    TagCase("a percent sign that is not an escape", (b"Service-Namespace: 50%off",), namespace="50%off"),
    TagCase("percent-encoded bytes that are not UTF-8", (b"Service-Namespace: %ff%fe",), namespace="%ff%fe"),
    TagCase("raw UTF-8", ("Service-Namespace: Größe 東京".encode(),), namespace="Größe 東京"),
    TagCase("Latin-1 bytes", (b"Service-Namespace: caf\xe9",), ("not_utf8",), "café"),
    TagCase(
        "two different namespaces (the first is used)",
        (b"Service-Namespace: a", b"service-namespace: b"),
        ("duplicate_tag",),
        "a",
    ),
    TagCase("the same namespace twice", (b"Service-Namespace: a", b"Service-Namespace: a"), namespace="a"),
    TagCase(
        "a property twice, in two spellings (the first is used)",
        (b"Service-Property-User-Id: 1", b"Service-Property-user_id: 2"),
        ("duplicate_tag",),
        properties={"user-id": "1"},
    ),
    TagCase(
        "65 properties (the first 64 are used)",
        tuple(f"Service-Property-{name}: {value}".encode() for name, value in {**_PROPERTIES, "late": "x"}.items()),
        ("too_many_properties",),
        properties=_PROPERTIES,
    ),
    TagCase("a misspelled header (the warning suggests the right one)", (b"Service-Namspace: a",), ("unknown_header",)),
    TagCase("a property without a name", (b"Service-Property-: a",), ("unknown_header",)),
    TagCase(
        "an unknown value of `Service-Log` (treated as `no-bodies`)",
        (b"Service-Log: none",),
        ("unknown_log_value",),
        body_state="no_bodies",
    ),
    TagCase(
        "`Service-Log: full`, then `no-bodies` (`no-bodies` is used)",
        (b"Service-Log: full", b"Service-Log: no-bodies"),
        ("duplicate_tag",),
        body_state="no_bodies",
    ),
    TagCase(
        "several of these problems",
        (f"Service-Namespace: {_LONG}".encode(), b"Service-Log: ?", b"Service-Namespce: b"),
        ("namespace_cut", "unknown_log_value", "unknown_header"),
        _cut(_LONG),
        body_state="no_bodies",
    ),
    TagCase("markup (stored and displayed as text)", (b"Service-Namespace: <script>",), namespace="<script>"),
]


@dataclass(frozen=True)
class UpstreamCase:
    """An upstream that fails before it responds. The relay sends an error response to the client."""

    what: str
    directives: tuple[bytes, ...]
    status: int
    code: str


def _raw(lines: bytes) -> bytes:
    """Return the directive for a chunked response with these header lines."""
    response = b"HTTP/1.1 200 OK\r\n" + lines + b"\r\n3\r\nabc\r\n0\r\n\r\n"
    return b"Sim-Raw: " + base64.b64encode(response)


UPSTREAM_CASES: Final = [
    UpstreamCase("closes before the response", (b"Sim-Break: head",), 502, "upstream_reset"),
    UpstreamCase("resets before the response", (b"Sim-Break: head rst",), 502, "upstream_reset"),
    UpstreamCase("closes within the response headers", (b"Sim-Break: head:10",), 502, "upstream_reset"),
    UpstreamCase("sends something other than HTTP", (b"Sim-Raw: bm9uc2Vuc2UNCg0K",), 502, "upstream_protocol_error"),
    UpstreamCase(
        "sends a malformed status line", (b"Sim-Status-Line: HTTP/1.1%20abc",), 502, "upstream_protocol_error"
    ),
    UpstreamCase(
        "sends two different `Content-Length` headers",
        (b"Sim-Header: content-length: 5",),
        502,
        "upstream_protocol_error",
    ),
    UpstreamCase(
        "sends `Transfer-Encoding: chunked` twice",
        (_raw(b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),),
        502,
        "upstream_protocol_error",
    ),
    UpstreamCase(
        "sends `Transfer-Encoding: gzip, chunked`",
        (_raw(b"Transfer-Encoding: gzip, chunked\r\n"),),
        502,
        "upstream_protocol_error",
    ),
    UpstreamCase("sends 200 headers", (b"Sim-Header-Fill: 200",), 502, "upstream_protocol_error"),
    UpstreamCase("sends 128 KiB of headers", (b"Sim-Header-Fill: 64 2048",), 502, "upstream_protocol_error"),
    UpstreamCase("sends 101 without an upgrade request", (b"Sim-Status: 101",), 502, "upstream_protocol_error"),
    UpstreamCase("sends nine interim responses", (b"Sim-Interim: 103*9",), 502, "upstream_protocol_error"),
    UpstreamCase("sends no response within `upstream_timeout`", (b"Sim-Break: head hang",), 504, "upstream_timeout"),
]

#: Cases with separate tests below. The columns are group, case, response, code, and recorded or counted.
OTHER_ROWS: Final = [
    ("Size", "`Content-Length` over `max_request_bytes`", "413", "`request_too_large`", "recorded, refused"),
    ("Size", "a chunked body over `max_request_bytes`", "413", "`request_too_large`", "recorded, refused"),
    ("Size", "a body of 64 MiB", "the upstream's response", "", "recorded with the whole body"),
    (
        "Size",
        "a body of 1 GiB on a path whose format is not supported",
        "the upstream's response",
        "",
        "recorded with the body's first 64 KiB, length and SHA-256",
    ),
    ("Upstream", "does not accept connections", "502", "`upstream_unreachable`", "recorded, upstream_failed"),
    ("Upstream", "cannot be resolved", "502", "`upstream_unreachable`", "recorded, upstream_failed"),
    ("Upstream", "has an untrusted certificate", "502", "`upstream_unreachable`", "recorded, upstream_failed"),
    (
        "Upstream",
        "has a certificate for another host",
        "502",
        "`upstream_unreachable`",
        "recorded, upstream_failed",
    ),
    (
        "Upstream",
        "ends a stream before its last chunk, between two events or within an event",
        "the stream so far, then a cut connection",
        "`upstream_stream_interrupted`",
        "recorded, upstream_failed",
    ),
    (
        "Upstream",
        "sends nothing in a stream for `idle_timeout`",
        "the stream so far, then a cut connection",
        "`upstream_stream_interrupted`",
        "recorded, upstream_failed",
    ),
    (
        "Upstream",
        "sends less than `Content-Length`",
        "the response so far, then a cut connection",
        "`upstream_reset`",
        "recorded, upstream_failed",
    ),
    ("Upstream", "responds with 500 and HTML", "500, unchanged", "", "recorded, complete"),
    ("Upstream", "sends a redirect", "the redirect, not followed", "", "recorded, complete"),
    ("Load", "more requests than `max_in_flight`", "503 and `retry-after-ms`", "`overloaded`", "counted"),
    ("Load", "more connections than `max_connections`", "503 and `retry-after-ms`", "`overloaded`", "counted"),
]

HEAD: Final = """\
# Malformed requests

This page shows how the relay responds to malformed requests, unusual bodies and tags, and upstream failures. The page
is generated from the tables in `tests/integration/test_bad_input.py` and `tests/support/hostile/`. Tests send every
case in these tables. [Errors and warnings](errors.md) explains the error codes.

The relay rejects malformed HTTP and closes the connection. The relay does not repair requests. A request with malformed
headers never reaches the upstream. If the chunks or trailers of a body are malformed, the relay aborts the upstream
request. If the HTTP is well-formed, the relay forwards the body without parsing it, and the upstream decides how to
respond. No case affects other requests: the tests send a valid request after each case.

A bold line applies to the cases below it. The line shows the response, error or warning codes, and whether the requests
are recorded or counted:

- **recorded**: the log has one record. If the bold line names an outcome, the record has this outcome. The response has
  `Service-Request-Id`.
- **counted**: the log has no record. The request is counted in `relaybook_refused_total{code="…"}` of `/metrics` and
  in `refused` of `/api/status`.
"""


def bad_input_page() -> str:
    """Return the whole content of docs/reference/malformed-requests.md."""
    sections: dict[str, list[tuple[str, str, str, str]]] = {}
    for case in [*CASES, *MORE_CASES, *SLOW_CASES]:
        row = (case.what, str(case.status), f"`{case.code}`", case.kept)
        sections.setdefault(case.group, []).append(row)
    for body in BODY_CASES:
        row = (
            body.what,
            f"the upstream's response ({body.status} from the simulated upstream)",
            "",
            "recorded, complete",
        )
        sections.setdefault("Bodies", []).append(row)
    for tag in TAG_CASES:
        codes = ", ".join(f"`{code}`" for code in tag.codes)
        sections.setdefault("Tags", []).append((tag.what, "the upstream's response", codes, "recorded, complete"))
    for failure in UPSTREAM_CASES:
        row = (failure.what, str(failure.status), f"`{failure.code}`", "recorded, upstream_failed")
        sections.setdefault("Upstream", []).append(row)
    for group, *other in OTHER_ROWS:
        sections.setdefault(group, []).append((other[0], other[1], other[2], other[3]))
    return HEAD + "".join(_section(name, rows) for name, rows in sections.items())


def _section(name: str, rows: Sequence[tuple[str, str, str, str]]) -> str:
    intros = {
        "Tags": "A tag never makes a request fail. If a tag cannot be used as it was sent, the response has a warning."
        "\n\n",
        "Chunks": "A request is admitted before its body is read, so these requests are recorded.\n\n",
        "Upstream": "Each item completes a sentence that begins with “The upstream”.\n\n",
    }
    groups: dict[str, list[str]] = {}
    for case, response, code, kept in rows:
        recorded = re.sub(r"^recorded, (\w+)$", r"recorded as `\1`", kept)
        result = ", ".join(filter(None, (response, code, recorded)))
        groups.setdefault(result[:1].upper() + result[1:], []).append(case)
    lists = [f"**{result}**\n\n" + "".join(f"- {case}\n" for case in cases) for result, cases in groups.items()]
    return f"\n## {name}\n\n{intros.get(name, '')}" + "\n".join(lists)


def test_the_page_of_malformed_requests_is_up_to_date() -> None:
    assert PAGE.read_text("utf-8") == bad_input_page(), "run: python -m tests.integration.test_bad_input"


def test_no_case_is_on_the_page_twice() -> None:
    names = [line for line in bad_input_page().splitlines() if line.startswith("- ")]
    assert len(names) > 200
    assert len(names) == len(set(names))


# -- worlds --------------------------------------------------------------------------------------------------------


@contextmanager
def new_world(directory: Path, *flags: str) -> Iterator[World]:
    with SimulatedProvider() as provider, Server(directory, provider.url, *flags) as server:
        yield World(server, provider)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with new_world(tmp_path_factory.mktemp("bad-input"), "--max-request-bytes", "1MiB") as created:
        yield created


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Start a relay with short timeouts for its upstream."""
    flags = ("--upstream-timeout", "500ms", "--idle-timeout", "500ms")
    with new_world(tmp_path_factory.mktemp("hasty"), *flags) as created:
        yield created


def upstream_port(world: World) -> int:
    """Return the port of the simulated upstream."""
    return urlsplit(world.provider.url).port or 0


def what(case: BodyCase | TagCase | UpstreamCase) -> str:
    return case.what


def id_of(response: Response) -> str:
    return response.header("service-request-id") or ""


# -- bodies --------------------------------------------------------------------------------------------------------


def body_request(case: BodyCase, *more: bytes) -> bytes:
    lines = case.lines or (b"Content-Type: application/json",)
    return request(*lines, b"Content-Length: %d" % len(case.body), b"Connection: close", *more, body=case.body)


def test_an_invalid_body_is_forwarded_unchanged_and_gets_the_upstreams_response(world: World) -> None:
    responses: dict[str, Response] = {}

    def check_response(case: BodyCase) -> None:
        ledger = Ledger(world.provider)
        responses[case.what] = response = parse(send_raw(world.server.port, body_request(case)))
        (forwarded,) = ledger.requests()
        assert forwarded["body_sha256"] == hashlib.sha256(case.body).hexdigest()
        assert response.status == case.status
        if response.status >= 400:
            assert response.body == parse(send_raw(upstream_port(world), body_request(case))).body
        world.assert_undisturbed(Ledger(world.provider))

    def check_record(case: BodyCase) -> None:
        record_id = id_of(responses[case.what])
        record = world.server.record(record_id)
        assert (record["outcome"], record["status"], record["failed"]) == ("complete", case.status, case.status >= 400)
        assert {name: record[name] for name in case.record} == case.record
        assert record["request_bytes"] == len(case.body)
        assert world.server.body(record_id, "request") == case.body

    check_each(BODY_CASES, check_response, what)
    check_each(BODY_CASES, check_record, what)


def test_the_log_is_readable_with_every_invalid_body_in_it(world: World) -> None:
    answers = [parse(send_raw(world.server.port, body_request(case, b"Service-Namespace: bad"))) for case in BODY_CASES]
    for response in answers:
        world.server.record(id_of(response))
    found = {row["id"] for row in world.server.records("namespace=bad")}
    assert found == {id_of(response) for response in answers}


def test_an_invalid_body_in_a_response_is_returned_unchanged(world: World) -> None:
    """The upstream sends the bytes of the case as a JSON response with status 200."""
    responses: dict[str, Response] = {}

    def check_response(case: BodyCase) -> None:
        sent = request(b"Content-Type: application/json", LENGTH, b"Connection: close", body=QUESTION)
        script = {"headers": [["content-type", "application/json"]], "body": base64_of(case.body)}
        put_script(world.provider, "bad", script)
        sent = sent.replace(b"Connection:", b"Sim-Script: bad\r\nConnection:")
        responses[case.what] = response = parse(send_raw(world.server.port, sent))
        assert (response.status, response.body) == (200, case.body)

    def check_record(case: BodyCase) -> None:
        record_id = id_of(responses[case.what])
        record = world.server.record(record_id)
        assert (record["outcome"], record["response_bytes"]) == ("complete", len(case.body))
        assert (record["failed"], record["error_code"]) == (True, case.response_error)
        assert record["input_preview"] == "Hello"
        assert world.server.body(record_id, "response") == case.body

    check_each(BODY_CASES, check_response, what)
    check_each(BODY_CASES, check_record, what)


def base64_of(data: bytes) -> str:
    return base64.b64encode(data).decode()


# -- size ----------------------------------------------------------------------------------------------------------


def test_a_length_over_the_limit_is_rejected_before_the_upstream_is_contacted(world: World) -> None:
    ledger = Ledger(world.provider)
    response = parse(send_raw(world.server.port, request(b"Content-Length: %d" % (MIB + 1), body=b"x")))
    assert (response.status, response.error["code"]) == (413, "request_too_large")
    assert "max_request_bytes" in response.error["message"]
    assert {entry["event"] for entry in ledger.entries()} <= {"gone"}
    record = world.server.record(id_of(response))
    assert (record["outcome"], record["status"], record["failed"]) == ("refused", 413, True)
    world.assert_undisturbed(ledger)


def test_a_chunked_body_over_the_limit_is_rejected(world: World) -> None:
    ledger = Ledger(world.provider)
    chunk = b"10000\r\n" + bytes(1 << 16) + b"\r\n"
    response = parse(send_raw(world.server.port, request(CHUNKED), *[chunk] * 17))
    assert (response.status, response.error["code"]) == (413, "request_too_large")
    assert response.header("connection") == "close"
    record = world.server.record(id_of(response))
    assert (record["outcome"], record["status"]) == ("refused", 413)
    world.assert_undisturbed(ledger)


def test_a_body_of_exactly_the_limit_is_forwarded(tmp_path: Path) -> None:
    with new_world(tmp_path, "--max-request-bytes", str(len(QUESTION))) as world:
        assert send_request(world.server.port).status == 200


class Sink:
    """An upstream that reads bodies and responds with their length. Only the ``digest`` of the bodies is kept."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._tls = tls
        self.port: int = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/v1"
        self.digest = hashlib.sha256()
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            connection, _ = self._listener.accept()
            with connection:
                try:
                    if not self._respond(
                        self._tls.wrap_socket(connection, server_side=True) if self._tls else connection
                    ):
                        return
                except OSError:
                    continue

    def _respond(self, connection: socket.socket) -> bool:
        """Respond to one request. Returns `False` if the request asks the upstream to stop."""
        with connection, connection.makefile("rb") as file:
            first = file.readline()
            if not first.startswith(b"POST"):
                return False
            length = 0
            while (line := file.readline()) not in (b"\r\n", b""):
                name, _, value = line.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
            left = length
            while left and (data := file.read(min(left, MIB))):
                self.digest.update(data)
                left -= len(data)
            body = b'{"bytes": %d}' % (length - left)
            head = (
                b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
            )
            connection.sendall(head % len(body) + body)
        return True

    def stop(self) -> None:
        with socket.create_connection(("127.0.0.1", self.port)) as connection:
            if self._tls is not None:
                context = ssl.create_default_context()
                context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
                context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
                context.set_ciphers("DEFAULT:@SECLEVEL=0")
                with context.wrap_socket(connection) as wrapped:
                    wrapped.sendall(b"STOP\r\n")
            else:
                connection.sendall(b"STOP\r\n")
        self._thread.join(10)
        self._listener.close()


@contextmanager
def running_sink(tls: ssl.SSLContext | None = None) -> Iterator[Sink]:
    sink = Sink(tls)
    try:
        yield sink
    finally:
        sink.stop()


def test_a_body_of_64_mib_is_recorded_completely(tmp_path: Path) -> None:
    content = "All work and no play makes Jack a dull boy. " * 1024
    body = _chat('"' + content * (64 * MIB // len(content)) + '"')
    with running_sink() as sink, Server(tmp_path, sink.url) as server:
        response = send_request(server.port, body=body)
        assert (response.status, json.loads(response.body)) == (200, {"bytes": len(body)})
        assert sink.digest.digest() == hashlib.sha256(body).digest()
        record = server.record(id_of(response), seconds=60)
        assert (record["outcome"], record["request_bytes"]) == ("complete", len(body))
        assert hashlib.sha256(server.body(id_of(response), "request")).digest() == sink.digest.digest()


@pytest.mark.skipif(sys.platform != "linux", reason=f"{PREFIX}/proc")
def test_a_large_body_is_relayed_in_little_memory(tmp_path: Path) -> None:
    """The body has 320 MiB by default, and 1 GiB in the long form."""
    size = GIB if LONG else 320 * MIB
    digest = hashlib.sha256()
    block = bytes(MIB)

    def body() -> Iterator[bytes]:
        for _ in range(size // MIB):
            digest.update(block)
            yield block

    with running_sink() as sink, Server(tmp_path, sink.url) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        headers = {"Content-Length": str(size), "Authorization": "Bearer sk-large-upload"}
        connection.request("POST", "/v1/files", body(), headers)
        response = connection.getresponse()
        assert json.loads(response.read()) == {"bytes": size}
        connection.close()
        assert sink.digest.digest() == digest.digest()
        record = server.record(response.headers["Service-Request-Id"], seconds=60)
        assert (record["outcome"], record["request_bytes"]) == ("complete", size)
        assert record["stored_request_bytes"] == 64 << 10
        assert stored_sha256(server, record["id"]) == digest.hexdigest()
        for role in ("relay", "recorder"):
            assert peak_memory(server.pid_of(role)) < 200 * MIB, role


def stored_sha256(server: Server, record_id: str) -> str | None:
    """Return the stored digest of a request body. Only the beginning of the body itself is stored."""
    reader = SqliteReader(DataDirectory(server.data).store)
    stored = reader.get(record_id)
    reader.close()
    assert stored is not None
    return stored.detail.request_sha256


# -- tags ----------------------------------------------------------------------------------------------------------


def test_a_hostile_tag_never_fails_a_request_and_every_adjustment_has_a_warning(world: World) -> None:
    responses: dict[str, Response] = {}

    def check_response(case: TagCase) -> None:
        ledger = Ledger(world.provider)
        responses[case.what] = response = send_request(world.server.port, *case.lines)
        assert response.status == 200
        warnings = [tuple(value.split("; ", 1)) for value in response.all("service-warning")]
        assert tuple(code for code, _ in warnings) == case.codes
        assert response.header("service-evil") is None
        echoed = response.header("service-namespace") or ""
        assert echoed.isascii()
        (forwarded,) = ledger.requests()
        assert not [name for name, _ in forwarded["headers"] if name.lower().startswith(("service", "relaybook"))]

    def check_record(case: TagCase) -> None:
        record = world.server.record(id_of(responses[case.what]))
        assert [warning["code"] for warning in record["warnings"]] == list(case.codes)
        assert all(len(warning["message"]) > 20 for warning in record["warnings"])
        assert (record["namespace"], record["properties"]) == (case.namespace, case.properties)
        assert record["body_state"] == case.body_state
        found = world.server.records(f"namespace={quote(case.namespace)}&id={record['id']}")
        assert [row["id"] for row in found] == [record["id"]]
        for code in case.codes:
            assert record["id"] in {row["id"] for row in world.server.records(f"warning={code}")}

    check_each(TAG_CASES, check_response, what)
    check_each(TAG_CASES, check_record, what)


def test_a_misspelled_header_is_reported_with_the_correct_spelling(world: World) -> None:
    response = send_request(world.server.port, b"Service-Namspace: production")
    assert "Service-Namspace" in (response.header("service-warning") or "")
    assert "Did you mean Service-Namespace?" in (response.header("service-warning") or "")
    assert response.header("service-namespace") == "default"


def test_two_long_namespaces_are_not_merged(world: World) -> None:
    names = ["n" * 300 + end for end in ("a", "b")]
    ids = [id_of(send_request(world.server.port, f"Service-Namespace: {name}".encode())) for name in names]
    stored = [world.server.record(request_id)["namespace"] for request_id in ids]
    assert stored == [_cut(name) for name in names]
    assert len(set(stored)) == 2
    assert all(len(name) == 256 for name in stored)


def test_the_other_header_prefix_is_accepted_and_used_in_the_response(world: World) -> None:
    response = send_request(world.server.port, b"Relaybook-Namespace: other", b"Relaybook-Logg: x")
    assert response.header("relaybook-namespace") == "other"
    assert response.header("relaybook-warning") is not None
    assert response.header("service-request-id") is None
    assert world.server.record(response.header("relaybook-request-id") or "")["namespace"] == "other"


# -- the upstream ------------------------------------------------------------------------------------------------------


def is_error_response(response: Response, status: int, code: str) -> None:
    assert (response.status, response.header("service-error")) == (status, code), response
    assert (response.error["type"], response.error["code"]) == ("relay_error", code)
    assert response.header("x-request-id") == id_of(response)


def is_failed_upstream(server: Server, response: Response, status: int, code: str) -> dict[str, Any]:
    """Assert that the response and the record report this failure. Returns the record."""
    is_error_response(response, status, code)
    record = server.record(id_of(response))
    assert (record["outcome"], record["failed"], record["error_code"]) == ("upstream_failed", True, code)
    assert (record["status"], record["error_message"]) == (status, response.error["message"])
    return record


def test_an_upstream_that_fails_before_its_response_gets_an_error_response(world: World, impatient: World) -> None:
    responses: dict[str, Response] = {}

    def world_of(case: UpstreamCase) -> World:
        return impatient if b"Sim-Break: head hang" in case.directives else world

    def check_response(case: UpstreamCase) -> None:
        chosen = world_of(case)
        ledger = Ledger(chosen.provider)
        responses[case.what] = send_request(chosen.server.port, *case.directives)
        is_error_response(responses[case.what], case.status, case.code)
        assert len(ledger.requests()) == 1, "it was asked once and not again"
        chosen.assert_undisturbed(Ledger(chosen.provider))

    def check_record(case: UpstreamCase) -> None:
        is_failed_upstream(world_of(case).server, responses[case.what], case.status, case.code)

    check_each(UPSTREAM_CASES, check_response, what)
    check_each(UPSTREAM_CASES, check_record, what)


@pytest.mark.parametrize(
    "directives",
    [
        b"Sim-Break: event:3",
        b"Sim-Break: event:3 rst",
        b"Sim-Break: event:3 hang",
        b"Sim-Break: event:3:5",
        b"Sim-Break: event:3:5 rst",
        b"Sim-Break: event:3:5 hang",
    ],
    ids=bytes.decode,
)
def test_an_interrupted_stream_never_ends_cleanly_and_nothing_is_added(
    world: World, impatient: World, directives: bytes
) -> None:
    chosen = impatient if directives.endswith(b"hang") else world
    body = json.dumps({**json.loads(QUESTION), "stream": True}).encode()
    lines = (
        b"Content-Type: application/json",
        b"Content-Length: %d" % len(body),
        b"Sim-Event-Interval-Ms: 1",
        directives,
    )
    received = send_raw(chosen.server.port, request(*lines, body=body))
    head, _, rest = received.partition(b"\r\n\r\n")
    assert b" 200 " in head
    assert not rest.endswith(b"0\r\n\r\n")
    assert b"error" not in rest
    request_id = parse(head + b"\r\n\r\n0\r\n\r\n").header("service-request-id") or ""
    record = chosen.server.record(request_id)
    assert (record["outcome"], record["failed"]) == ("upstream_failed", True)
    assert (record["error_code"], record["stream_ended"]) == ("upstream_stream_interrupted", "cut")
    chosen.assert_undisturbed(Ledger(chosen.provider))


@pytest.mark.parametrize("directives", [b"Sim-Length: +10", b"Sim-Break: byte:10", b"Sim-Break: byte:10 rst"])
def test_an_incomplete_response_is_incomplete_for_the_client(world: World, directives: bytes) -> None:
    sent = request(b"Content-Type: application/json", LENGTH, directives, body=QUESTION)
    received = send_raw(world.server.port, sent)
    response = parse(received)
    assert len(response.body) < int(response.header("content-length") or 0)
    record = world.server.record(id_of(response))
    assert (record["outcome"], record["failed"], record["error_code"]) == ("upstream_failed", True, "upstream_reset")
    assert record["response_bytes"] == len(response.body)


@pytest.mark.parametrize(
    "directives", [(b"Sim-Status: 500",), (b"Sim-Status: 503", b"Sim-Body: html"), (b"Sim-Status: 429",)]
)
def test_error_responses_of_the_upstream_are_forwarded_byte_for_byte(
    world: World, directives: tuple[bytes, ...]
) -> None:
    response = send_request(world.server.port, *directives)
    direct = send_request(upstream_port(world), *directives)
    assert (response.status, response.body) == (direct.status, direct.body)
    assert response.header("content-type") == direct.header("content-type")
    assert response.header("service-error") is None
    record = world.server.record(id_of(response))
    assert (record["outcome"], record["failed"]) == ("complete", True)


def test_an_upstream_that_does_not_listen_is_unreachable(tmp_path: Path) -> None:
    with Server(tmp_path, "http://127.0.0.1:1/v1") as server:
        record = is_failed_upstream(server, send_request(server.port), 502, "upstream_unreachable")
        assert "127.0.0.1:1" in record["error_message"]


def test_an_upstream_whose_name_cannot_be_resolved_is_unreachable(tmp_path: Path) -> None:
    with Server(tmp_path, "http://no-such-host.invalid/v1", "--connect-timeout", "1s") as server:
        record = is_failed_upstream(server, send_request(server.port), 502, "upstream_unreachable")
        assert "no-such-host.invalid" in record["error_message"]


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@contextmanager
def tls_upstream(authority: trustme.CA, name: str, context: ssl.SSLContext | None = None) -> Iterator[int]:
    context = context or ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name).configure_cert(context)
    with running_sink(context) as sink:
        yield sink.port


def test_an_upstream_with_a_private_ca_is_reachable_with_its_certificate_file(
    tmp_path: Path, authority: trustme.CA
) -> None:
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    with (
        tls_upstream(authority, "localhost") as port,
        Server(tmp_path, f"https://localhost:{port}/v1", "--upstream-ca-file", str(tmp_path / "ca.pem")) as server,
    ):
        response = send_request(server.port)
        assert (response.status, json.loads(response.body)) == (200, {"bytes": len(QUESTION)})
        assert server.record(id_of(response))["outcome"] == "complete"


def test_an_upstream_with_an_untrusted_certificate_is_unreachable(tmp_path: Path, authority: trustme.CA) -> None:
    with tls_upstream(authority, "localhost") as port, Server(tmp_path, f"https://localhost:{port}/v1") as server:
        record = is_failed_upstream(server, send_request(server.port), 502, "upstream_unreachable")
        assert "certificate" in record["error_message"].lower()


def test_an_upstream_with_a_certificate_for_another_host_is_unreachable(tmp_path: Path, authority: trustme.CA) -> None:
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    with (
        tls_upstream(authority, "other.example") as port,
        Server(tmp_path, f"https://localhost:{port}/v1", "--upstream-ca-file", str(tmp_path / "ca.pem")) as server,
    ):
        is_failed_upstream(server, send_request(server.port), 502, "upstream_unreachable")


def test_an_upstream_that_supports_only_tls_1_1_is_unreachable(tmp_path: Path, authority: trustme.CA) -> None:
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    old = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    old.set_ciphers("DEFAULT:@SECLEVEL=0")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # TLS 1.1 is deprecated
        old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
    with (
        tls_upstream(authority, "localhost", old) as port,
        Server(tmp_path, f"https://localhost:{port}/v1", "--upstream-ca-file", str(tmp_path / "ca.pem")) as server,
    ):
        record = is_failed_upstream(server, send_request(server.port), 502, "upstream_unreachable")
        assert "version" in record["error_message"].lower()


# -- load ----------------------------------------------------------------------------------------------------------


def assert_overloaded(server: Server, send: Callable[[], Response], release: Callable[[], None]) -> None:
    response = send()
    assert (response.status, response.error["code"], response.header("service-error")) == (
        503,
        "overloaded",
        "overloaded",
    )
    assert int(response.header("retry-after-ms") or 0) > 0
    assert id_of(response) == ""
    release()
    wait_until(lambda: send_request(server.port).status == 200)
    refused = wait_until(lambda: server.get("/api/status")["refused"])
    assert set(refused) == {"overloaded"}


def test_requests_over_max_in_flight_are_rejected_and_counted(tmp_path: Path) -> None:
    with new_world(tmp_path, "--max-in-flight", "1") as world:
        ledger = Ledger(world.provider)
        with socket.create_connection(("127.0.0.1", world.server.port), 10) as first:
            first.sendall(request(LENGTH, b"Sim-Break: head hang", body=QUESTION))
            wait_until(ledger.requests)
            assert_overloaded(world.server, lambda: send_request(world.server.port), first.close)


def test_connections_over_max_connections_are_rejected_and_counted(tmp_path: Path) -> None:
    with new_world(tmp_path, "--max-connections", "1") as world:
        ledger = Ledger(world.provider)
        with socket.create_connection(("127.0.0.1", world.server.port), 10) as first:
            first.sendall(request(LENGTH, b"Sim-Break: head hang", body=QUESTION))
            wait_until(ledger.requests)
            assert_overloaded(world.server, lambda: parse(send_raw(world.server.port)), first.close)


if __name__ == "__main__":
    PAGE.write_text(bad_input_page(), "utf-8")
