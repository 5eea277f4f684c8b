"""Reads what a relay notes about requests that have no record. Pure."""

from relaybook.journal.events import Noted
from relaybook.records import Gap


def add_refused(refused: dict[str, int], note: Noted) -> None:
    """Adds the note's counts, by code."""
    for code, count in note.refused.items():
        refused[code] = refused.get(code, 0) + count


def gaps_of(note: Noted) -> list[Gap]:
    """Spans of the note in which requests were relayed unlogged, or refused for want of a log."""
    span = {"from_at": note.from_ns // 1000, "to_at": note.to_ns // 1000}
    gaps = []
    if unlogged := note.forwarded_unlogged:
        gaps.append(Gap(**span, count=unlogged, reason="forwarded_unlogged"))
    if refused := note.refused.get("log_unavailable"):
        gaps.append(Gap(**span, count=refused, reason="log_unavailable"))
    return gaps
