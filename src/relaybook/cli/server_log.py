"""Reads the log from a server's API (GET /api/requests, /api/requests/{id}, /api/live).

Dials the one address it was given: no proxy of the environment, no redirect, so that the token goes nowhere else.
"""

import json
import sys
import time
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from itertools import chain
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from relaybook.cli.failure import CommandFailed
from relaybook.cli.output import Row
from relaybook.log.query.filters import MAX_LIMIT


class NoRedirect(HTTPRedirectHandler):
    """A redirect is then an ``HTTPError`` like any other status."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Follows none."""


@dataclass(frozen=True)
class Event:
    """One event; ``data`` may be empty, ``id`` is the last one seen, None before the first."""

    name: str
    data: str
    id: str | None


def read_events(lines: Iterable[bytes]) -> Iterator[Event]:
    """Events of a stream's lines, each when its blank line has come; an unfinished one at the end is dropped."""
    name, last_id, is_told = "", None, False
    data: list[str] = []
    for raw in lines:
        line = raw.decode("utf-8", "replace").rstrip("\r\n")
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if not line:
            if is_told:
                yield Event(name or "message", "\n".join(data), last_id)
            name, data, is_told = "", [], False
        elif field == "event":
            name = value
        elif field == "data":
            data.append(value)
            is_told = True
        elif field == "id":
            last_id = value
            is_told = True


_KEPT: Final = 10_000


class Recent:
    """A set of ids that forgets the oldest beyond 10,000."""

    def __init__(self) -> None:
        self._ids: OrderedDict[str, None] = OrderedDict()

    def is_new(self, text: str) -> bool:
        """Whether the id was not seen yet; from now on it was."""
        if text in self._ids:
            return False
        self._ids[text] = None
        if len(self._ids) > _KEPT:
            self._ids.popitem(last=False)
        return True


_ANSWER_SECONDS: Final = 10.0
#: The server pings every 15 s.
_SILENCE_SECONDS: Final = 45.0
_AGAIN_SECONDS: Final = 1.0


class NoServer(Exception):
    """Nobody answers at the address; the text says which."""


class ServerLog:
    """A log behind an address; fulfils ``LogSource``."""

    def __init__(self, base_url: str, token: str | None) -> None:
        if not base_url.startswith(("http://", "https://")):
            raise CommandFailed(f"dashboard_url is {base_url!r}: write it like https://relaybook.example.")
        if token and not (token.isascii() and token.isprintable()):
            raise CommandFailed("The dashboard token has characters no HTTP header can carry.")
        self._base = base_url.rstrip("/")
        self._token = token
        self._opener = build_opener(ProxyHandler({}), NoRedirect())

    def greet(self) -> None:
        """Raises NoServer when nobody answers, CommandFailed when what answers does not let us read."""
        page = self._get("/api/requests", [("limit", "1")])
        if not (isinstance(page, dict) and isinstance(page.get("data"), list)):
            raise self._stranger()

    def latest(self, terms: list[tuple[str, str]], limit: int) -> list[Row]:
        """See ``LogSource``."""
        page = self._ask("/api/requests", [*terms, ("limit", str(limit))])
        rows: list[Row] = [*page.get("running", ()), *page["data"]]
        return rows[::-1]

    def follow(self, terms: list[tuple[str, str]], limit: int) -> Iterator[Row]:
        """See ``LogSource``. The stream is opened before the list is asked for, so nothing falls between them."""
        printed = Recent()
        last_id: str | None = None
        while True:
            with suppress(NoServer, OSError, HTTPException), self._live(terms, last_id) as stream:
                earlier = self.latest(terms, limit) if limit and last_id is None else []
                for row, seen_id in chain(map(_seen, earlier), _rows(read_events(stream))):
                    last_id = seen_id or last_id
                    if row is not None and printed.is_new(_once(row)):
                        yield row
                limit = MAX_LIMIT
            time.sleep(_AGAIN_SECONDS)

    def find(self, text: str) -> dict[str, Any] | None:
        """See ``LogSource``."""
        try:
            detail: dict[str, Any] = self._get(f"/api/requests/{quote(text, safe='')}", [])
        except NoServer as error:
            raise CommandFailed(str(error)) from None
        except _NotFound:
            return None
        return detail

    def values(self, field: str) -> list[str]:
        """See ``LogSource``."""
        return [one["value"] for one in self._ask(f"/api/values/{field}", [("limit", str(MAX_LIMIT))])["data"]]

    def _live(self, terms: list[tuple[str, str]], last_id: str | None) -> HTTPResponse:
        return self._open("/api/live", terms, "text/event-stream", _SILENCE_SECONDS, last_id)

    def _ask(self, path: str, terms: list[tuple[str, str]]) -> Any:
        try:
            return self._get(path, terms)
        except NoServer as error:
            raise CommandFailed(str(error)) from None

    def _get(self, path: str, terms: list[tuple[str, str]]) -> Any:
        try:
            with self._open(path, terms, "application/json", _ANSWER_SECONDS, None) as answer:
                return json.loads(answer.read())
        except (OSError, HTTPException) as error:
            raise NoServer(f"{self._base} does not answer: {error}.") from None
        except ValueError:
            raise self._stranger() from None

    def _open(
        self, path: str, terms: list[tuple[str, str]], accept: str, seconds: float, last_id: str | None
    ) -> HTTPResponse:
        headers = {"Accept": accept, "User-Agent": "relaybook"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        if last_id is not None:
            headers["Last-Event-ID"] = last_id
        url = f"{self._base}{path}" + (f"?{urlencode(terms)}" if terms else "")
        request = Request(url, headers=headers)  # noqa: S310 - its scheme was checked
        try:
            answer: HTTPResponse = self._opener.open(request, timeout=seconds)
        except HTTPError as error:
            with error:
                raise self._refusal(error) from None
        except (URLError, TimeoutError, HTTPException) as error:
            raise NoServer(f"{self._base} does not answer: {getattr(error, 'reason', error)}.") from None
        return answer

    def _stranger(self) -> CommandFailed:
        return CommandFailed(f"What answers at {self._base} is no Relaybook dashboard: name it by --dashboard.")

    def _refusal(self, error: HTTPError) -> Exception:
        try:
            message = str(json.loads(error.read(65536))["error"]["message"])
        except (OSError, HTTPException, ValueError, KeyError, TypeError):
            return self._stranger()
        if error.code == 404:
            return _NotFound(message)
        hint = " Set RELAYBOOK_DASHBOARD_TOKEN." if error.code == 401 else ""
        return CommandFailed(f"{self._base} answered {error.code}: {message}{hint}")


class _NotFound(CommandFailed):
    """The API has nothing of that name."""


def _seen(row: Row) -> tuple[Row, str | None]:
    """A row of a list, and the point to resume from behind it: a running one moves none."""
    return row, None if row["seq"] is None else str(row["seq"])


def _once(row: Row) -> str:
    """What is told once: that a request runs, and how it ended."""
    return f"{row['id']} runs" if row["outcome"] == "open" else str(row["id"])


def _rows(events: Iterator[Event]) -> Iterator[tuple[Row | None, str | None]]:
    """Rows with the point to resume from behind each; None where only that point moved."""
    for event in events:
        if event.name == "gap":
            print("Some requests are left out here: the log moved on too far meanwhile", file=sys.stderr)
        is_row = event.name == "request" and event.data
        yield json.loads(event.data) if is_row else None, event.id
