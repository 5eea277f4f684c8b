"""A complete session by keyboard alone: from the first Tab to an open request and a removed filter."""

import re

import pytest
from tests.e2e.conftest import OpenTab
from tests.e2e.log_page import LogPage
from tests.e2e.world import Call, World
from tests.support.browser import expect, needs_chromium
from tests.support.server import wait_until

pytestmark = needs_chromium

_FOCUSED_ROW = "() => document.activeElement?.closest('tr')?.dataset.request"
#: JavaScript that presses j and returns the focused row in the same task, before the browser paints.
_J_THEN_FOCUSED_ROW = """
() => {
  window.dispatchEvent(new KeyboardEvent("keydown", { key: "j" }));
  return document.activeElement?.closest("tr")?.dataset.request;
}
"""
#: JavaScript that returns whether the focused element shows its focus: by an outline, a shadow, or a caret.
_SHOWS_FOCUS = """
(({ outlineStyle, boxShadow }, { tagName }) => tagName === "INPUT" || outlineStyle !== "none" || boxShadow !== "none")(
  getComputedStyle(document.activeElement), document.activeElement)
"""
NAMESPACES = ("production", "staging", "user-8f3a41c9d2e7")


@pytest.fixture(scope="module")
def log(world: World) -> list[str]:
    """Return the ids of twelve requests, latest first."""
    return world.log(*(Call(namespace=NAMESPACES[n % 3], text=f"Question {n}?") for n in range(12)))[::-1]


def focused(tab: LogPage) -> str:
    """Return the accessible name of the focused element."""
    return str(tab.state("(document.activeElement.ariaLabel ?? document.activeElement.textContent).trim()"))


def tab_to(tab: LogPage, name: str) -> None:
    """Press Tab until the element with this name has the focus. Every element on the way must show its focus."""
    passed = []
    for _ in range(60):
        tab.press("Tab")
        passed.append(focused(tab))
        assert tab.state(_SHOWS_FOCUS), f"the focus on {passed[-1]!r} is not visible"
        if re.fullmatch(name, passed[-1]):
            return
    raise AssertionError(f"Tab did not reach {name}: {passed}")


def test_a_complete_session_by_keyboard(tab: LogPage, log: list[str]) -> None:
    tab.open_log()
    tab_to(tab, "Requests")
    tab_to(tab, "Filter by namespace production")
    tab_to(tab, r"Open the request of .*")

    # Move down the log, then select the namespace of a row. The row stays in place.
    tab.press("j", "j", "k", "ArrowDown")
    tab.expect_selected(log[1])
    before = tab.top_of(log[1])
    tab.press("n")
    tab.wait_for_query(("namespace", "staging"))
    tab.wait_for_rows(4)
    tab.wait_for_top(log[1], before)
    tab.expect_selected(log[1])

    # Open the next request, move to the request after it, and close the drawer.
    tab.press("j")
    tab.expect_selected(log[4])
    tab.press("Enter")
    expect(tab.drawer).to_contain_text("Question 7?")
    tab.press("j")
    expect(tab.drawer).to_contain_text("Question 4?")
    tab.press("Escape")
    expect(tab.drawer).to_have_count(0)
    tab.wait_for_query(("namespace", "staging"))

    # Remove the filter, type another one, select a value in the menu, and remove the filter again.
    tab.press("Backspace")
    tab.wait_for_query()
    tab.wait_for_rows(len(log))
    tab.press("/")
    tab.page.keyboard.type("-namespace:production")
    tab.press("Enter")
    tab.wait_for_query(("not.namespace", "production"))
    tab.select(log[0])
    tab.press("m")
    tab.choose("Only this namespace")
    tab.wait_for_query(("namespace", "user-8f3a41c9d2e7"))
    tab.press("0")
    tab.wait_for_query()

    # Select a label by its number, and return to the newest request.
    tab.press("1")
    wait_until(lambda: tab.query != [], what="a label selected")
    tab.press("Home", "0")
    tab.wait_for_query()
    tab.wait_for_first(log[0])


def test_enter_right_after_j_opens_the_row_that_j_has_selected(shared_tab: LogPage, log: list[str]) -> None:
    tab = shared_tab.show_log()
    tab.press("j")
    wait_until(lambda: tab.state(_FOCUSED_ROW) == log[0], what="the focus on the first row")
    assert tab.state(_J_THEN_FOCUSED_ROW) == log[1]
    tab.press("Enter")
    tab.wait_for_path(f"/requests/{log[1]}")


def test_a_question_mark_opens_a_dialog_with_all_keys(shared_tab: LogPage, log: list[str]) -> None:
    tab = shared_tab.show_log()
    tab.press("Shift+?")
    dialog = tab.page.get_by_role("dialog", name="Keys")
    expect(dialog).to_contain_text("Remove the last filter")
    tab.press("j")
    assert tab.selected() is None
    tab.press("Escape")
    expect(dialog).to_have_count(0)
    tab.press("j")
    tab.expect_selected(log[0])


def test_keys_have_no_effect_while_typing(shared_tab: LogPage, log: list[str]) -> None:
    tab = shared_tab.show_log("/requests?namespace=staging")
    tab.press("/")
    tab.page.keyboard.type("jn0")
    tab.press("Backspace")
    expect(tab.page.get_by_role("combobox", name="Filter the log")).to_have_value("jn")
    assert tab.query == [("namespace", "staging")]
    assert tab.selected() is None


