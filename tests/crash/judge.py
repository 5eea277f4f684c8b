"""Compare the log with what the upstream and the clients saw, and list every violation of the recording guarantee.

All functions are pure. The guarantee has three parts. A request has exactly one record if its first byte reached the
upstream. Every byte that a client received is stored. No record is invented or duplicated.
"""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

import msgspec

Fault = Literal["lost", "doubled", "invented", "short", "altered", "misfiled", "misjudged"]


class Served(msgspec.Struct):
    """The upstream's ledger entry for one request.

    ``sent`` contains all response bytes that the upstream handed to the kernel.
    """

    tag: str
    received: int
    received_sha256: str
    sent: bytes
    whole: bool


class Call(msgspec.Struct, kw_only=True):
    """One request as its client sees it.

    ``received`` is the response body so far. ``left`` is true if the client disconnected.
    """

    tag: str
    request: bytes
    status: int | None = None
    request_id: str | None = None
    received: bytearray = msgspec.field(default_factory=bytearray)
    complete: bool = False
    left: bool = False


class Logged(msgspec.Struct, kw_only=True):
    """A record with its stored bodies. ``tag`` is a property that the client sets."""

    id: str
    tag: str | None
    namespace: str
    outcome: str
    request: bytes
    response: bytes


class Violation(NamedTuple):
    """One violation of the guarantee."""

    fault: Fault
    tag: str | None
    why: str


def judge(served: Iterable[Served], calls: Iterable[Call], logged: Sequence[Logged]) -> list[Violation]:
    """Return all violations of the guarantee. The list is empty if the guarantee holds.

    The arguments can be in any order. Their entries are matched by tag.
    """
    called = {call.tag: call for call in calls}
    reached = {entry.tag: entry for entry in served}
    by_tag: dict[str, list[Logged]] = {}
    found = []
    for record in logged:
        if record.tag is None or record.tag not in called:
            found.append(Violation("invented", record.tag, f"record {record.id} belongs to no client's request"))
        else:
            by_tag.setdefault(record.tag, []).append(record)
    for tag, records in by_tag.items():
        if len(records) > 1:
            found.append(Violation("doubled", tag, f"records {', '.join(record.id for record in records)}"))
    found += [Violation("lost", tag, "its first byte reached the upstream") for tag in reached if not by_tag.get(tag)]
    for tag, call in called.items():
        records = by_tag.get(tag, [])
        found += _check_missing(call, records, was_served=tag in reached)
        for record in records:
            found += _compare(call, reached.get(tag), record)
    return found


def _check_missing(call: Call, records: list[Logged], *, was_served: bool) -> list[Violation]:
    """Return a violation if a client got a request id or a successful response but the log has no such record."""
    if call.request_id is not None and call.request_id not in [record.id for record in records]:
        return [Violation("lost", call.tag, f"the client received the record id {call.request_id}")]
    if not records and not was_served and call.status is not None and call.status < 400:
        return [Violation("lost", call.tag, f"the client got a response with status {call.status}")]
    return []


def _compare(call: Call, served: Served | None, record: Logged) -> list[Violation]:
    """Compare one record with the client's and the upstream's view of its request."""
    found: list[tuple[Fault, str] | None] = [
        None if record.namespace == call.tag else ("misfiled", f"namespace {record.namespace!r}"),
        _check_outcome(call, record),
        _check_prefix("the stored response", record.response, "what the upstream sent", served.sent if served else b""),
        _check_prefix("the stored request", record.request, "what the client sent", call.request),
        _check_contains("the stored response", record.response, "what the client received", bytes(call.received)),
        _check_request(served, record) if served else None,
    ]
    if call.complete and call.request_id and len(record.response) > len(call.received):
        found.append(("altered", "the stored response is longer than the complete one that the client got"))
    if record.outcome == "complete" and not (served and served.whole and record.response == served.sent):
        found.append(("short", "recorded as complete, but is not all that the upstream sent"))
    if record.outcome == "complete" and record.request != call.request:
        found.append(("short", "recorded as complete, but the request is not all that the client sent"))
    return [
        Violation(entry[0], call.tag, f"{entry[1]} (record {record.id}, {record.outcome})") for entry in found if entry
    ]


def _check_outcome(call: Call, record: Logged) -> tuple[Fault, str] | None:
    """Check the outcome of a record.

    In these tests the upstream never fails and no limit is exceeded, so only three outcomes are possible.
    """
    if record.outcome in ("complete", "interrupted") or (record.outcome == "client_closed" and call.left):
        return None
    return "misjudged", f"outcome {record.outcome}"


def _check_contains(what: str, stored: bytes, other: str, prefix: bytes) -> tuple[Fault, str] | None:
    """Check that ``prefix`` is a prefix of ``stored``."""
    if stored.startswith(prefix):
        return None
    if prefix.startswith(stored):
        return "short", f"{what} has {len(stored)} bytes, {other} {len(prefix)}"
    return "altered", f"{what} is not {other}"


def _check_prefix(what: str, stored: bytes, other: str, complete_body: bytes) -> tuple[Fault, str] | None:
    """Check that ``stored`` is a prefix of ``complete_body``."""
    if complete_body.startswith(stored):
        return None
    return "altered", f"{what} ({len(stored)} bytes) is not a prefix of {other} ({len(complete_body)} bytes)"


def _check_request(served: Served, record: Logged) -> tuple[Fault, str] | None:
    """Check that all request bytes that reached the upstream are stored."""
    if len(record.request) < served.received:
        return "short", f"{served.received} bytes of the request reached the upstream, {len(record.request)} are stored"
    if hashlib.sha256(record.request[: served.received]).hexdigest() != served.received_sha256:
        return "altered", "the stored request is not what reached the upstream"
    return None
