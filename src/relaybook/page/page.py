"""Hold the page's two HTML documents.

Each response gets a new nonce, the dashboard's sub-path and a ``Content-Security-Policy``.
"""

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Final

from relaybook.page.assets import Asset, read_assets

STATIC: Final = Path(__file__).parent / "static"
#: The attribute in which the build writes its id.
_BUILD: Final = re.compile(r'data-build="([0-9a-f]{16})"')
#: Styles that the page adds at run time have the nonce. Inline scripts are not allowed.
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; img-src 'self' data:; connect-src 'self';"
    " font-src 'self'; media-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


@dataclass(frozen=True)
class Document:
    """The HTML for one load of the page, and its ``Content-Security-Policy``."""

    text: str
    policy: str


@dataclass(frozen=True)
class BuiltPage:
    """The page. ``build`` is the id of the build; ``assets`` are its files by name."""

    build: str | None
    assets: Mapping[str, Asset]
    _index: str
    _sign_in: str

    def index(self, base: str) -> Document:
        """Return the application's document. ``base`` is the sub-path of the dashboard, without a trailing slash."""
        return _render(self._index, base)

    def sign_in(self, base: str) -> Document:
        """Return the sign-in form. ``base`` is the sub-path of the dashboard, without a trailing slash."""
        return _render(self._sign_in, base)


def load_page(static: Path = STATIC) -> BuiltPage | None:
    """Read the whole page into memory. Returns `None` if the page is not built."""
    index, sign_in = static / "index.html", static / "sign-in.html"
    if not (index.exists() and sign_in.exists()):
        return None
    text = _read(index)
    build = _BUILD.search(text)
    return BuiltPage(build[1] if build else None, read_assets(static / "assets"), text, _read(sign_in))


def _read(path: Path) -> str:
    """Return a document with absolute asset paths, because ``./assets`` would not resolve at /requests/<id>."""
    return path.read_text("utf-8").replace('"./assets/', '"__BASE__/assets/')


def _render(text: str, base: str) -> Document:
    nonce = secrets.token_urlsafe(16)
    text = text.replace("__NONCE__", nonce).replace("__BASE__", escape(base))
    return Document(text, _POLICY.format(nonce=nonce))
