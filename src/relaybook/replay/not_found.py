"""Answer a request that no logged request equals: with the nearest one, in the form of the API's own errors."""

import re
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from relaybook.apis import expects_text_error, match
from relaybook.log.request_key import decoded
from relaybook.replay.difference import Difference, difference
from relaybook.replay.index import Index
from relaybook.replay.source import ClientRequest, RecordedLog

CODE: Final = "not_logged"
_COHERE_PATH: Final = re.compile(r"(?:/v[12]/(?:embed|rerank|chat)|/rerank)/?$")
_MAX_PATHS: Final = 5


class Nearest:
    """The logged request that is most similar to a request, and their first difference. Both may be unknown."""

    def __init__(self, record_id: str | None = None, found: Difference | None = None, target: str = "") -> None:
        self.id = record_id
        self.difference = found
        self.target = target


def nearest(log: RecordedLog, index: Index, request: ClientRequest, ignored: Sequence[Sequence[str]]) -> Nearest:
    """Compare a request with the logged requests that may be most similar, and return the most similar one."""
    best: tuple[tuple[int, int], Nearest] | None = None
    sent = decoded(request.body, request.content_encoding)
    for record_id in index.nearest(request):
        detail, body = log.find(record_id), log.body(record_id, "request")
        if detail is None:  # it was deleted
            continue
        names = {name.lower(): value for name, value in detail["request_headers"] or ()}
        found = difference(sent, decoded(body or b"", names.get("content-encoding")), ignored)
        target = f"{detail['path']}?{detail['query']}" if detail["query"] else detail["path"]
        rank = (-found.total, found.same) if found else (0, 0)
        if best is None or rank > best[0]:
            best = rank, Nearest(record_id, found, target)
    return best[1] if best else Nearest()


def message_of(request: ClientRequest, near: Nearest, index: Index, *, is_filtered: bool) -> str:
    """Say that no logged request equals a request, and what differs.

    With ``is_filtered``, the index has only the requests that match a filter.
    """
    which, source = "logged request", "The log has"
    if is_filtered:
        which, source = "request that matches the filter", "The filter selects"
    start = f"No {which} equals this {request.method} {_short(request.path)}."
    if near.id is None:
        paths = ", ".join(f"{method} {_short(path)}" for (method, path), _ in index.paths.most_common(_MAX_PATHS))
        return f"{start} No request with this method and path can be replayed. {source}: {paths or 'no requests'}."
    if near.difference is None:
        return f"{start} The nearest is {near.id}, with the query {_short(near.target.partition('?')[2]) or 'empty'}."
    found = near.difference
    more = f" and {found.total - 1} more" if found.total > 1 else ""
    return (
        f"{start} The nearest is {near.id}. They differ in {found.where}{more}: sent {found.sent}, logged "
        f"{found.logged}."
    )


def error_body(request: ClientRequest, message: str, code: str = CODE) -> bytes:
    """Return an error with the status 404 in the form that the SDKs of the request's API read."""
    return msgspec.json.encode(_error(request, message, code))


def _error(request: ClientRequest, message: str, code: str) -> dict[str, Any]:
    kind = match(request.method, request.path).api.kind
    if expects_text_error(request.path):
        return {"error": message}
    if kind == "message":
        return {"type": "error", "error": {"type": "not_found_error", "message": message}}
    if kind in ("generate", "interaction"):
        return {"error": {"code": 404, "message": message, "status": "NOT_FOUND"}}
    if kind == "cohere" or _COHERE_PATH.search(request.path):
        return {"message": message}
    return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": code}}


def _short(text: str) -> str:
    return text if len(text) <= 200 else text[:199] + "…"
