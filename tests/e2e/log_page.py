"""The page as a user sees it: rows, values, the drawer, the address."""

import re
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from playwright.sync_api import Locator, Page, ViewportSize
from tests.support.browser import Guard, expect
from tests.support.server import wait_until

WIDE: Final[ViewportSize] = {"width": 1440, "height": 900}
#: A position where nothing reacts to the pointer.
NOWHERE: Final = (700, 4)
#: All rows of the list in document order, including those just off the screen.
_ROWS: Final = "[...document.querySelectorAll('[data-log] tr[data-request]')]"
_WALK: Final = f"""
async () => {{
  const log = document.querySelector("[data-log]");
  const found = new Map();
  const take = () => {_ROWS}.forEach((row) => found.set(Number(row.ariaRowIndex), row.dataset.request));
  const painted = () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  for (let at = 0; ; at += log.clientHeight / 2) {{
    log.scrollTop = at;
    await painted();
    take();
    if (at > log.scrollHeight) return [...found].sort(([a], [b]) => a - b).map(([, id]) => id);
  }}
}}
"""


class LogPage:
    """A tab that shows the log."""

    def __init__(self, page: Page, dashboard: str, guard: Guard) -> None:
        self.page = page
        self.dashboard = dashboard
        self.guard = guard
        self._devtools = page.context.new_cdp_session(page)

    def close_others(self) -> None:
        """Close all other tabs of the user, and forget the problems of all tabs."""
        for other in self.page.context.pages:
            if other != self.page:
                other.close()
        self.guard.start_again()

    def forget_everything(self) -> None:
        """Close all other tabs, leave the page, and reset routes, stored data, window size and pointer."""
        self.page.unroute_all(behavior="ignoreErrors")
        self.page.context.unroute_all(behavior="ignoreErrors")
        self.leave()
        self.page.context.clear_cookies()
        self._devtools.send("Storage.clearDataForOrigin", {"origin": self.dashboard, "storageTypes": "all"})
        self.page.set_viewport_size(WIDE)
        self.point_nowhere()
        self.close_others()

    def leave(self) -> None:
        """Unload the page."""
        if self.page.url != "about:blank":
            self.page.goto("about:blank")

    # -- navigation ----------------------------------------------------------------------------------------------------

    def open(self, path: str = "/requests") -> "LogPage":
        """Load an address of the dashboard."""
        self.page.goto(self.dashboard + path)
        return self

    def open_log(self, path: str = "/requests") -> "LogPage":
        """Load an address of the log, and wait for its rows."""
        self.open(path)
        expect(self.rows.first).to_be_visible()
        return self

    def show(self, path: str) -> "LogPage":
        """Show an address, and load it only if the tab is new.

        In a loaded page, an address without a page is shown first, so that nothing of the previous page remains.
        """
        if self.page.url == "about:blank":
            return self.open(path)
        self.point_nowhere()
        for address in ("/nowhere", path):
            script = "(path) => { document.activeElement.blur(); history.pushState(null, '', path); }"
            self.page.evaluate(script, address)
            if address != path:
                expect(self.page.get_by_text("There is no page at")).to_be_visible()
        return self

    def show_log(self, path: str = "/requests") -> "LogPage":
        """Show an address of the log in the loaded page, and wait for its rows."""
        self.show(path)
        expect(self.rows.first).to_be_visible()
        return self

    def new_tab(self) -> "LogPage":
        """Open another tab of the same user."""
        return LogPage(self.page.context.new_page(), self.dashboard, self.guard)

    def set_clock(self) -> "LogPage":
        """Replace the clock of all pages that this tab loads from now on.

        The new clock runs, and ``skip`` sets it forward.
        """
        self.page.clock.install()
        return self

    def skip(self, seconds: int) -> None:
        """Set the clock forward. Timers of the page that are due within this time fire now."""
        self.page.clock.fast_forward(seconds * 1000)

    # -- the address ---------------------------------------------------------------------------------------------------

    @property
    def query(self) -> list[tuple[str, str]]:
        """The parameters of the address, in order."""
        return parse_qsl(urlsplit(self.page.url).query, keep_blank_values=True)

    @property
    def path(self) -> str:
        """The address without host and parameters."""
        return urlsplit(self.page.url).path

    def wait_for_query(self, *pairs: tuple[str, str]) -> None:
        """Wait until the address has exactly these parameters."""
        self.page.wait_for_url(
            lambda url: parse_qsl(urlsplit(url).query, keep_blank_values=True) == list(pairs), wait_until="commit"
        )

    def wait_for_path(self, path: str) -> None:
        """Wait until the address has this path, with any parameters."""
        self.page.wait_for_url(lambda url: urlsplit(url).path == path, wait_until="commit")

    # -- rows ----------------------------------------------------------------------------------------------------------

    @property
    def rows(self) -> Locator:
        return self.page.locator("[data-log] tr[data-request]")

    def row(self, request_id: str) -> Locator:
        return self.page.locator(f'[data-log] tr[data-request="{request_id}"]')

    def ids(self) -> list[str]:
        """Return the ids of the requests in the document, in order."""
        return list(self.page.evaluate(f"{_ROWS}.map((row) => row.dataset.request)"))

    def all_ids(self) -> list[str]:
        """Scroll through the list, and return the ids of all its requests."""
        return list(self.page.evaluate(_WALK))

    def row_count(self) -> int:
        """Return the number of rows in the table, without the head."""
        return int(self.page.locator("[data-log] table").get_attribute("aria-rowcount") or 0) - 1

    def wait_for_rows(self, count: int) -> None:
        """Wait until the table has this many rows."""
        expect(self.page.locator("[data-log] table")).to_have_attribute("aria-rowcount", str(count + 1))

    def wait_for_first(self, request_id: str) -> None:
        """Wait until this request is in the first row."""
        expect(self.rows.first).to_have_attribute("data-request", request_id)

    def top_of(self, request_id: str) -> float:
        """Return the distance of a row from the top of the window."""
        box = self.row(request_id).bounding_box()
        assert box is not None, f"{request_id} is not on the screen"
        return box["y"]

    def wait_for_top(self, request_id: str, top: float) -> None:
        """Wait until a row is at this distance from the top of the window, to the pixel."""
        script = "([id, top]) => Math.abs((" + _TOP + ")(id) - top) <= 1"
        try:
            self.page.wait_for_function(script, arg=[request_id, top], timeout=5_000)
        except Exception:
            found = self.page.evaluate(_TOP, request_id)
            raise AssertionError(f"{request_id} was at {top} px and is at {found} px") from None

    def values(self, name: str) -> list[str]:
        """Return the values of a field in all rows of the document."""
        value_of = "row.querySelector(`[data-field=${CSS.escape(name)}]`)?.dataset.value"
        return list(self.page.evaluate(f"(name) => {_ROWS}.map((row) => {value_of})", name))

    def chip(self, request_id: str, words: str) -> Locator:
        """Return the link of a value in a row, by the beginning of its name, such as ``namespace production``."""
        name = re.compile(rf"^Filter by {re.escape(words)}(?![\w@-])")
        return self.row(request_id).get_by_role("link", name=name)

    def label(self, namespace: str) -> Locator:
        """Return a label in the namespace bar."""
        return self.page.get_by_role("navigation", name="Namespaces").get_by_role(
            "link", name=f"Filter by namespace {namespace}", exact=True
        )

    @property
    def filter_bar(self) -> Locator:
        return self.page.get_by_role("region", name="Filter", exact=True)

    def selected(self) -> str | None:
        """Return the selected request."""
        found = self.page.locator('[data-log] tr[aria-selected="true"]')
        return found.get_attribute("data-request") if found.count() else None

    def select(self, request_id: str) -> None:
        """Select a row by keyboard, starting at the top.

        The first Escape leaves the query box, and the second one deselects the row that was selected before.
        """
        self.press("Escape", "Escape")

        def is_there() -> bool:
            self.press("j")
            return self.selected() == request_id

        wait_until(is_there, what=f"selecting {request_id}")

    def wait_for_focus_in_menu(self) -> None:
        """Wait until the open menu has the focus.

        A menu takes the focus shortly after it is painted.
        """
        self.page.wait_for_function("() => document.activeElement?.closest('[role=menu]') != null")

    def choose(self, action: str) -> None:
        """Choose an action of the open menu by keyboard."""
        item = self.page.get_by_role("menu").get_by_role("menuitem", name=re.compile(f"^{action}"))
        expect(item).to_be_visible()
        self.wait_for_focus_in_menu()

        def is_there() -> bool:
            self.press("ArrowDown")
            return bool(item.evaluate("(one) => one === document.activeElement"))

        wait_until(is_there, what=f"reaching {action} in the menu")
        self.press("Enter")

    def expect_selected(self, request_id: str) -> None:
        expect(self.row(request_id)).to_have_attribute("aria-selected", "true")

    # -- scrolling and pointing ----------------------------------------------------------------------------------------

    def scroll_to(self, top: float) -> None:
        """Scroll the log to this position, loading rows as needed. Returns once they are painted."""
        self.page.wait_for_function(
            "(top) => { const log = document.querySelector('[data-log]'); log.scrollTop = top;"
            " return Math.abs(log.scrollTop - top) < 1; }",
            arg=top,
        )
        self.page.wait_for_function(_IS_FILLED)

    def scroll_to_end(self, count: int) -> None:
        """Scroll down until the log has loaded ``count`` requests, and then to its end."""
        self.page.wait_for_function(
            "(count) => { const log = document.querySelector('[data-log]'); log.scrollTop = log.scrollHeight;"
            " return log.querySelector('table').getAttribute('aria-rowcount') == count + 1; }",
            arg=count,
        )
        self.page.locator("[data-log]").evaluate("(log) => { log.scrollTop = log.scrollHeight; }")
        self.page.wait_for_function(_IS_FILLED)

    def on_screen(self) -> list[tuple[str, float]]:
        """Return the ids and the positions of the rows that are completely visible."""
        return [(row["id"], row["top"]) for row in self.page.evaluate(_ON_SCREEN)]

    def point_nowhere(self) -> None:
        """Move the pointer to a position where nothing reacts to it."""
        self.page.mouse.move(*NOWHERE)

    # -- the open request ----------------------------------------------------------------------------------------------

    @property
    def drawer(self) -> Locator:
        """The open request: a region beside the log, or a dialog on a narrow screen."""
        name = re.compile("^Request ")
        return self.page.get_by_role("region", name=name).or_(self.page.get_by_role("dialog", name=name))

    def open_request(self, request_id: str, path: str = "/requests") -> Locator:
        """Open a request by its address, and return the drawer once it shows the request."""
        self.open(f"{path}/{request_id}")
        expect(self.drawer.locator(f'[data-request="{request_id}"][aria-busy=false]')).to_be_visible()
        return self.drawer

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def state(self, script: str, arg: Any = None) -> Any:
        """Return the result of a script in the page."""
        return self.page.evaluate(script, arg)


_TOP: Final = '(id) => document.querySelector(`[data-log] tr[data-request="${id}"]`)?.getBoundingClientRect().top'
_ON_SCREEN: Final = f"""
() => {{
  const log = document.querySelector("[data-log]").getBoundingClientRect();
  const head = document.querySelector("[data-log] thead").getBoundingClientRect().height;
  return {_ROWS}
    .map((row) => ({{ id: row.dataset.request, box: row.getBoundingClientRect() }}))
    .filter(({{ box }}) => box.top >= log.top + head && box.bottom <= log.bottom)
    .map(({{ id, box }}) => ({{ id, top: box.top }}));
}}
"""
#: Whether rows reach from the top to the bottom of the log, or to the end of the list.
_IS_FILLED: Final = f"""
() => {{
  const log = document.querySelector("[data-log]");
  const {{ top, bottom }} = log.getBoundingClientRect();
  const boxes = {_ROWS}.map((row) => row.getBoundingClientRect());
  const first = boxes.find((box) => box.bottom > top + 60);
  const isAtEnd = {_ROWS}.at(-1)?.ariaRowIndex === log.querySelector("table").ariaRowCount;
  return first && first.top < top + 90 && (isAtEnd || boxes.at(-1).bottom >= bottom);
}}
"""
