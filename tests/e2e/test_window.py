"""The page is as high as the window. Lists and texts have scroll areas, so the document never scrolls."""

from itertools import product
from typing import Final

import pytest
from tests.e2e.conftest import OpenTab
from tests.e2e.log_page import LogPage
from tests.e2e.world import Call, World
from tests.support.browser import expect, needs_chromium
from tests.support.long import sampled

pytestmark = needs_chromium

#: More requests than any of the windows shows.
USERS: Final = 40
WINDOWS: Final = ((1440, 900), (1280, 720))
#: The address of each page, and a selector for an element that the page has once it is loaded.
PAGES: Final = {
    "/requests": "[data-log] tr[data-request]",
    "/namespaces": "main tbody tr",
    "/namespaces?tab=properties&property=seat": "main tbody tr",
    "/overview?by=namespace": "main tbody tr",
    "/thread?property.channel=web": "[data-scroller] [data-request]",
    "/connect": "main pre",
}
_HEIGHTS: Final = "() => [document.documentElement.scrollHeight, window.innerHeight]"
#: JavaScript that scrolls every area to its end. The contents must not make the document longer either.
_TO_THE_END: Final = """
() => {
  const isScroller = (one) => one.scrollHeight > one.clientHeight && getComputedStyle(one).overflowY === "auto";
  const scrollers = [...document.querySelectorAll("main, main *")].filter(isScroller);
  scrollers.forEach((one) => { one.scrollTop = one.scrollHeight; });
}
"""


@pytest.fixture(scope="module")
def log(world: World) -> list[str]:
    return world.log_many(
        Call(namespace=f"user-{number:04}", properties={"channel": "web", "seat": str(number)})
        for number in range(USERS)
    )


@pytest.mark.parametrize(("path", "window"), sampled(product(PAGES, WINDOWS), 4))
def test_the_document_does_not_scroll(
    open_tab: OpenTab, world: World, log: list[str], path: str, window: tuple[int, int]
) -> None:
    width, height = window
    tab = open_tab(world.dashboard, viewport={"width": width, "height": height}).open(path)
    expect(tab.page.locator(PAGES[path]).first).to_be_visible()
    expect(tab.page.get_by_title("Show the status")).to_contain_text("logging")
    expect_no_scrolling(tab)
    tab.state(_TO_THE_END)
    expect_no_scrolling(tab)


def test_at_most_180_of_900_pixels_are_above_the_first_row(tab: LogPage, log: list[str]) -> None:
    tab.open_log("/requests?namespace=user-0001")
    expect(tab.page.get_by_role("slider")).to_be_visible()
    first = tab.rows.first.bounding_box()
    assert first is not None
    assert first["y"] <= 180


def test_two_values_of_the_filter_do_not_move_the_first_row_down(tab: LogPage, log: list[str]) -> None:
    tab.open_log("/requests?namespace=user-0001&namespace=user-0002")
    expect(tab.page.get_by_role("button", name="Remove namespace is user-0002")).to_be_in_viewport(ratio=1)
    first = tab.rows.first.bounding_box()
    assert first is not None
    assert first["y"] <= 180


def test_new_requests_do_not_give_the_filter_a_second_line(open_tab: OpenTab, world: World, log: list[str]) -> None:
    tab = open_tab(world.dashboard, viewport={"width": 1024, "height": 768})
    tab.open_log("/requests?namespace=user-0001&namespace=user-0002")
    tab.press("j")
    before = tab.rows.first.bounding_box()
    world.log(Call(namespace="user-0001"))
    expect(tab.page.get_by_role("button", name="1 new")).to_be_in_viewport(ratio=1)
    assert tab.rows.first.bounding_box() == before


def expect_no_scrolling(tab: LogPage) -> None:
    content, window = tab.state(_HEIGHTS)
    assert content == window
