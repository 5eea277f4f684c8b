"""Holds the log against what the provider and the callers saw, and names every way in which it breaks its promise.

Pure: facts in, violations out. The promise: every request whose first byte reached the provider has exactly one
record, every byte a caller received is in it, no record is invented or doubled.
"""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

import msgspec

Fault = Literal["lost", "doubled", "invented", "short", "altered", "misfiled", "misjudged"]


class Served(msgspec.Struct):
    """What the provider's ledger says of one request. ``sent`` are all bytes of the answer it handed to the system."""

    tag: str
    received: int
    received_sha256: str
    sent: bytes
    whole: bool


class Call(msgspec.Struct, kw_only=True):
    """What one caller knows of its request. ``received`` is the answer's body so far; ``left``: it hung up itself."""

    tag: str
    request: bytes
    status: int | None = None
    request_id: str | None = None
    received: bytearray = msgspec.field(default_factory=bytearray)
    complete: bool = False
    left: bool = False


class Logged(msgspec.Struct, kw_only=True):
    """A record with its stored bodies; ``tag`` is the property the caller set."""

    id: str
    tag: str | None
    namespace: str
    outcome: str
    request: bytes
    response: bytes


class Violation(NamedTuple):
    """One broken promise."""

    fault: Fault
    tag: str | None
    why: str


def judge(served: Iterable[Served], calls: Iterable[Call], logged: Sequence[Logged]) -> list[Violation]:
    """Every violation; empty when the log kept its promise. All three speak of the same tags, in any order."""
    called = {call.tag: call for call in calls}
    reached = {each.tag: each for each in served}
    by_tag: dict[str, list[Logged]] = {}
    found = []
    for record in logged:
        if record.tag is None or record.tag not in called:
            found.append(Violation("invented", record.tag, f"record {record.id} is of no caller's request"))
        else:
            by_tag.setdefault(record.tag, []).append(record)
    for tag, records in by_tag.items():
        if len(records) > 1:
            found.append(Violation("doubled", tag, f"records {', '.join(record.id for record in records)}"))
    found += [Violation("lost", tag, "its first byte reached the provider") for tag in reached if not by_tag.get(tag)]
    for tag, call in called.items():
        records = by_tag.get(tag, [])
        found += _missing(call, records, was_served=tag in reached)
        for record in records:
            found += _compare(call, reached.get(tag), record)
    return found


def _missing(call: Call, records: list[Logged], *, was_served: bool) -> list[Violation]:
    """A request the caller was told of, or got an answer to, that has no record."""
    if call.request_id is not None and call.request_id not in [record.id for record in records]:
        return [Violation("lost", call.tag, f"the caller was told that its record is {call.request_id}")]
    if not records and not was_served and call.status is not None and call.status < 400:
        return [Violation("lost", call.tag, f"the caller got an answer with status {call.status}")]
    return []


def _compare(call: Call, served: Served | None, record: Logged) -> list[Violation]:
    """One record against the two sides of its request."""
    found: list[tuple[Fault, str] | None] = [
        None if record.namespace == call.tag else ("misfiled", f"namespace {record.namespace!r}"),
        _outcome(call, record),
        _within("the stored answer", record.response, "what the provider sent", served.sent if served else b""),
        _within("the stored request", record.request, "what the caller sent", call.request),
        _holds("the stored answer", record.response, "what the caller received", bytes(call.received)),
        _request_held(served, record) if served else None,
    ]
    if call.complete and call.request_id and len(record.response) > len(call.received):
        found.append(("altered", "the stored answer goes on after what the caller got as a whole one"))
    if record.outcome == "complete" and not (served and served.whole and record.response == served.sent):
        found.append(("short", "recorded as complete, and is not all that the provider sent"))
    if record.outcome == "complete" and record.request != call.request:
        found.append(("short", "recorded as complete, and the request is not all that the caller sent"))
    return [Violation(each[0], call.tag, f"{each[1]} (record {record.id}, {record.outcome})") for each in found if each]


def _outcome(call: Call, record: Logged) -> tuple[Fault, str] | None:
    """The provider never fails here and no limit is met, so an answer ends in one of three ways."""
    if record.outcome in ("complete", "interrupted") or (record.outcome == "client_closed" and call.left):
        return None
    return "misjudged", f"outcome {record.outcome}"


def _holds(what: str, stored: bytes, other: str, wanted: bytes) -> tuple[Fault, str] | None:
    """``wanted`` must be a prefix of ``stored``."""
    if stored.startswith(wanted):
        return None
    if wanted.startswith(stored):
        return "short", f"{what} has {len(stored)} bytes, {other} {len(wanted)}"
    return "altered", f"{what} is not {other}"


def _within(what: str, stored: bytes, other: str, whole: bytes) -> tuple[Fault, str] | None:
    """``stored`` must be a prefix of ``whole``."""
    if whole.startswith(stored):
        return None
    return "altered", f"{what} ({len(stored)} bytes) is no beginning of {other} ({len(whole)} bytes)"


def _request_held(served: Served, record: Logged) -> tuple[Fault, str] | None:
    """All of the request that reached the provider must be stored."""
    if len(record.request) < served.received:
        return "short", f"{served.received} bytes of the request reached the provider, {len(record.request)} are stored"
    if hashlib.sha256(record.request[: served.received]).hexdigest() != served.received_sha256:
        return "altered", "the stored request is not what reached the provider"
    return None
