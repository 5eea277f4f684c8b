"""Write a minimal version of the page that the build creates."""

from pathlib import Path
from typing import Final

from relaybook.page.page import BuiltPage, load_page

BUILD: Final = "0123456789abcdef"
INDEX: Final = """<!doctype html>
<meta property="csp-nonce" nonce="__NONCE__">
<script type="module" crossorigin nonce="__NONCE__" src="./assets/index-a1.js"></script>
<link rel="stylesheet" href="./assets/index-b2.css">
<div id="root" data-base="__BASE__" data-build="0123456789abcdef" data-nonce="__NONCE__"></div>
"""
SIGN_IN: Final = """<!doctype html>
<script type="module" src="./assets/sign-in-c3.js"></script>
<form data-base="__BASE__"></form>
"""
ASSETS: Final = {
    "index-a1.js": b"console.log('the page');" * 100,
    "index-b2.css": b"body { margin: 0 }",
    "sign-in-c3.js": b"",
    "icon-d4.svg": b"<svg/>",
}


def write_page(directory: Path, **replaced: str) -> Path:
    """Write ``index.html``, ``sign-in.html`` and ``assets/`` to a directory and return it."""
    (directory / "assets").mkdir(parents=True)
    (directory / "index.html").write_text(replaced.get("index", INDEX), "utf-8")
    (directory / "sign-in.html").write_text(replaced.get("sign_in", SIGN_IN), "utf-8")
    for name, data in ASSETS.items():
        (directory / "assets" / name).write_bytes(data)
    return directory


def page_in(directory: Path, **replaced: str) -> BuiltPage:
    """Write a page to a directory and load it."""
    page = load_page(write_page(directory, **replaced))
    assert page is not None
    return page
