"""Start Chromium, and detect actions that are forbidden for the page.

Playwright keeps an event loop running in the thread that started it. Other tests on the same worker start their own
event loop, so the browser is closed after the tests of its package.
"""

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final, cast
from urllib.parse import urlsplit

from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Dialog,
    Expect,
    Locator,
    Page,
    Request,
    WebError,
    sync_playwright,
)
from playwright.sync_api import expect as playwright_expect
from tests.support.needs import needs

CHROMIUM: Final = "chromium-headless-shell"
needs_chromium: Final = needs(CHROMIUM)

#: Flags that keep the page and the browser itself from sending anything to other machines.
FLAGS: Final = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
#: JavaScript that logs violations of the content security policy with their URLs, because Chromium's own console
#: messages lack the URLs.
_REPORT_VIOLATIONS: Final = """
document.addEventListener("securitypolicyviolation", (event) => {
  console.error(`policy: ${event.violatedDirective} blocked ${event.blockedURI} ${event.sample}`);
});
"""
#: The longest timeout with which Playwright checks an assertion every 100 ms.
_OFTEN_MS: Final = 2_400
#: The time after which an assertion fails.
_PATIENT_MS: Final = 20_000
_OWN_SCHEMES: Final = ("data", "blob", "about")


@contextmanager
def chromium() -> Iterator[Browser]:
    """Run a headless browser until the end of the block."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which(CHROMIUM), args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


class _CheckedOften:
    """Runs each assertion with a short timeout, and then with the long timeout if the first run fails."""

    def __init__(self, actual: Locator | Page, message: str | None = None) -> None:
        self._assertions: Any = playwright_expect(cast(Any, actual), message)

    def __getattr__(self, name: str) -> Callable[..., None]:
        def check(*arguments: Any, timeout: float = _PATIENT_MS, **options: Any) -> None:
            assertion = getattr(self._assertions, name)
            with suppress(AssertionError):
                assertion(*arguments, timeout=min(timeout, _OFTEN_MS), **options)
                return
            assertion(*arguments, timeout=timeout, **options)

        return check


#: Playwright's assertions, checked every 100 ms during the first seconds. With a long timeout, Playwright would
#: check after 270 ms and then every 500 ms. The page is often ready shortly after such a check.
expect: Final = cast(Expect, _CheckedOften)


class Guard:
    """Collects the problems in all tabs of a browser context in ``problems``.

    Problems are: error messages on the console, including violations of the content security policy; uncaught
    exceptions; dialogs; and requests to an origin other than the dashboard's.
    """

    def __init__(self, context: BrowserContext, dashboard: str) -> None:
        self._origin = _origin_of(dashboard)
        self._problems: list[str] = []
        self._expected: list[re.Pattern[str]] = []
        context.add_init_script(_REPORT_VIOLATIONS)
        context.on("console", self._on_console)
        context.on("weberror", self._on_error)
        context.on("request", self._on_request)
        context.on("dialog", self._on_dialog)
        context.on("page", self._on_page)

    def expect(self, pattern: str) -> None:
        """Ignore problems that match a pattern, such as the browser's message about a 503 that the test causes."""
        self._expected.append(re.compile(pattern))

    @property
    def problems(self) -> list[str]:
        """All problems that were not expected."""
        return [problem for problem in self._problems if not any(pattern.search(problem) for pattern in self._expected)]

    def start_again(self) -> None:
        """Forget all problems and all expected patterns."""
        self._problems.clear()
        self._expected.clear()

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "assert"):
            self._problems.append(f"console: {message.text} ({message.location.get('url', '')})")

    def _on_error(self, error: WebError) -> None:
        self._problems.append(f"uncaught: {error.error.message}\n{error.error.stack or ''}")

    def _on_request(self, request: Request) -> None:
        self._check(request.url)

    def _on_page(self, page: Page) -> None:
        page.on("websocket", lambda socket: self._check(socket.url))

    def _on_dialog(self, dialog: Dialog) -> None:
        self._problems.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _check(self, url: str) -> None:
        if urlsplit(url).scheme not in _OWN_SCHEMES and _origin_of(url) != self._origin:
            self._problems.append(f"foreign request: {url}")


def _origin_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
