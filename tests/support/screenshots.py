"""Take the screenshots of the documentation: ``python -m tests.support.screenshots``.

With ``--all DIRECTORY``, the command instead writes all states of the page to a directory, in both themes and both
sizes. Names of states after the option limit the output to these states. Most pages are from the demo. The empty log
and the sign-in page are from servers without requests.
"""

import argparse
import os
import re
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
MAX_BYTES: Final = 150_000
#: The states that the documentation shows, in desktop size and in the light theme.
DOCUMENTED: Final = ("log", "request")
_DESKTOP: Final = {"": (1440, 900)}
_SIZES: Final = {**_DESKTOP, "-phone": (390, 844)}
_THEMES: Final[tuple[Literal["light", "dark"], ...]] = ("light", "dark")
#: Number of records to wait for: the demo's history and some later requests.
_REQUESTS: Final = 60
_UNREADABLE: Final = {
    "error": {
        "message": "The store is being repaired.",
        "type": "api_error",
        "param": None,
        "code": "store_unavailable",
    }
}


#: JavaScript that returns whether no animation is running.
_IS_STILL: Final = """
() => document.getAnimations().every((one) => {
  return one.playState !== "running" || one.effect.getComputedTiming().iterations === Infinity;
})
"""


class Demo(Server):
    """Runs ``relaybook demo`` on free ports. It is otherwise the same as ``Server``."""

    def __init__(self, directory: Path) -> None:
        self.data = directory / "data"
        listen = ["--listen", "127.0.0.1:0", "--dashboard", "127.0.0.1:0"]
        Program.__init__(
            self, ["-m", "relaybook.cli.main", "demo", "--data", str(self.data), *listen], directory, "demo"
        )
        self.base_url = self.printed(r"base URL\s+(\S+)")
        self.dashboard = self.printed(r"dashboard\s+(\S+)")


class Scenario:
    """The servers whose pages are photographed."""

    def __init__(self, demo: Server, empty: Server, closed: Server) -> None:
        self.demo = demo
        self.empty = empty
        self.closed = closed

    def latest(self, query: str) -> dict[str, Any]:
        """Wait until a request of the demo matches a filter, and return the latest match."""

        def find() -> dict[str, Any] | None:
            page = self.demo.get(f"/api/requests?limit=20&{query}")
            rows = [*page["data"], *page["running"]]
            return next((row for row in rows if row["outcome"] != "open" or row["output_preview"]), None)

        return wait_until(find, 60, query)


def log(page: Page, scenario: Scenario) -> None:
    page.goto(f"{scenario.demo.dashboard}/requests")
    expect(_rows(page).nth(8)).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("^logging"))).to_be_visible()


def filtered(page: Page, scenario: Scenario) -> None:
    log(page, scenario)
    chips = page.locator('[data-log] a[data-field="namespace"][data-value="staging"]')
    expect(chips.first).to_be_visible()
    chips.first.click()
    page.wait_for_url("**/requests?namespace=staging")
    page.mouse.move(700, 4)
    expect(page.get_by_role("region", name="Filter", exact=True)).to_contain_text("requests")


def menu(page: Page, scenario: Scenario) -> None:
    log(page, scenario)
    chip = page.locator('[data-log] a[data-field="namespace"][data-value="production"]').first
    chip.focus()
    page.keyboard.press("m")
    expect(page.get_by_role("menu")).to_contain_text("latest")


def request(page: Page, scenario: Scenario) -> None:
    _open(page, scenario, "namespace=production&finish_reason=stop&kind=chat&property.feature=support")


def request_failed(page: Page, scenario: Scenario) -> None:
    _open(page, scenario, "status=429")


def request_running(page: Page, scenario: Scenario) -> None:
    _open(page, scenario, "outcome=open")


def sorted_by_cost(page: Page, scenario: Scenario) -> None:
    page.goto(f"{scenario.demo.dashboard}/requests?sort=cost_usd")
    expect(_rows(page).nth(8)).to_be_visible()


def namespaces(page: Page, scenario: Scenario) -> None:
    page.goto(f"{scenario.demo.dashboard}/namespaces")
    expect(page.get_by_role("row").nth(8)).to_be_visible()


def properties(page: Page, scenario: Scenario) -> None:
    page.goto(f"{scenario.demo.dashboard}/namespaces?tab=properties&property=channel")
    expect(page.get_by_role("link", name=re.compile("^Filter by channel")).first).to_be_visible()


def overview(page: Page, scenario: Scenario) -> None:
    page.goto(f"{scenario.demo.dashboard}/overview?by=namespace")
    expect(page.locator("canvas").nth(4)).to_be_visible()
    expect(page.get_by_role("main").get_by_role("row").nth(4)).to_be_visible()


def conversations(page: Page, scenario: Scenario) -> None:
    namespace = scenario.latest("property.feature=support&namespace_prefix=user-")["namespace"]
    page.goto(f"{scenario.demo.dashboard}/thread?namespace={namespace}")
    expect(page.locator("article[data-request]").last).to_be_visible()


