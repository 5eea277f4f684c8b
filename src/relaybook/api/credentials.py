"""Proves a sign-in: the token itself, or the cookie that stands for it.

A cookie's value is ``<expiry>.<HMAC-SHA256 of it, keyed by the token>``: it does not contain the token, needs no
memory on our side, works in every process, and dies when the token changes.
"""

import hashlib
import hmac
import re
from collections.abc import Iterable
from typing import Final

COOKIE: Final = "relaybook_session"
LIFETIME_SECONDS: Final = 30 * 86400
_VALUE = re.compile(r"(\d{1,12})\.([0-9a-f]{64})", re.ASCII)


def is_token(sent: bytes, token: str) -> bool:
    """Whether the bytes are the token; takes the same time for every wrong one."""
    return hmac.compare_digest(hashlib.sha256(sent).digest(), hashlib.sha256(token.encode()).digest())


def make_session(token: str, now_seconds: int) -> str:
    """A cookie's value that is good for LIFETIME_SECONDS."""
    expiry = now_seconds + LIFETIME_SECONDS
    return f"{expiry}.{_proof(token, expiry)}"


def is_session(value: str, token: str, now_seconds: int) -> bool:
    """Whether the cookie was made with this token and has not expired."""
    found = _VALUE.fullmatch(value)
    if found is None:
        return False
    is_ours = hmac.compare_digest(found[2], _proof(token, int(found[1])))
    return is_ours and int(found[1]) > now_seconds


def cookie_values(cookie_headers: Iterable[str]) -> list[str]:
    """The values of our cookie in ``Cookie`` headers; browsers send several when their paths differ."""
    pairs = (part.strip().partition("=") for header in cookie_headers for part in header.split(";"))
    return [value for name, _, value in pairs if name == COOKIE]


def set_cookie(value: str, max_age_seconds: int, prefix: str, is_secure: bool) -> str:
    """The ``Set-Cookie`` header; an age of 0 signs out."""
    flags = f"{COOKIE}={value}; Path={prefix or '/'}; Max-Age={max_age_seconds}; HttpOnly; SameSite=Strict"
    return flags + ("; Secure" if is_secure else "")


def _proof(token: str, expiry: int) -> str:
    return hmac.new(token.encode(), f"relaybook session:{expiry}".encode(), hashlib.sha256).hexdigest()
