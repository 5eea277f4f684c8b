"""Compare the log with what a client is expected to send: every request read, turns linked, tags, session, user."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

from tests.clients.client import PRINTED, SECOND_PROMPT, Client
from tests.support.server import Server

#: Notes that say that a body was not read as it should be.
_UNREAD: Final = frozenset(
    {
        "too_large_to_read",
        "unknown_encoding",
        "wrong_encoding",
        "not_json",
        "too_many_odd_events",
        "not_understood",
        "arguments_not_json",
    }
)
#: Types of items that have no text of a person or a model.
_NO_TEXT: Final = frozenset({"additional_tools", "configuration_update"})


@dataclass
class Logged:
    """What the log says about the requests of a client. Each finding is a difference from what is expected."""

    kinds: Counter[str] = field(default_factory=Counter)
    turns: int = 0
    sessions: set[str | None] = field(default_factory=set)
    users: set[str | None] = field(default_factory=set)
    findings: list[str] = field(default_factory=list)
    #: What is worth knowing, but no mistake.
    remarks: list[str] = field(default_factory=list)


def read_log(server: Server, client: Client, rows: list[dict[str, Any]], output: str) -> Logged:
    """Return what the log says about these rows, which are all requests of a client. ``output`` is what it printed."""
    logged = Logged()
    logged.kinds.update(row["kind"] for row in rows)
    details = [server.record(row["id"]) for row in sorted(rows, key=lambda row: str(row["started_at"]))]
    posts = [detail for detail in details if detail["method"] == "POST"]
    for detail in details:
        _check_request(logged, client, detail)
    for detail in posts:
        _check_parts(logged, detail)
        logged.sessions.add(detail["session"])
        logged.users.add(detail["user"])
    _check_thread(logged, server, client)
    _check_texts(logged, client, posts, output)
    for name, values, is_sent in (
        ("session", logged.sessions, client.sends_session),
        ("user", logged.users, client.sends_user),
    ):
        if is_sent and (len(values) != 1 or None in values):
            logged.findings.append(f"{name} is not the same in all requests: {sorted(map(str, values))}")
        if not is_sent and values - {None}:
            logged.findings.append(f"{name} was not expected: {sorted(map(str, values))}")
    return logged


def _check_request(logged: Logged, client: Client, detail: dict[str, Any]) -> None:
    where = f"{detail['method']} {detail['path']}"
    if detail["method"] != "POST":  # lists of models, and checks whether the upstream is reachable
        logged.remarks.append(f"{where}: status {detail['status']}")
        return
    if detail["status"] != 200 or detail["outcome"] != "complete" or detail["failed"]:
        why = detail["error_code"] or detail["error_message"]
        logged.findings.append(f"{where}: status {detail['status']}, {detail['outcome']}, {why}")
    has_property = detail["properties"].get("client") == client.name
    if detail["namespace"] != client.name or has_property != client.sends_headers:
        logged.findings.append(f"{where}: namespace {detail['namespace']}, properties {detail['properties']}")
    codes = [note["code"] for name in ("warnings", "notes", "advice") for note in detail[name]]
    unread = _UNREAD.intersection(codes)
    logged.findings += [f"{where}: note {code}" for code in sorted(unread)]
    logged.remarks += [f"{where}: {code}" for code in codes if code not in unread]
    if detail["kind"] == "other":
        logged.findings.append(f"{where}: the body is not read")
        return
    missing = [name for name in ("model", "input_tokens", "input_preview") if detail[name] is None]
    if "count" not in detail["path"]:
        missing += [name for name in ("output_tokens", "output_preview", "finish_reason") if detail[name] is None]
    if missing:
        logged.findings.append(f"{where}: unknown {', '.join(missing)}")
    if detail["tokens_estimated"]:
        logged.remarks.append(f"{where}: tokens are estimated")


def _check_parts(logged: Logged, detail: dict[str, Any]) -> None:
    """Report messages without parts, and parts of no known kind."""
    for message in detail["messages"] or ():
        for part in message.get("parts", ()):
            if part["kind"] == "other" and part.get("type") not in _NO_TEXT:
                logged.findings.append(f"{detail['path']}: a part of the type {part.get('type')} is not read")
        if not message.get("parts"):
            logged.findings.append(f"{detail['path']}: a message of the role {message['role']} is empty")
    for part in _outputs(detail):
        if part["kind"] == "other":
            logged.findings.append(f"{detail['path']}: an output of the type {part.get('type')} is not read")


def _check_thread(logged: Logged, server: Server, client: Client) -> None:
    thread = server.get(f"/api/thread?namespace={client.name}")
    conversations = Counter(row["conversation"] for row in thread["data"])
    longest = [
        row for row in thread["data"] if row["conversation"] == (conversations.most_common(1) or [("", 0)])[0][0]
    ]
    logged.turns = max((row["turn"] for row in longest), default=0)
    if logged.turns != client.turns:
        turns = [(row["turn"], row["kind"], (row["input_preview"] or "")[:40]) for row in thread["data"]]
        logged.findings.append(f"{client.turns} turns expected, {logged.turns} linked: {turns}")
    elif not thread["is_thread"]:
        logged.findings.append("the requests are not a thread")


def _check_texts(logged: Logged, client: Client, posts: list[dict[str, Any]], output: str) -> None:
    """Check the prompt of each turn in the previews, and the tool's call and result in the details."""
    previews = [detail["input_preview"] or "" for detail in posts]
    if not any(preview.startswith(client.prompt[:40]) for preview in previews):
        logged.findings.append(f"no preview is the prompt: {previews}")
    if client.turns > 2 and not any(preview.startswith(SECOND_PROMPT[:40]) for preview in previews):
        logged.findings.append(f"no preview is the second prompt: {previews}")
    if client.tool is None:
        return
    names = [client.tool[0], *client.tools_of_subagent]
    called = [part for detail in posts for part in _outputs(detail) if part["kind"] == "tool_call"]
    if [part.get("name") for part in called] != names:
        logged.findings.append(f"the calls of tools are {called}, not one call of each of {', '.join(names)}")
    if any("agent" in detail["properties"] for detail in posts) != bool(client.tools_of_subagent):
        logged.findings.append(f"the property agent is {'missing' if client.tools_of_subagent else 'not expected'}")
    results = [
        part.get("text") or ""
        for detail in posts
        for message in detail["messages"] or ()
        for part in message.get("parts", ())
        if part["kind"] == "tool_result"
    ]
    if not any(PRINTED in text for text in results):
        logged.findings.append(f"no request has the result of the tool: {results}")
    if PRINTED not in output:
        logged.findings.append("the client did not print the result of the tool")


def _outputs(detail: dict[str, Any]) -> list[dict[str, Any]]:
    return [part for output in (detail["response"] or {}).get("outputs", ()) for part in output.get("parts", ())]