def connect(page: Page, scenario: Scenario) -> None:
    page.goto(f"{scenario.empty.dashboard}/requests")
    expect(page.get_by_text("Listening")).to_be_visible()


def no_match(page: Page, scenario: Scenario) -> None:
    page.goto(f"{scenario.demo.dashboard}/requests?namespace=staging&model=gpt-5")
    expect(page.get_by_role("button", name="Remove filter: model is gpt-5")).to_be_visible()


def unreadable(page: Page, scenario: Scenario) -> None:
    page.route(re.compile(r"/api/requests\?"), lambda route: route.fulfill(status=503, json=_UNREADABLE))
    page.goto(f"{scenario.demo.dashboard}/requests")
    expect(page.get_by_role("button", name="Retry", exact=True)).to_be_visible()


def sign_in(page: Page, scenario: Scenario) -> None:
    page.goto(f"{scenario.closed.dashboard}/requests")
    expect(page.get_by_label("Dashboard token")).to_be_visible()


STATES: Final[dict[str, Callable[[Page, Scenario], None]]] = {
    "log": log,
    "filtered": filtered,
    "menu": menu,
    "request": request,
    "request-failed": request_failed,
    "request-running": request_running,
    "sorted": sorted_by_cost,
    "namespaces": namespaces,
    "properties": properties,
    "overview": overview,
    "conversations": conversations,
    "connect": connect,
    "no-match": no_match,
    "unreadable": unreadable,
    "sign-in": sign_in,
}


def _rows(page: Page) -> Any:
    return page.locator("[data-log] tr[data-request]")


def _open(page: Page, scenario: Scenario, query: str) -> None:
    """Open the latest request that matches a filter."""
    page.goto(f"{scenario.demo.dashboard}/requests/{scenario.latest(query)['id']}")
    response = page.locator("[data-drawer]").get_by_role("article", name="response")
    expect(response.locator("[class*=markdown], pre, [class*=mono], [class*=tree]").first).to_be_visible()
    expect(_rows(page).first).to_be_visible()


def _take(page: Page, blank: Page, scenario: Scenario, name: str, path: Path) -> None:
    STATES[name](page, scenario)
    page.wait_for_function(_IS_STILL)
    path.write_bytes(small_png(page.screenshot(animations="disabled"), blank))
    size = path.stat().st_size
    print(f"{path.name} {size / 1000:.0f} kB{'' if size <= MAX_BYTES else ': too large'}", flush=True)


def _take_all(browser: Browser, scenario: Scenario, names: list[str], directory: Path | None) -> None:
    """Write screenshots of these states for the documentation.

    With ``directory``, write the screenshots in all themes and sizes to this directory instead.
    """
    blank = browser.new_page()
    sizes, themes = (_SIZES, _THEMES) if directory else (_DESKTOP, _THEMES[:1])
    for (size, (width, height)), theme, name in product(sizes.items(), themes, names):
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=theme)
        path = (directory or IMAGES) / f"{name}{size}-{theme}.png"
        _take(context.new_page(), blank, scenario, name, path)
        context.close()


def main() -> None:
    """Take the screenshots that the command line asks for."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.support.screenshots", description="Take the documentation screenshots."
    )
    parser.add_argument("--all", type=Path, metavar="DIRECTORY", help="write all themes and sizes to this directory")
    parser.add_argument("names", nargs="*", metavar="state", help=f"with --all: {', '.join(STATES)}")
    parsed = parser.parse_args()
    if unknown := set(parsed.names) - set(STATES):
        parser.error(f"unknown state: {', '.join(sorted(unknown))}. Choose from: {', '.join(STATES)}")
    if parsed.names and not parsed.all:
        parser.error("states can only be selected with --all DIRECTORY")
    names = (parsed.names or list(STATES)) if parsed.all else list(DOCUMENTED)
    (parsed.all or IMAGES).mkdir(parents=True, exist_ok=True)
    expect.set_options(timeout=30_000)
    with tempfile.TemporaryDirectory() as temporary, ExitStack() as stack:
        root = Path(temporary)
        (root / "empty").mkdir()
        (root / "closed").mkdir()
        token = {**os.environ, "RELAYBOOK_DASHBOARD_TOKEN": "a-token-for-the-picture"}
        demo = stack.enter_context(Demo(root))
        # These servers receive no requests, so they never call the provider.
        empty = stack.enter_context(Server(root / "empty", "https://api.openai.com/v1"))
        closed = stack.enter_context(Server(root / "closed", "https://api.openai.com/v1", env=token))
        wait_until(lambda: demo.get("/api/status")["records"] >= _REQUESTS, 120, "the demo's history")
        browser = stack.enter_context(chromium())
        _take_all(browser, Scenario(demo, empty, closed), names, parsed.all)


if __name__ == "__main__":
    main()
