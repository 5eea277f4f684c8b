"""Handle control requests under ``/__sim/``, which change scripts, the ledger and refused connections."""

from collections import deque
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import parse_qs, unquote

import msgspec

from relaybook_demo.simulator import replies
from relaybook_demo.simulator.incoming import Request
from relaybook_demo.simulator.ledger import Ledger
from relaybook_demo.simulator.replies import Reply
from relaybook_demo.simulator.scripts import Script, read_script

PREFIX = "/__sim/"
_SCRIPTS = "/__sim/scripts/"

Refusal = Literal["fin", "rst", "hang"]


@dataclass(slots=True)
class Controls:
    """State that can be changed while the simulator runs.

    ``refusals`` says how to refuse each of the next connections.
    """

    ledger: Ledger
    scripts: dict[str, Script] = field(default_factory=dict)
    refusals: deque[Refusal] = field(default_factory=deque)


class _Refusals(msgspec.Struct, forbid_unknown_fields=True):
    how: Refusal = "fin"
    count: int = 1


def control(request: Request, controls: Controls) -> Reply:
    """Execute a control request. Invalid requests get status 400."""
    try:
        return _control(request, controls)
    except (msgspec.DecodeError, ValueError) as error:
        return replies.invalid_request(400, f"{request.method} {request.path}: {error}")


def _control(request: Request, controls: Controls) -> Reply:
    path = request.path
    if path.startswith(_SCRIPTS) and len(path) > len(_SCRIPTS):
        return _script(request, unquote(path.removeprefix(_SCRIPTS)), controls.scripts)
    match request.method, path:
        case "GET", "/__sim/ledger":
            since = int(parse_qs(request.query).get("since", ["0"])[0])
            return Reply(body=controls.ledger.lines(since), content_type=b"application/x-ndjson")
        case "DELETE", "/__sim/ledger":
            controls.ledger.clear()
            return Reply(204)
        case "PUT", "/__sim/refusals":
            refusals = msgspec.json.decode(request.body, type=_Refusals)
            controls.refusals = deque([refusals.how] * refusals.count)
            return Reply(204)
        case _:
            return replies.invalid_url(request.method, path)


def _script(request: Request, name: str, scripts: dict[str, Script]) -> Reply:
    match request.method:
        case "PUT":
            scripts[name] = read_script(request.body)
            return Reply(204)
        case "GET" | "DELETE" if name not in scripts:
            return replies.invalid_request(404, f"Script {name!r} does not exist.")
        case "GET":
            return replies.json_reply(scripts[name])
        case "DELETE":
            del scripts[name]
            return Reply(204)
        case _:
            return replies.invalid_url(request.method, request.path)
