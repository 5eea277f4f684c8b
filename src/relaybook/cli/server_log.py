"""Read the log from a server's API, and request deletions and rereads.

This module connects only to the configured address. It ignores proxy variables and redirects, so that the token is
never sent to another address.
"""

import json
import sys
import time
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from http.client import HTTPException, HTTPResponse, IncompleteRead
from itertools import chain
from typing import TYPE_CHECKING, Any, Final
from urllib.error import HTTPError
from urllib.parse import quote, urlencode
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from relaybook.cli.failure import CommandFailed
from relaybook.cli.output import Row
from relaybook.log.formats.sse import events, normalized
from relaybook.log.query.filters import MAX_LIMIT, Sort
from relaybook.log.record import Side

if TYPE_CHECKING:
    from relaybook.log.ask.replay import ReplayablePage


class _NoRedirect(HTTPRedirectHandler):
    """Raises ``HTTPError`` for a redirect, as urllib does for an error status."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Return `None`, so that urllib does not follow the redirect and raises ``HTTPError``."""


_RECENT_IDS: Final = 10_000


class Recent:
    """A set of the 10,000 most recently added ids."""

    def __init__(self) -> None:
        self._ids: OrderedDict[str, None] = OrderedDict()

    def is_new(self, text: str) -> bool:
        """Add the id, and return whether it was not in the set before."""
        if text in self._ids:
            return False
        self._ids[text] = None
        if len(self._ids) > _RECENT_IDS:
            self._ids.popitem(last=False)
        return True


_RESPONSE_SECONDS: Final = 10.0
#: If no byte arrives for this long, the connection is considered lost. The server sends a ping every 15 s.
_SILENCE_SECONDS: Final = 45.0
_RETRY_SECONDS: Final = 1.0
_POLL_SECONDS: Final = 0.5
TOO_MANY_TO_COUNT: Final = "The requests could not be counted within 10 seconds. Use a shorter time range (from=, to=)."
#: Timeout for counting exactly, and for requesting a deletion or a reread. The server counts the matching requests for
#: up to 10 s.
_CHANGE_SECONDS: Final = 20.0
#: Timeout for the next bytes of an export. The server may need minutes to find the next match.
_EXPORT_SILENCE_SECONDS: Final = 900.0
_CHUNK_BYTES: Final = 256 * 1024
#: Statuses that a proxy returns while the server behind the proxy restarts.
_GATEWAY_ERRORS: Final = (502, 503, 504)


class CountChanged(Exception):
    """The number of matching requests, ``count``, differs from the confirmed number."""

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self.count = count


class NoServer(Exception):
    """No server responds at the address. The message contains the address."""


