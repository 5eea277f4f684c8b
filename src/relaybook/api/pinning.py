"""Changes how namespaces are shown: pins, colours, groups, places. The same for everybody."""

import re
from typing import Any, Final

import msgspec
from msgspec import UNSET
from starlette.requests import Request
from starlette.responses import Response

from relaybook.api import arguments, document
from relaybook.api.errors import ApiError
from relaybook.api.namespaces import namespace_of
from relaybook.api.reading import reading_of
from relaybook.api.routes import Routes
from relaybook.api.schemas import Namespace
from relaybook.log.namespaces import COLORS, LAST_POSITION, LabelChange, Labels, NotPinned
from relaybook.log.store.errors import StoreUnavailable

routes = Routes("log")

#: What each field of a change takes, in words.
_TAKES: Final = {
    "namespace": "text of 1 to 256 characters, none of them NUL",
    "pinned": "true or false",
    "color": f"a whole number from 1 to {COLORS}",
    "group": "text of 1 to 40 characters, or null",
    "position": f"a whole number from 0 to {LAST_POSITION}",
}
#: Where msgspec says what is wrong: "… at `$.color`", "… unknown field `x`", "… required field `namespace`".
_FIELD: Final = re.compile(r"(?:at `\$\.|field `)(.+)`", re.DOTALL)


@routes.patch("/api/namespaces", document.reads(Namespace, body=LabelChange))
async def change_label(request: Request) -> Response:
    """Pin or unpin a namespace, or change the color, group or position of a label."""
    arguments.only(arguments.pairs_of(request))
    change = _change(await request.body())
    labels: Labels | None = request.app.state.labels
    if labels is None:
        raise ApiError("store_unavailable", "Nothing was changed: this program only reads the log.")
    try:
        row = await reading_of(request).ask(lambda _: labels.change(change))
    except NotPinned as error:
        raise ApiError("bad_body", str(error), "pinned") from None
    except StoreUnavailable as error:
        raise ApiError("store_unavailable", f"Nothing was changed: {error} Try again.") from error
    return Response(msgspec.json.encode(namespace_of(row)), media_type="application/json")


def _change(body: bytes) -> LabelChange:
    """What the body asks for. Raises ApiError ``bad_body`` that names the field."""
    try:
        change = msgspec.json.decode(body, type=LabelChange)
    except msgspec.ValidationError as error:
        raise _refusal(str(error), msgspec.json.decode(body)) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ApiError("bad_body", f"The body is no JSON: {error}.") from None
    if all(getattr(change, name) is UNSET for name in ("pinned", "color", "group", "position")):
        raise ApiError("bad_body", "Nothing is to be changed: give pinned, color, group or position.")
    return change


def _refusal(problem: str, sent: Any) -> ApiError:
    found = _FIELD.search(problem)
    if found is None or not isinstance(sent, dict):
        return ApiError("bad_body", f'Send one object, like {{"namespace": "ios", "pinned": true}}: {problem}.')
    name = found[1]
    if name not in _TAKES:
        return ApiError("bad_body", f"{name[:80]} is not a field here. Known: {', '.join(_TAKES)}.", name[:80])
    given = msgspec.json.encode(sent[name]).decode()[:80] if name in sent else "missing"
    return ApiError("bad_body", f"{name} is {given}: it takes {_TAKES[name]}.", name)
