"""Holds the built page's two documents and completes them for each load: nonce, sub-path, policy."""

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Final

from relaybook.page.assets import Asset, read_assets

STATIC: Final = Path(__file__).parent / "static"
#: The build wrote its id here.
_BUILD: Final = re.compile(r'data-build="([0-9a-f]{16})"')
#: Styles that the page adds while it runs carry the nonce; scripts are files alone.
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; img-src 'self' data:; connect-src 'self';"
    " font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


@dataclass(frozen=True)
class Document:
    """HTML for one load, and the ``Content-Security-Policy`` that goes with it."""

    text: str
    policy: str


@dataclass(frozen=True)
class Page:
    """The page. ``build`` tells one build from another; ``assets`` are its files by name."""

    build: str | None
    assets: Mapping[str, Asset]
    _index: str
    _sign_in: str

    def index(self, base: str) -> Document:
        """The application. ``base`` is the sub-path before our paths, without a slash at its end."""
        return _complete(self._index, base)

    def sign_in(self, base: str) -> Document:
        """The form that asks for the token; the address stays the one that was wanted."""
        return _complete(self._sign_in, base)


def load_page(static: Path = STATIC) -> Page | None:
    """Reads the page once; None when it was not built. Nothing is read afterwards."""
    index, sign_in = static / "index.html", static / "sign-in.html"
    if not (index.exists() and sign_in.exists()):
        return None
    text = _read(index)
    build = _BUILD.search(text)
    return Page(build[1] if build else None, read_assets(static / "assets"), text, _read(sign_in))


def _read(path: Path) -> str:
    """A document whose files are found from every depth: ``./assets`` means another place at /requests/<id>."""
    return path.read_text("utf-8").replace('"./assets/', '"__BASE__/assets/')


def _complete(text: str, base: str) -> Document:
    nonce = secrets.token_urlsafe(16)
    text = text.replace("__NONCE__", nonce).replace("__BASE__", escape(base))
    return Document(text, _POLICY.format(nonce=nonce))