class ServerLog:
    """The log of a running server. Implements ``LogSource``."""

    def __init__(self, base_url: str, token: str | None) -> None:
        if not base_url.startswith(("http://", "https://")):
            raise CommandFailed(f"dashboard_url is {base_url!r}: expected a URL such as https://relaybook.example.")
        if token and not (token.isascii() and token.isprintable()):
            raise CommandFailed(
                "dashboard_token has characters that are not allowed in an HTTP header. Set dashboard_token to "
                "the server's token."
            )
        self._base = self.name = base_url.rstrip("/")
        self._token = token
        self._opener = build_opener(ProxyHandler({}), _NoRedirect())

    def connect(self) -> None:
        """Check that the log can be read.

        Raises NoServer if no server responds, and CommandFailed if the server rejects the request.
        """
        page = self._get("/api/requests", [("limit", "1")])
        if not (isinstance(page, dict) and isinstance(page.get("data"), list)):
            raise self._not_a_dashboard()

    def latest(self, terms: list[tuple[str, str]], limit: int) -> tuple[list[Row], bool]:
        page = self._get_required("/api/requests", [*terms, ("limit", str(limit))])
        rows: list[Row] = [*page.get("running", ()), *page["data"]]
        return rows[::-1], page["complete"]

    def follow(self, terms: list[tuple[str, str]], limit: int) -> Iterator[Row]:
        """Open the stream before reading the list, so that no request is missed."""
        printed = Recent()
        last_id: str | None = None
        while True:
            with suppress(NoServer, OSError, HTTPException), self._live(terms, last_id) as stream:
                earlier = self.latest(terms, limit)[0] if limit and last_id is None else []
                for row, position in chain(map(_with_position, earlier), live_rows(stream)):
                    last_id = position or last_id
                    if row is not None and printed.is_new(_dedup_key(row)):
                        yield row
                limit = MAX_LIMIT
            time.sleep(_RETRY_SECONDS)

    def top(self, terms: list[tuple[str, str]], sort: Sort, limit: int) -> tuple[list[Row], bool]:
        order = [("sort", sort.field), ("order", "asc" if sort.is_ascending else "desc")]
        page = self._get_required("/api/requests", [*terms, *order, ("limit", str(limit))])
        return page["data"], page["complete"]

    def find(self, text: str) -> dict[str, Any] | None:
        return self._get_or_none(f"/api/requests/{quote(text, safe='')}", [])

    def compare(self, a: str, b: str) -> dict[str, Any] | None:
        return self._get_or_none("/api/compare", [("a", a), ("b", b)])

    def last_good(self, text: str) -> dict[str, Any] | None:
        return self._get_or_none(f"/api/requests/{quote(text, safe='')}/last-good", [])

    def _get_or_none(self, path: str, terms: list[tuple[str, str]]) -> dict[str, Any] | None:
        """Return the answer, or `None` if the API returns 404."""
        try:
            answer: dict[str, Any] = self._get_required(path, terms)
        except _NotFound:
            return None
        return answer

    def body(self, record_id: str, side: Side) -> bytes | None:
        path = f"/api/requests/{quote(record_id, safe='')}/{side}"
        try:
            with self._open(path, [("as", "sent")], "*/*", _CHANGE_SECONDS, None) as response:
                return response.read()
        except _NotFound:
            return None
        except NoServer as error:
            raise _lost(error) from None
        except (OSError, HTTPException) as error:
            raise CommandFailed(f"{self._base} does not respond: {error}.") from None

    def replayable(self, terms: list[tuple[str, str]], after: int, ignored: list[str]) -> "ReplayablePage":
        import msgspec

        from relaybook.log.ask.replay import ReplayablePage

        options = [("after", str(after)), *(("ignore", field) for field in ignored)]
        try:
            page = self._read("/api/replay", [*terms, *options], _CHANGE_SECONDS, "GET")
        except NoServer as error:
            raise _lost(error) from None
        return msgspec.convert(page, ReplayablePage)

    def lanes(self, terms: list[tuple[str, str]]) -> dict[str, Any] | None:
        try:
            lanes: dict[str, Any] = self._get_required("/api/lanes", terms)
        except _NotFound:
            return None
        return lanes

    def cache(self, record_id: str) -> dict[str, Any]:
        report: dict[str, Any] = self._get_required(f"/api/requests/{quote(record_id, safe='')}/cache", [])
        return report

    def values(self, field: str) -> list[str]:
        return [
            each["value"] for each in self._get_required(f"/api/values/{field}", [("limit", str(MAX_LIMIT))])["data"]
        ]

    def is_indexed(self) -> bool:
        status = self._get_required("/api/status", [])
        return bool(status["indexed_to"] >= status["last_seq"])

    def lag_seconds(self) -> float:
        return float(self._get_required("/api/status", [])["journal"]["lag_seconds"] or 0)

    def count_matching(self, terms: list[tuple[str, str]]) -> int | None:
        count = self._get_required("/api/count", terms)
        return count["requests"] if count["complete"] else None

    def count_exactly(self, terms: list[tuple[str, str]]) -> int:
        try:
            counted = self._read("/api/count", [*terms, ("exact", "true")], _CHANGE_SECONDS, "GET")
        except NoServer as error:
            raise _lost(error) from None
        if not counted["complete"]:
            raise CommandFailed(TOO_MANY_TO_COUNT)
        return int(counted["requests"])

    def request_deletion(self, terms: list[tuple[str, str]], count: int) -> dict[str, Any]:
        return self._change("/api/requests", [*terms, ("confirm", str(count))], "DELETE")

    def follow_deletion(self, deletion_id: str, *, waits: bool) -> Iterator[dict[str, Any]]:
        while True:
            try:
                deletion: dict[str, Any] = self._get(f"/api/deletions/{quote(deletion_id, safe='')}", [])
            except NoServer as error:
                raise CommandFailed(
                    f"{error} The deletion {deletion_id} was accepted and continues when the server runs again. Do not "
                    "repeat the command."
                ) from None
            yield deletion
            if deletion["state"] == "done" or (deletion["state"] == "erasing" and not waits):
                return
            time.sleep(_POLL_SECONDS)

    def request_reread(self, terms: list[tuple[str, str]]) -> dict[str, Any]:
        return self._change("/api/rereads", terms, "POST")

    def follow_reread(self, reread_id: str) -> Iterator[dict[str, Any]]:
        while True:
            reread: dict[str, Any] = self._get_required(f"/api/rereads/{quote(reread_id, safe='')}", [])
            yield reread
            if reread["state"] == "done":
                return
            time.sleep(_POLL_SECONDS)

    @property
    def pending_text(self) -> str:
        return (
            "The requests are gone from the log. Their bytes are being erased from the disk, usually within ten "
            "minutes."
        )

    def receipt_url(self, deletion_id: str, terms: list[tuple[str, str]]) -> str | None:
        return f"{self._base}/deletions/{quote(deletion_id, safe='')}?{urlencode(terms)}"

    def _change(self, path: str, terms: list[tuple[str, str]], method: str) -> dict[str, Any]:
        try:
            answer: dict[str, Any] = self._read(path, terms, _CHANGE_SECONDS, method)
        except NoServer as error:
            raise _lost(error) from None
        return answer

    def export(self, terms: list[tuple[str, str]], options: list[tuple[str, str]]) -> Iterator[bytes]:
        try:
            response = self._open("/api/export", [*terms, *options], "*/*", _EXPORT_SILENCE_SECONDS, None)
        except NoServer as error:
            raise _lost(error) from None
        if not response.headers.get("Content-Disposition", "").startswith("attachment"):
            raise self._not_a_dashboard()
        return self._chunks(response)

    def _chunks(self, response: HTTPResponse) -> Iterator[bytes]:
        with response:
            try:
                while chunk := response.read1(_CHUNK_BYTES):
                    yield chunk
            except (OSError, HTTPException) as error:
                reason = "the connection was closed" if isinstance(error, IncompleteRead) else error
                raise CommandFailed(f"The download from {self._base} was interrupted: {reason}.") from None

    def _live(self, terms: list[tuple[str, str]], last_id: str | None) -> HTTPResponse:
        return self._open("/api/live", terms, "text/event-stream", _SILENCE_SECONDS, last_id)

    def _get_required(self, path: str, terms: list[tuple[str, str]]) -> Any:
        try:
            return self._get(path, terms)
        except NoServer as error:
            raise _lost(error) from None

    def _get(self, path: str, terms: list[tuple[str, str]]) -> Any:
        return self._read(path, terms, _RESPONSE_SECONDS, "GET")

    def _read(self, path: str, terms: list[tuple[str, str]], seconds: float, method: str) -> Any:
        try:
            with self._open(path, terms, "application/json", seconds, None, method) as response:
                return json.loads(response.read())
        except (OSError, HTTPException) as error:
            raise NoServer(f"{self._base} does not respond: {error}.") from None
        except ValueError:
            raise self._not_a_dashboard() from None

    def _open(
        self,
        path: str,
        terms: list[tuple[str, str]],
        accept: str,
        seconds: float,
        last_id: str | None,
        method: str = "GET",
    ) -> HTTPResponse:
        headers = {"Accept": accept, "User-Agent": "relaybook"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        if last_id is not None:
            headers["Last-Event-ID"] = last_id
        if method == "POST":
            headers["Content-Type"] = "application/json"  # the dashboard rejects other types, which web pages can send
        url = f"{self._base}{path}" + (f"?{urlencode(terms)}" if terms else "")
        request = Request(url, headers=headers, method=method)  # noqa: S310 - its scheme was checked
        try:
            response: HTTPResponse = self._opener.open(request, timeout=seconds)
        except HTTPError as error:
            with error:
                raise self._error(error) from None
        except (OSError, HTTPException) as error:
            raise NoServer(f"{self._base} does not respond: {getattr(error, 'reason', error)}.") from None
        return response

    def _not_a_dashboard(self) -> CommandFailed:
        return CommandFailed(
            f"The server at {self._base} is not a Relaybook dashboard. Choose another address with --dashboard."
        )

    def _error(self, error: HTTPError) -> Exception:
        try:
            problem = json.loads(error.read(65536))["error"]
            message = str(problem["message"])
        except (OSError, HTTPException, ValueError, KeyError, TypeError):
            if error.code in _GATEWAY_ERRORS:
                return NoServer(f"{self._base} does not respond: a proxy returned {error.code}.")
            return self._not_a_dashboard()
        if error.code == 404:
            return _NotFound(message)
        if error.code == 409 and isinstance(problem.get("requests"), int):
            return CountChanged(problem["requests"])
        if error.code == 401:
            problem = "rejected the token" if self._token else "requires a token"
            hint = "Set RELAYBOOK_DASHBOARD_TOKEN to the server's dashboard_token."
            return CommandFailed(f"{self._base} {problem}. {hint}")
        return CommandFailed(f"{self._base} returned {error.code}: {message}")


def _lost(error: NoServer) -> CommandFailed:
    """Return the error for a server that has stopped responding."""
    return CommandFailed(f"{error} Check that the server is running, then repeat the command.")


class _NotFound(CommandFailed):
    """The API returned 404."""


def _with_position(row: Row) -> tuple[Row, str | None]:
    """Return a row and the row's event id in the live stream: ``seq``, or `None` for a running request."""
    return row, None if row["seq"] is None else str(row["seq"])


def _dedup_key(row: Row) -> str:
    """Return a key for a row. If several rows have the same key, only the first is printed.

    A request has one key while it runs, and another key when it has ended.
    """
    return f"{row['id']} runs" if row["outcome"] == "open" else str(row["id"])


def live_rows(lines: Iterable[bytes]) -> Iterator[tuple[Row | None, str | None]]:
    """Parse the lines of a live stream.

    Yields a pair when the blank line after an event or a comment is read: the row, or `None` if there is no row, and
    the stream's latest event id, or `None` if there is none yet. An incomplete event at the end is dropped. For a
    ``gap`` event, print that some requests are not shown.
    """
    block, last_id = b"", None
    for line in map(normalized, lines):
        if line != b"\n":
            block += line
            if line.startswith(b"id:"):
                last_id = line[3:].strip().decode("utf-8", "replace")
            continue
        row: Row | None = None
        for name, data, _ in events(block):
            if name == "gap":
                print(
                    "Some new requests are not shown, because the server recorded requests faster than this command "
                    "received them. All requests are in the log.",
                    file=sys.stderr,
                )
            elif name == "request" and data:
                row = json.loads(data)
        yield row, last_id
        block = b""
