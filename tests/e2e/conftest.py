"""Provide one browser for all tests of this directory, and a server and a browser profile for each file.

Tests see the whole log, so each file has its own log. The server of a file starts while the previous file is still
running, and ends while the next file is running.

The guard is checked at the end of each test, so errors in the background of the page also fail the test.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext
from tests.e2e.log_page import WIDE, LogPage
from tests.e2e.world import World, world_in
from tests.support.browser import Guard, chromium

from relaybook.page.page import STATIC

#: A function that opens a tab in a new profile. Arguments: the URL of the dashboard, and Playwright's options for a
#: context.
OpenTab = Callable[..., LogPage]


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    assert (STATIC / "index.html").exists(), "The page is not built: make page"
    with chromium() as opened:
        yield opened


class Worlds:
    """Starts the next world in advance and ends the previous world, both in a thread."""

    def __init__(self, new_directory: Callable[[], Path]) -> None:
        self._new_directory = new_directory
        self._thread = ThreadPoolExecutor(1)
        self._ends: list[Future[None]] = []
        self._next = self._start()

    def _start(self) -> Future[tuple[ExitStack, World]]:
        directory = self._new_directory()

        def start() -> tuple[ExitStack, World]:
            with ExitStack() as stack:
                world = stack.enter_context(world_in(directory))
                return stack.pop_all(), world

        return self._thread.submit(start)

    @contextmanager
    def take(self) -> Iterator[World]:
        """Provide a world with an empty log. The thread ends the world after the block."""
        stack, world = self._next.result()
        self._next = self._start()
        try:
            yield world
        finally:
            self._ends.append(self._thread.submit(stack.close))

    def close(self) -> None:
        """End the world that no test has taken, and wait until all other worlds have ended."""
        self._next.result()[0].close()
        self._thread.shutdown()
        for ended in self._ends:
            ended.result()


@pytest.fixture(scope="package")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worlds]:
    created = Worlds(lambda: tmp_path_factory.mktemp("e2e"))
    yield created
    created.close()


@pytest.fixture(scope="module")
def world(worlds: Worlds) -> Iterator[World]:
    with worlds.take() as created:
        yield created


@contextmanager
def tabs_of(browser: Browser) -> Iterator[OpenTab]:
    """Provide a function that opens tabs. After the block, close the tabs and assert that they had no problems."""
    contexts: list[tuple[BrowserContext, Guard]] = []

    def opener(dashboard: str, **options: Any) -> LogPage:
        context = browser.new_context(**{"viewport": WIDE, "color_scheme": "light", **options})
        context.set_default_timeout(30_000)
        context.grant_permissions(["clipboard-read", "clipboard-write"], origin=dashboard)
        guard = Guard(context, dashboard)
        contexts.append((context, guard))
        return LogPage(context.new_page(), dashboard, guard)

    try:
        yield opener
    finally:
        for context, _ in contexts:
            context.close()
    assert [problem for _, guard in contexts for problem in guard.problems] == []


@pytest.fixture
def open_tab(browser: Browser) -> Iterator[OpenTab]:
    with tabs_of(browser) as opener:
        yield opener


@pytest.fixture(scope="module")
def file_tab(browser: Browser, world: World) -> Iterator[LogPage]:
    with tabs_of(browser) as opener:
        yield opener(world.dashboard)


@pytest.fixture
def tab(file_tab: LogPage) -> Iterator[LogPage]:
    """Return a tab for the file's server, in the state of a new profile: nothing is loaded and nothing is stored.

    All tests of a file use the same tab, because the browser needs a third of a second to create a profile.
    """
    file_tab.forget_everything()
    yield from _checked(file_tab)
    file_tab.leave()


@pytest.fixture
def shared_tab(file_tab: LogPage) -> Iterator[LogPage]:
    """Return a tab in which the page stays loaded between consecutive tests of a file.

    Use this tab only in tests that do not change anything that a profile stores, such as columns.
    """
    file_tab.close_others()
    yield from _checked(file_tab)


def _checked(tab: LogPage) -> Iterator[LogPage]:
    yield tab
    assert tab.guard.problems == []
    assert tab.state("document.documentElement.scrollHeight - innerHeight") == 0, "the whole page can be scrolled"
