"""Serves the page: its document at its addresses, its files, and the form that asks for the token."""

from collections.abc import Mapping
from typing import Final

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from relaybook.api import home
from relaybook.api.errors import AUTHENTICATE, ApiError
from relaybook.api.options import PROGRAM_SEGMENTS, options_of
from relaybook.api.routes import Routes
from relaybook.page.page import Document, Page


def is_navigation(scope: Scope) -> bool:
    """Whether the answer is to be a page: the request wants HTML, and its path is none that programs ask for."""
    if scope["method"] not in ("GET", "HEAD") or _first_segment(scope["path"]) in PROGRAM_SEGMENTS:
        return False
    accepted = Headers(scope=scope).get("accept", "").lower().split(",")
    return any(part.partition(";")[0].strip() == "text/html" for part in accepted)


def _first_segment(path: str) -> str:
    """Of ``*``, which may stand where a path does (RFC 9112 §3.2.4), all."""
    return path.removeprefix("/").partition("/")[0]


def is_known_to_page(path: str) -> bool:
    """Whether the page may know an address that the server does not: any that does not look like a file."""
    return "." not in path.rpartition("/")[2]


routes = Routes()

_READ: Final = ["GET", "HEAD"]
#: The names of files have a hash of what is in them.
_FOR_EVER: Final = "public, max-age=31536000, immutable"


@routes.undocumented("/requests", _READ)
@routes.undocumented("/requests/{id:path}", _READ)
@routes.undocumented("/namespaces", _READ)
@routes.undocumented("/overview", _READ)
@routes.undocumented("/thread", _READ)
@routes.undocumented("/connect", _READ)
async def get_page(request: Request) -> Response:
    """The page, whatever is asked for: it reads the address itself."""
    page = options_of(request).page
    return _html(page.index(request.state.prefix)) if page else home.plain(request)


@routes.undocumented("/assets/{name}", _READ)
async def get_asset(request: Request) -> Response:
    """One of the page's files, out of memory: no name leads to any other file."""
    page = options_of(request).page
    asset = page.assets.get(request.path_params["name"]) if page else None
    if asset is None:
        raise ApiError("not_found", "The page has no such file; it may have been built anew: load the page again.")
    body, coding = asset.for_browser(request.headers.get("accept-encoding", ""))
    headers = {"Cache-Control": _FOR_EVER, "Vary": "Accept-Encoding"}
    return Response(body, 200, headers | ({"Content-Encoding": coding} if coding else {}), asset.media_type)


async def elsewhere(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers where no route does: with the page if it may know the address, else with 404."""
    if not (is_navigation(scope) and is_known_to_page(scope["path"])):
        raise HTTPException(404)
    await (await get_page(Request(scope)))(scope, receive, send)


def sign_in(page: Page, prefix: str) -> Response:
    """The refusal ``not_signed_in`` for people: the form, at the address they wanted."""
    return _html(page.sign_in(prefix), 401, AUTHENTICATE)


def _html(document: Document, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    policy = {"Content-Security-Policy": document.policy}
    return Response(document.text, status, policy | dict(headers or {}), "text/html")
