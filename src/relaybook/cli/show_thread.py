"""``relaybook show --thread``: print the turns of a thread, the tool calls of each turn, and their totals."""

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, Final

from relaybook.cli.failure import BadArgument, CommandFailed
from relaybook.cli.output import cost, duration, escape, local_time, plural, result, tokens
from relaybook.cli.source import Terms, open_log
from relaybook.cli.terms import lag_hint, read_terms
from relaybook.settings.configuration import Configuration
from relaybook.settings.definitions import is_utf8

_SHORT: Final = 60
#: The longest lists of tools.
_LISTED: Final = 5


def show_thread(configuration: Configuration, selector: str, *, as_json: bool = False) -> int:
    """Print the conversation of the request with an id, or a thread such as ``session=8f3a``.

    Raises CommandFailed if the thread has no requests.
    """
    terms = _terms(selector)
    log = open_log(configuration)
    lanes = log.lanes(terms)
    if lanes is None or not lanes["requests"]:
        what = "finished request with this id" if terms[0][0] == "conversation" else "request in this thread"
        raise CommandFailed(f"The log has no {what}: {escape(selector[:80])}.{lag_hint(log)}")
    print(json.dumps(lanes) if as_json else thread_transcript(lanes))
    return 0


def _terms(selector: str) -> Terms:
    """Return the thread as in the query string of the API. Anything without a name is the id of a request."""
    name, equals, value = selector.partition("=")
    is_name = name in ("namespace", "session") or name.removeprefix("property.") not in ("", name)
    if not is_utf8(selector) or (equals and (not is_name or not value)):
        raise BadArgument(
            f"{escape(selector[:80])} is not a thread. Write the id of a request, session=ID, namespace=NAME or "
            "property.NAME=VALUE."
        )
    return read_terms([selector]) if equals else [("conversation", selector)]


def thread_transcript(lanes: dict[str, Any]) -> str:
    """Format the lanes of a thread (see ``GET /api/lanes``) as text, without a final newline."""
    return "\n".join([*_totals(lanes), *_conversations(lanes)])


def _totals(lanes: dict[str, Any]) -> Iterator[str]:
    totals = lanes["totals"]
    failed = f" ({totals['failed']:,} failed)" if totals["failed"] else ""
    yield f"requests    {totals['requests']:,}{failed}"
    counts = {"failed": totals["failed_calls"], "without a result": totals["unanswered_calls"]}
    other = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
    yield f"tool calls  {totals['calls']:,}{f' ({other})' if other else ''}"
    yield (
        f"time        {_seconds(totals['wall_ms'])} in all: model {_seconds(totals['model_wall_ms'])}, tools "
        f"{_seconds(totals['tool_wall_ms'])} (sum of calls {_seconds(totals['tool_ms'])}), idle "
        f"{_seconds(totals['idle_ms'])}"
    )
    yield f"tokens      {tokens(totals)}"
    yield f"cost        {cost(totals)}"
    for tool in lanes["tools"][:_LISTED]:
        failures = f", {tool['failed']:,} failed" if tool["failed"] else ""
        yield (
            f"tool        {escape(tool['name'])}: {plural(tool['calls'], 'call', 'calls')}, "
            f"{_seconds(tool['total_ms'])}, longest {_seconds(tool['longest_ms'])}{failures}"
        )
    if lanes["has_older"]:
        yield f"            Only the latest {totals['requests']:,} requests are shown."
    if not lanes["complete"]:
        yield "            Some bodies were not read in time, so tool calls may be missing."


def _conversations(lanes: dict[str, Any]) -> Iterator[str]:
    calls: dict[str, list[dict[str, Any]]] = {}
    for call in lanes["calls"]:
        calls.setdefault(call["request"], []).append(call)
    start = datetime.fromisoformat(lanes["started_at"])
    for index, lane in enumerate(lanes["lanes"]):
        if lane["tool"] is not None:
            continue
        agent = "" if lane["agent"] is None else f", agent {escape(lane['agent'])}"
        name = "other requests" if lane["conversation"] is None else f"conversation {lane['conversation']}{agent}"
        yield from ("", f"── {name}")
        for request in lanes["requests"]:
            if request["lane"] == index:
                yield _turn(request, start)
                yield from map(_call, calls.get(request["id"], ()))


def _turn(request: dict[str, Any], start: datetime) -> str:
    at = local_time((start + timedelta(milliseconds=request["start_ms"])).isoformat())
    row = request | {"outcome": "complete", "duration_ms": request["end_ms"] - request["start_ms"]}
    figures = "  ".join((at, duration(row), tokens(row), cost(row), result(row)))
    return f"turn {request['turn']:<5} {figures}  {_short(request['preview'] or '')}".rstrip()


def _call(call: dict[str, Any]) -> str:
    called = f"{escape(call['name'])}({_short(call['arguments'])})"
    if call["end_ms"] is None:
        return f"           ◌ {called}  no result"
    lines = f"{call['result_lines']:,} lines: " if call["result_lines"] > 1 else ""
    took = _seconds(call["end_ms"] - call["start_ms"])
    return f"           {'✗' if call['failed'] else '✓'} {called}  {took} → {lines}{_short(call['result'])}".rstrip()


def _seconds(ms: float | None) -> str:
    return duration({"duration_ms": ms})


def _short(text: str) -> str:
    return escape(text if len(text) <= _SHORT else text[: _SHORT - 1] + "…")
