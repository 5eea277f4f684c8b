"""Serve the page: its HTML document, its assets, and the sign-in form."""

from collections.abc import Mapping
from typing import Final

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from relaybook.api import home
from relaybook.api.errors import AUTHENTICATE, ApiError
from relaybook.api.options import options_of
from relaybook.api.routes import Routes
from relaybook.page.page import BuiltPage, Document
from relaybook.settings.addresses import PROGRAM_SEGMENTS


def is_navigation(scope: Scope) -> bool:
    """Whether the request comes from a browser that opens an address and expects a page.

    Such a request has the method GET or HEAD and accepts HTML. The first segment of its path is not one of
    PROGRAM_SEGMENTS, such as ``api``.
    """
    if scope["method"] not in ("GET", "HEAD") or _first_segment(scope["path"]) in PROGRAM_SEGMENTS:
        return False
    accepted = Headers(scope=scope).get("accept", "").lower().split(",")
    return any(part.partition(";")[0].strip() == "text/html" for part in accepted)


def _first_segment(path: str) -> str:
    """Return the first path segment. The request target ``*`` (RFC 9112 §3.2.4) is returned unchanged."""
    return path.removeprefix("/").partition("/")[0]


def is_page_path(path: str) -> bool:
    """Whether an unknown path may be an address of the page. Paths that look like file names are excluded."""
    return "." not in path.rpartition("/")[2]


routes = Routes()

_READ: Final = ["GET", "HEAD"]
#: Assets never change, because each file name contains a hash of the content.
_IMMUTABLE: Final = "public, max-age=31536000, immutable"


@routes.undocumented("/requests", _READ)
@routes.undocumented("/requests/{id:path}", _READ)
@routes.undocumented("/namespaces", _READ)
@routes.undocumented("/overview", _READ)
@routes.undocumented("/thread", _READ)
@routes.undocumented("/connect", _READ)
async def get_page(request: Request) -> Response:
    """Return the page. All addresses get the same document. Its script decides in the browser what to show."""
    page = options_of(request).page
    return _html(page.index(request.state.prefix)) if page else home.page_not_built(request)


@routes.undocumented("/assets/{name}", _READ)
async def get_asset(request: Request) -> Response:
    """Return an asset of the page. Assets are in memory, so a name cannot refer to a file on the disk."""
    page = options_of(request).page
    asset = page.assets.get(request.path_params["name"]) if page else None
    if asset is None:
        raise ApiError(
            "not_found", "The page has no file with this name. The page may have been rebuilt. Reload the page."
        )
    body, coding = asset.negotiate(request.headers.get("accept-encoding", ""))
    headers = {"Cache-Control": _IMMUTABLE, "Vary": "Accept-Encoding"}
    return Response(body, 200, headers | ({"Content-Encoding": coding} if coding else {}), asset.media_type)


async def fallback(scope: Scope, receive: Receive, send: Send) -> None:
    """Respond to an unknown path with the page, or with 404.

    The response is the page if a browser opens the address and the path does not look like a file name.
    """
    if not (is_navigation(scope) and is_page_path(scope["path"])):
        raise HTTPException(404)
    await (await get_page(Request(scope)))(scope, receive, send)


def sign_in(page: BuiltPage, prefix: str) -> Response:
    """Return the sign-in form with status 401.

    The address stays the same, so the page opens after the user signs in.
    """
    return _html(page.sign_in(prefix), 401, AUTHENTICATE)


def _html(document: Document, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    policy = {"Content-Security-Policy": document.policy}
    return Response(document.text, status, policy | dict(headers or {}), "text/html")
