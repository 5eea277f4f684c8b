"""Tells a person who opens an address in a browser from a program that calls the API. Pure."""

from starlette.datastructures import Headers
from starlette.types import Scope

from relaybook.api.options import PROGRAM_SEGMENTS


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
