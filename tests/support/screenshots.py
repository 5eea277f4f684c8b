"""Writes the pictures in docs/images: each state of the page, in both themes, on a desk and on a phone.

``python -m tests.support.screenshots [name …]`` writes all of them, or those of the states named. What is seen is the
demo; empty and signed-out states are of a server without requests.
"""

import os
import re
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from itertools import product
from pathlib import Path
from typing import Any, Final, Literal

from playwright.sync_api import Browser, Page, expect
from tests.support.browser import chromium
from tests.support.server import Program, Server, wait_until
from tests.support.small_png import small_png

IMAGES: Final = Path(__file__).parents[2] / "docs" / "images"
MOST_BYTES: Final = 150_000
_SIZES: Final = {"": (1440, 900), "-phone": (390, 844)}
_THEMES: Final[tuple[Literal["light", "dark"], ...]] = ("light", "dark")
#: The demo's history, and something of the day.
_REQUESTS: Final = 60
_UNREADABLE: Final = {
    "error": {
        "message": "The store is being repaired.",
        "type": "api_error",
        "param": None,
        "code": "store_unavailable",
    }
}


#: Everything has faded in.
_IS_STILL: Final = """
() => document.getAnimations().every((one) => {
  return one.playState !== "running" || one.effect.getComputedTiming().iterations === Infinity;
})
"""


class Demo(Server):
    """``relaybook demo`` on free ports; a Server in all else."""

    def __init__(self, directory: Path) -> None:
        self.data = directory / "data"
        listen = ["--listen", "127.0.0.1:0", "--dashboard", "127.0.0.1:0"]
        Program.__init__(self, ["-m", "relaybook.cli", "demo", "--data", str(self.data), *listen], directory, "demo")
        self.base_url = self.printed(r"base URL\s+(\S+)")
        self.dashboard = self.printed(r"dashboard\s+(\S+)")


class Scene:
    """The servers that are looked at."""

    def __init__(self, demo: Server, empty: Server, closed: Server) -> None:
        self.demo = demo
        self.empty = empty
        self.closed = closed

    def latest(self, query: str) -> dict[str, Any]:
        """The latest request of the demo that a filter finds."""

        def look() -> dict[str, Any] | None:
            page = self.demo.get(f"/api/requests?limit=20&{query}")
            rows = [*page["data"], *page["running"]]
            return next((row for row in rows if row["outcome"] != "open" or row["output_preview"]), None)

        return wait_until(look, 60, query)


def log(page: Page, scene: Scene) -> None:
    page.goto(f"{scene.demo.dashboard}/requests")
    expect(_rows(page).nth(8)).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("^logging"))).to_be_visible()


def filtered(page: Page, scene: Scene) -> None:
    log(page, scene)
    chips = page.locator('[data-log] a[data-field="namespace"][data-value="staging"]')
    expect(chips.first).to_be_visible()
    chips.first.click()
    page.wait_for_url("**/requests?namespace=staging")
    page.mouse.move(700, 4)
    expect(page.get_by_role("region", name="Filter", exact=True)).to_contain_text("requests")


def menu(page: Page, scene: Scene) -> None:
    log(page, scene)
    chip = page.locator('[data-log] a[data-field="namespace"][data-value="production"]').first
    chip.focus()
    page.keyboard.press("m")
    expect(page.get_by_role("menu")).to_contain_text("last")


def request(page: Page, scene: Scene) -> None:
    _open(page, scene, "namespace=production&finish_reason=stop&kind=chat&property.feature=support")


def request_failed(page: Page, scene: Scene) -> None:
    _open(page, scene, "status=429")


def request_running(page: Page, scene: Scene) -> None:
    _open(page, scene, "outcome=open")


def connect(page: Page, scene: Scene) -> None:
    page.goto(f"{scene.empty.dashboard}/requests")
    expect(page.get_by_text("Listening")).to_be_visible()


def no_match(page: Page, scene: Scene) -> None:
    page.goto(f"{scene.demo.dashboard}/requests?namespace=staging&model=gpt-5")
    expect(page.get_by_role("button", name="remove model", exact=True)).to_be_visible()


def unreadable(page: Page, scene: Scene) -> None:
    page.route(re.compile(r"/api/requests\?"), lambda route: route.fulfill(status=503, json=_UNREADABLE))
    page.goto(f"{scene.demo.dashboard}/requests")
    expect(page.get_by_role("button", name="again", exact=True)).to_be_visible()


def sign_in(page: Page, scene: Scene) -> None:
    page.goto(f"{scene.closed.dashboard}/requests")
    expect(page.get_by_label("Dashboard token")).to_be_visible()


STATES: Final[dict[str, Callable[[Page, Scene], None]]] = {
    "log": log,
    "filtered": filtered,
    "menu": menu,
    "request": request,
    "request-failed": request_failed,
    "request-running": request_running,
    "connect": connect,
    "no-match": no_match,
    "unreadable": unreadable,
    "sign-in": sign_in,
}


def _rows(page: Page) -> Any:
    return page.locator("[data-log] tr[data-request]")


def _open(page: Page, scene: Scene, query: str) -> None:
    """The latest request of a filter, over the log."""
    page.goto(f"{scene.demo.dashboard}/requests/{scene.latest(query)['id']}")
    drawer = page.get_by_role("dialog", name=re.compile("^Request "))
    expect(
        drawer.get_by_role("article", name="answer").locator("[class*=markdown], pre, [class*=mono]").first
    ).to_be_visible()
    expect(_rows(page).first).to_be_visible()


def _take(page: Page, blank: Page, scene: Scene, name: str, path: Path) -> None:
    STATES[name](page, scene)
    page.wait_for_function(_IS_STILL)
    path.write_bytes(small_png(page.screenshot(animations="disabled"), blank))
    size = path.stat().st_size
    print(f"{path.name} {size / 1000:.0f} kB{'' if size <= MOST_BYTES else ': too large'}", flush=True)


def _take_all(browser: Browser, scene: Scene, names: list[str]) -> None:
    blank = browser.new_page()
    for (size, (width, height)), theme, name in product(_SIZES.items(), _THEMES, names):
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=theme)
        _take(context.new_page(), blank, scene, name, IMAGES / f"{name}{size}-{theme}.png")
        context.close()


def main(names: list[str]) -> None:
    """Writes the pictures of these states, or of all."""
    IMAGES.mkdir(exist_ok=True)
    expect.set_options(timeout=30_000)
    with tempfile.TemporaryDirectory() as temporary, ExitStack() as stack:
        root = Path(temporary)
        (root / "empty").mkdir()
        (root / "closed").mkdir()
        token = {**os.environ, "RELAYBOOK_DASHBOARD_TOKEN": "a-token-for-the-picture"}
        demo = stack.enter_context(Demo(root))
        # Nobody sends requests there, so nothing is asked of this provider.
        empty = stack.enter_context(Server(root / "empty", "https://api.openai.com/v1"))
        closed = stack.enter_context(Server(root / "closed", "https://api.openai.com/v1", env=token))
        wait_until(lambda: demo.get("/api/status")["records"] >= _REQUESTS, 120, "the demo's history")
        browser = stack.enter_context(chromium())
        _take_all(browser, Scene(demo, empty, closed), names or list(STATES))


if __name__ == "__main__":
    main(sys.argv[1:])
