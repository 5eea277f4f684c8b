"""A real Chromium, and a guard that notices what the page must never do.

Playwright keeps an event loop running in the thread that started it, so a browser lives no longer than the tests of its
package: other tests on the same worker start a loop of their own.
"""

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final
from urllib.parse import urlsplit

from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Dialog,
    Page,
    Request,
    WebError,
    sync_playwright,
)
from tests.support.needs import needs

CHROMIUM: Final = "chromium-headless-shell"
needs_chromium: Final = needs(CHROMIUM)

#: Nothing leaves this machine, whatever the page or the browser itself asks for.
_FLAGS: Final = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
#: Chromium's own words about a refusal go to the console too; these say what was refused and where.
_TELL_POLICY: Final = """
document.addEventListener("securitypolicyviolation", (event) => {
  console.error(`policy: ${event.violatedDirective} kept out ${event.blockedURI} ${event.sample}`);
});
"""
_OWN_SCHEMES: Final = ("data", "blob", "about")


@contextmanager
def chromium() -> Iterator[Browser]:
    """A headless browser, until the end of the block."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which(CHROMIUM), args=_FLAGS)
        try:
            yield browser
        finally:
            browser.close()


class Guard:
    """Hears everything that goes wrong in all tabs of a context: what it heard is in ``problems``.

    That is every line the browser or the page writes to the console as an error, reports of the content security policy
    among them, every exception nobody caught, every dialog, and every request to another origin than the dashboard's.
    """

    def __init__(self, context: BrowserContext, dashboard: str) -> None:
        self._origin = _origin_of(dashboard)
        self._heard: list[str] = []
        self._expected: list[re.Pattern[str]] = []
        context.add_init_script(_TELL_POLICY)
        context.on("console", self._on_console)
        context.on("weberror", self._on_error)
        context.on("request", self._on_request)
        context.on("dialog", self._on_dialog)
        context.on("page", self._on_page)

    def expect(self, pattern: str) -> None:
        """Problems that match are part of the test, such as the browser's line about a 503 it was given."""
        self._expected.append(re.compile(pattern))

    @property
    def problems(self) -> list[str]:
        """All that was heard and not expected."""
        return [heard for heard in self._heard if not any(pattern.search(heard) for pattern in self._expected)]

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "assert"):
            self._heard.append(f"console: {message.text} ({message.location.get('url', '')})")

    def _on_error(self, error: WebError) -> None:
        self._heard.append(f"uncaught: {error.error.message}\n{error.error.stack or ''}")

    def _on_request(self, request: Request) -> None:
        self._check(request.url)

    def _on_page(self, page: Page) -> None:
        page.on("websocket", lambda socket: self._check(socket.url))

    def _on_dialog(self, dialog: Dialog) -> None:
        self._heard.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _check(self, url: str) -> None:
        if urlsplit(url).scheme not in _OWN_SCHEMES and _origin_of(url) != self._origin:
            self._heard.append(f"foreign request: {url}")


def _origin_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
