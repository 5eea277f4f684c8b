"""One server and one browser for all tests of a file, a browser profile of its own for each test.

A test ends by asking the guard: what the page did in the background counts as much as what the test looked at.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, expect
from tests.e2e.log_page import LogPage
from tests.e2e.world import World, world_in
from tests.support.browser import Guard, chromium

from relaybook.dashboard.page import STATIC

WIDE = {"width": 1440, "height": 900}
expect.set_options(timeout=20_000)

#: Opens a tab in a profile of its own: the server's dashboard, then Playwright's options of a context.
OpenTab = Callable[..., LogPage]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    assert (STATIC / "index.html").exists(), "The page is not built: make page"
    with chromium() as opened:
        yield opened


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world_in(tmp_path_factory.mktemp("e2e")) as made:
        yield made


@pytest.fixture
def open_tab(browser: Browser) -> Iterator[OpenTab]:
    contexts: list[tuple[BrowserContext, Guard]] = []

    def opener(dashboard: str, **options: Any) -> LogPage:
        context = browser.new_context(**{"viewport": WIDE, "color_scheme": "light", **options})
        context.set_default_timeout(30_000)
        context.grant_permissions(["clipboard-read", "clipboard-write"], origin=dashboard)
        guard = Guard(context, dashboard)
        contexts.append((context, guard))
        return LogPage(context.new_page(), dashboard, guard)

    yield opener
    for context, _ in contexts:
        context.close()
    assert [problem for _, guard in contexts for problem in guard.problems] == []


@pytest.fixture
def tab(open_tab: OpenTab, world: World) -> LogPage:
    """A tab on the file's server; nothing is loaded in it yet."""
    return open_tab(world.dashboard)