@pytest.fixture
def low(open_tab: OpenTab, world: World, log: list[str]) -> LogPage:
    """Return a tab with such a low window that the log of twelve requests scrolls."""
    tab = open_tab(world.dashboard, viewport={"width": 1440, "height": 480})
    return tab.open_log()


def test_j_starts_at_the_first_visible_row(low: LogPage) -> None:
    low.scroll_to(60)
    first = next(request_id for request_id, top in low.on_screen() if top >= 0)
    low.press("j")
    low.expect_selected(first)
    assert first != low.all_ids()[0]


def test_escape_that_closes_a_menu_keeps_the_row_selected(shared_tab: LogPage, log: list[str]) -> None:
    tab = shared_tab.show_log()
    tab.press("j", "j")
    tab.expect_selected(log[1])
    tab.press("m")
    expect(tab.page.get_by_role("menuitem", name="Only this namespace")).to_be_visible()
    tab.wait_for_focus_in_menu()
    tab.press("Escape")
    expect(tab.page.get_by_role("menu")).to_have_count(0)
    tab.press("n")
    tab.wait_for_query(("namespace", "staging"))


def test_m_opens_the_menu_of_the_namespace_also_without_its_column_and_escape_returns_to_the_row(
    shared_tab: LogPage, log: list[str]
) -> None:
    tab = shared_tab.show_log("/requests?namespace=staging")
    tab.press("j", "m")
    expect(tab.page.get_by_role("menu", name="namespace staging")).to_be_visible()
    tab.wait_for_focus_in_menu()
    tab.press("Escape")
    expect(tab.page.get_by_role("menu")).to_have_count(0)
    tab.press("Enter")
    tab.wait_for_path(f"/requests/{log[1]}")


def test_pausing_keeps_the_row_in_place(low: LogPage, log: list[str]) -> None:
    low.press("j", "j", "j", "j", "j")
    low.expect_selected(log[4])
    low.press("n")
    low.wait_for_query(("namespace", "staging"))
    low.wait_for_rows(4)
    before = low.top_of(log[4])
    low.press("l")
    low.wait_for_query(("namespace", "staging"), ("live", "off"))
    low.expect_selected(log[4])
    low.wait_for_top(log[4], before)


def test_back_after_closing_a_request_does_not_open_it_again(tab: LogPage, log: list[str]) -> None:
    tab.open_log()
    tab.press("j", "Enter")
    expect(tab.drawer).to_contain_text("Question 11?")
    tab.wait_for_path(f"/requests/{log[0]}")
    expect(tab.drawer.locator(":focus")).to_have_count(1)
    tab.press("Escape")
    tab.wait_for_path("/requests")
    tab.page.go_back()
    tab.wait_for_rows(12)
    tab.wait_for_path("/requests")
    expect(tab.drawer).to_have_count(0)


def test_the_focus_stays_on_a_changed_filter_or_time_range(tab: LogPage, log: list[str]) -> None:
    tab.open_log("/requests?model=gpt-4o-mini&namespace=production&namespace=staging")
    tab.filter_bar.get_by_role("button", name="Remove namespace is production").focus()
    tab.press("Enter")
    tab.wait_for_query(("model", "gpt-4o-mini"), ("namespace", "staging"))
    wait_until(lambda: focused(tab) == "Remove namespace is staging", what="the focus on the value that is next")
    tab.press("Enter")
    tab.wait_for_query(("model", "gpt-4o-mini"))
    wait_until(lambda: focused(tab) == "Clear all", what="the focus on what is next")
    tab.page.get_by_role("button", name="All time").focus()
    tab.press("Enter")
    tab.page.get_by_role("button", name="Last hour").focus()
    tab.press("Enter")
    tab.wait_for_query(("model", "gpt-4o-mini"), ("from", "-1h"))
    wait_until(lambda: focused(tab).startswith("Last hour"), what="the focus on the time that is shown")


def test_a_button_that_disappears_gives_the_focus_to_the_log(tab: LogPage, world: World, log: list[str]) -> None:
    def press(name: str) -> None:
        tab.page.get_by_role("button", name=name, exact=True).last.focus()
        tab.press("Enter")

    list_ = tab.page.locator("[data-log]")
    tab.open_log("/requests?sort=cost_usd")
    press("Clear sort")
    expect(list_).to_be_focused()
    expect(tab.page.locator("table[data-sort]")).to_have_count(0)
    tab.press("j", "x")
    press("Clear selection")
    expect(list_).to_be_focused()
    tab.page.goto(f"{tab.dashboard}/requests?namespace=staging")
    expect(tab.rows.first).to_be_visible()
    tab.press("j")
    [sent] = world.log(Call(namespace="staging"))
    button = tab.page.get_by_role("button", name="1 new")
    button.focus()
    tab.press("Enter")
    expect(tab.row(sent)).to_be_visible()
    expect(list_).to_be_focused()
    tab.open("/requests?namespace=nobody&model=none")
    press("Clear all filters")
    expect(tab.page.locator("#content")).to_be_focused()


def test_a_value_that_is_excluded_gives_the_focus_to_the_next_row(tab: LogPage, log: list[str]) -> None:
    tab.open_log()
    tab.row(log[2]).get_by_role("link", name="Filter by namespace production").focus()
    tab.press("m")
    tab.page.get_by_role("menuitem", name="Exclude").focus()
    tab.press("Enter")
    tab.wait_for_query(("not.namespace", "production"))
    expect(tab.row(log[2])).to_have_count(0)
    wait_until(lambda: tab.state(_FOCUSED_ROW) == log[3], 10, "the focus on the next row")
