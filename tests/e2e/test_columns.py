"""Readers choose the columns of the log, their order, and the height of its rows. The browser keeps the choice."""

import re
from typing import Final

import pytest
from playwright.sync_api import Locator
from tests.e2e.conftest import OpenTab
from tests.e2e.log_page import LogPage
from tests.e2e.world import Call, World
from tests.support.browser import expect, needs_chromium

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def log(world: World) -> list[str]:
    """Return the ids of two requests with two properties, newest first."""
    calls = [Call(namespace="staging", properties={"channel": "iOS", "plan": "free"}) for _ in range(2)]
    return world.log(*calls)[::-1]


def heads(tab: LogPage) -> Locator:
    return tab.page.get_by_role("columnheader")


def open_menu(tab: LogPage) -> Locator:
    tab.page.get_by_role("button", name="Columns", exact=True).click()
    menu = tab.page.get_by_role("dialog", name="Columns")
    expect(menu.get_by_role("checkbox", name="Namespace")).to_be_focused()
    return menu


def test_a_hidden_column_stays_hidden_after_a_reload(tab: LogPage, log: list[str]) -> None:
    tab.open_log()
    open_menu(tab).get_by_role("checkbox", name="Model").uncheck()
    expect(heads(tab).filter(has_text="Model")).to_have_count(0)
    tab.page.reload()
    expect(tab.row(log[0])).to_be_visible()
    expect(heads(tab).filter(has_text="Model")).to_have_count(0)


def test_several_properties_can_be_columns(tab: LogPage, log: list[str]) -> None:
    tab.open_log()
    expect(tab.row(log[0])).to_contain_text("1 more property")
    menu = open_menu(tab)
    for name in ("channel", "plan"):
        menu.get_by_role("checkbox", name=name).check()
    for property_and_value in ("channel iOS", "plan free"):
        expect(tab.chip(log[0], property_and_value)).to_be_visible()
    expect(tab.row(log[0])).not_to_contain_text("more property")


def test_columns_are_moved_by_button_and_by_keyboard(tab: LogPage, log: list[str]) -> None:
    tab.open_log()
    menu = open_menu(tab)
    menu.get_by_role("button", name="Move Namespace down").click()
    expect(heads(tab).nth(2)).to_have_text("Namespace")
    expect(menu.get_by_role("button", name="Move Namespace down")).to_be_focused()
    menu.get_by_role("checkbox", name="Namespace").focus()
    tab.press("Alt+ArrowUp")
    expect(heads(tab).nth(1)).to_have_text("Namespace")
    expect(menu.get_by_role("checkbox", name="Namespace")).to_be_focused()


def test_all_columns_are_visible_at_once_in_a_usual_window(tab: LogPage, log: list[str]) -> None:
    tab.open_log()
    menu = open_menu(tab)
    for name in ("Feedback", "Cached tokens", "Tokens/s", "User", "Ended", "channel", "plan"):
        expect(menu.get_by_role("checkbox", name=name, exact=True)).to_be_in_viewport(ratio=1)


def test_the_result_cannot_be_hidden(tab: LogPage, log: list[str]) -> None:
    tab.open_log()
    menu = open_menu(tab)
    expect(menu.get_by_role("checkbox", name="Result")).to_be_disabled()
    expect(menu.get_by_role("checkbox", name="Started")).to_have_count(0)


def test_compact_rows_are_lower_and_reset_restores_columns_and_height(tab: LogPage, log: list[str]) -> None:
    tab.open_log()
    expect(tab.row(log[0])).to_have_js_property("offsetHeight", 30)
    menu = open_menu(tab)
    menu.get_by_role("checkbox", name="Compact rows").check()
    menu.get_by_role("checkbox", name="Cost").uncheck()
    expect(tab.row(log[0])).to_have_js_property("offsetHeight", 25)
    tab.page.reload()
    expect(tab.row(log[0])).to_have_js_property("offsetHeight", 25)
    open_menu(tab).get_by_role("button", name="Reset").click()
    expect(tab.row(log[0])).to_have_js_property("offsetHeight", 30)
    expect(heads(tab).filter(has_text="Cost")).to_be_visible()


def test_a_chip_in_a_compact_row_can_be_clicked_on_24_pixels(tab: LogPage, log: list[str]) -> None:
    tab.open_log()
    open_menu(tab).get_by_role("checkbox", name="Compact rows").check()
    tab.press("Escape")
    expect(tab.row(log[0])).to_have_js_property("offsetHeight", 25)
    height = tab.chip(log[0], "namespace staging").evaluate(_CLICKABLE_HEIGHT)
    assert height >= 24


#: JavaScript that returns the height in pixels over which an element can be clicked, along its vertical center line.
_CLICKABLE_HEIGHT: Final = """
(one) => {
  const { left, width, top, height } = one.getBoundingClientRect();
  const lines = Array.from({ length: 60 }, (_, at) => Math.round(top + height / 2) - 30 + at);
  return lines.filter((y) => one.contains(document.elementFromPoint(left + width / 2, y + 0.5))).length;
}
"""


def test_a_hidden_column_is_shown_while_it_sorts(tab: LogPage, log: list[str]) -> None:
    tab.open_log()
    open_menu(tab).get_by_role("checkbox", name="Cost").uncheck()
    tab.press("Escape")
    expect(tab.page.get_by_role("button", name="Columns", exact=True)).to_be_focused()
    tab.open_log("/requests?sort=cost_usd")
    expect(heads(tab).filter(has_text="Cost")).to_have_attribute("aria-sort", "descending")


def test_the_menu_names_the_columns_that_do_not_fit(open_tab: OpenTab, world: World, log: list[str]) -> None:
    tab = open_tab(world.dashboard, viewport={"width": 1024, "height": 768}).open_log()
    expect(open_menu(tab).get_by_role("status")).to_have_text(
        re.compile("^Hidden, because there is not enough space: .*First token")
    )


def test_the_column_of_namespaces_is_hidden_if_the_filter_selects_one(tab: LogPage, log: list[str]) -> None:
    tab.open_log()
    tab.chip(log[0], "namespace staging").focus()
    tab.press("Enter")
    tab.wait_for_query(("namespace", "staging"))
    expect(heads(tab).filter(has_text="Namespace")).to_have_count(0)
    expect(tab.row(log[0]).locator("a[data-open]")).to_be_focused()
    tab.press("m")
    expect(tab.page.get_by_role("menuitem", name="Only this namespace")).to_be_visible()
    tab.press("Escape")
    expect(open_menu(tab).get_by_role("status")).to_have_text(
        "Hidden, because the filter selects one namespace: Namespace"
    )
    tab.press("Escape")
    expect(tab.page.get_by_role("dialog", name="Columns")).to_have_count(0)
    tab.press("0")
    expect(tab.chip(log[0], "namespace staging")).to_be_visible()


def test_a_narrow_window_has_fixed_columns_and_rows_of_two_lines(tab: LogPage, log: list[str]) -> None:
    tab.open_log()
    menu = open_menu(tab)
    menu.get_by_role("checkbox", name="Compact rows").check()
    menu.get_by_role("checkbox", name="Namespace").uncheck()
    expect(tab.row(log[0])).to_have_js_property("offsetHeight", 25)
    tab.page.set_viewport_size({"width": 390, "height": 844})
    expect(tab.row(log[0])).to_have_js_property("offsetHeight", 54)
    expect(tab.chip(log[0], "namespace staging")).to_be_visible()
    expect(tab.page.get_by_role("button", name="Columns", exact=True)).to_have_count(0)
