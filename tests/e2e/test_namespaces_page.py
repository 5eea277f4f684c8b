"""Each value in the lists of namespaces and properties links to the log, filtered by the value."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Locator
from tests.e2e.conftest import OpenTab
from tests.e2e.log_page import LogPage
from tests.e2e.world import Call, World, world_in
from tests.support.axe import check_accessibility
from tests.support.browser import expect, needs_chromium

pytestmark = needs_chromium

#: More namespaces than one page of the list contains.
USERS: Final = 104
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
FITS = "document.scrollingElement.scrollWidth <= document.documentElement.clientWidth"
NAMESPACES = ("production", "staging", "user-8f3a41c9d2e7", "iOS")


@pytest.fixture(scope="module")
def log(world: World) -> list[str]:
    """Return request ids, latest last: four of production, two of staging (one failed), one of a user, one of iOS."""
    responses = [Call(namespace="production", properties={"channel": "web"}, more={"max_tokens": 9}) for _ in range(4)]
    return world.log(
        *responses,
        Call(namespace="staging", properties={"channel": "iOS", "tier": "gold"}),
        Call(namespace="staging", directives={"Status": "429"}),
        Call(namespace="user-8f3a41c9d2e7", properties={"channel": "iOS"}),
        Call(namespace="iOS"),
    )


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[World]:
    with world_in(tmp_path) as started:
        yield started


def rows(tab: LogPage) -> Locator:
    return tab.page.get_by_role("main").locator("tbody tr")


def names(tab: LogPage) -> list[str]:
    """Return the values in the table, in order."""
    return list(
        tab.page.eval_on_selector_all("main tbody [data-value]", "(all) => all.map((one) => one.dataset.value)")
    )


def wait_for_names(tab: LogPage, *expected: str) -> None:
    script = "(all) => [...document.querySelectorAll('main tbody [data-value]')].map((one) => one.dataset.value)"
    tab.page.wait_for_function(f"(wanted) => ({script})().join() === wanted", arg=",".join(expected))


def row_of(tab: LogPage, namespace: str) -> Locator:
    return rows(tab).filter(has=tab.page.locator(f'[data-value="{namespace}"]'))


def open_list(tab: LogPage, path: str = "/namespaces") -> LogPage:
    tab.show(path)
    expect(rows(tab).first).to_be_visible()
    return tab


# -- selecting ---------------------------------------------------------------------------------------------------------


def test_selecting_a_namespace_in_the_list_opens_the_log_filtered_by_it(tab: LogPage, log: list[str]) -> None:
    tab.open_log()
    tab.page.get_by_role("link", name="Namespaces", exact=True).click()
    tab.wait_for_path("/namespaces")
    expect(tab.page.get_by_role("columnheader", name="Last seen")).to_be_visible()  # The log is no longer shown.
    row_of(tab, "staging").get_by_role("link", name="Filter by namespace staging", exact=True).click()
    tab.wait_for_path("/requests")
    assert tab.query == [("namespace", "staging")]
    tab.wait_for_rows(2)
    assert set(tab.ids()) == {log[4], log[5]}
    tab.page.go_back()
    expect(row_of(tab, "staging")).to_be_visible()


def test_selecting_the_number_of_failures_opens_the_log_with_those_of_this_namespace(
    shared_tab: LogPage, log: list[str]
) -> None:
    tab = open_list(shared_tab)
    row_of(tab, "staging").get_by_role("link", name=re.compile("1 failed$")).click()
    tab.wait_for_query(("namespace", "staging"), ("status", "error"))
    tab.wait_for_rows(1)
    tab.wait_for_first(log[5])


def test_a_filter_of_the_log_does_not_apply_to_links_of_the_list(tab: LogPage, log: list[str]) -> None:
    tab.open_log("/requests?namespace=production")
    tab.page.get_by_role("link", name="Namespaces", exact=True).click()
    open_list(tab, "/namespaces?sort=requests&prefix=s")
    row_of(tab, "staging").get_by_role("link", name="Filter by namespace staging", exact=True).click()
    tab.wait_for_query(("namespace", "staging"))
    tab.wait_for_rows(2)


def test_a_namespace_in_the_list_has_the_same_menu_as_elsewhere(shared_tab: LogPage, log: list[str]) -> None:
    tab = open_list(shared_tab)
    row_of(tab, "staging").locator("[data-value]").focus()
    tab.press("m")
    expect(tab.page.get_by_role("menu")).to_contain_text("2 requests, 1 failed")
    tab.choose("Exclude")
    tab.wait_for_query(("not.namespace", "staging"))


def test_the_list_can_be_used_by_keyboard(shared_tab: LogPage, log: list[str]) -> None:
    tab = open_list(shared_tab, "/namespaces?sort=requests")
    tab.press("/")
    expect(tab.page.get_by_role("textbox", name="Namespaces that contain")).to_be_focused()
    tab.page.keyboard.type("prod")
    tab.wait_for_query(("sort", "requests"), ("prefix", "prod"))
    wait_for_names(tab, "production")
    chip = row_of(tab, "production").locator("[data-value]")
    for _ in range(20):
        tab.press("Tab")
        if chip.evaluate("(one) => one === document.activeElement"):
            break
    tab.press("Enter")
    tab.wait_for_query(("namespace", "production"))
    tab.wait_for_rows(4)


# -- reading -----------------------------------------------------------------------------------------------------------


def test_the_list_shows_the_totals_of_each_namespace(shared_tab: LogPage, log: list[str]) -> None:
    tab = open_list(shared_tab)
    row = row_of(tab, "production")
    expect(row).to_contain_text("Environment")
    expect(row.locator("td").nth(2)).to_contain_text("4")
    expect(row.locator("td").nth(3)).to_contain_text("0")
    expect(row.locator("td").nth(4)).to_have_text("0 %")
    expect(row.locator("td").nth(5)).to_contain_text(re.compile(r"^[\d,]+ → 36$"))
    expect(row.locator("td").nth(6)).to_contain_text("$0.000")
    expect(row.locator("td").nth(7)).to_contain_text("today")
    expect(row.locator("td").nth(8)).to_contain_text("ago")


def test_the_last_24_hours_of_all_values_are_drawn_with_one_query(tab: LogPage, log: list[str]) -> None:
    requested: list[str] = []
    tab.page.on("request", lambda request: requested.append(request.url) if "/api/stats" in request.url else None)
    open_list(tab)
    drawn = row_of(tab, "production").get_by_role("img", name=re.compile("^4 requests since "))
    expect(drawn).to_be_visible()
    expect(row_of(tab, "staging").get_by_role("img", name=re.compile("^2 requests since "))).to_be_visible()
    assert [urlsplit(url).query for url in requested] == ["by=namespace&from=-24h&bucket=3600"]
    open_list(tab, "/namespaces?tab=properties&property=channel")
    expect(row_of(tab, "web").get_by_role("img", name=re.compile("^4 requests since "))).to_be_visible()


def test_the_column_heads_sort_the_list_and_back_undoes_it(shared_tab: LogPage, log: list[str]) -> None:
    tab = open_list(shared_tab)
    wait_for_names(tab, "iOS", "user-8f3a41c9d2e7", "staging", "production")
    tab.page.get_by_role("columnheader").get_by_role("link", name="Requests").click()
    tab.wait_for_query(("sort", "requests"))
    wait_for_names(tab, "production", "staging", "iOS", "user-8f3a41c9d2e7")
    expect(tab.page.get_by_role("columnheader", name="Requests")).to_have_attribute("aria-sort", "descending")
    tab.page.get_by_role("columnheader").get_by_role("link", name="Failed", exact=True).click()
    tab.page.wait_for_function("() => document.querySelector('main tbody [data-value]')?.dataset.value === 'staging'")
    tab.page.go_back()
    tab.page.go_back()
    wait_for_names(tab, "iOS", "user-8f3a41c9d2e7", "staging", "production")


def test_a_prefix_without_matches_shows_a_message_and_can_be_cleared(tab: LogPage, log: list[str]) -> None:
    tab.open("/namespaces?prefix=Prodx")
    main = tab.page.get_by_role("main")
    expect(main).to_contain_text("No namespaces contain Prodx.")
    main.get_by_role("button", name="Clear").click()
    expect(rows(tab)).to_have_count(len(NAMESPACES))
    tab.wait_for_query()


def test_an_invalid_address_is_explained(tab: LogPage, log: list[str]) -> None:
    tab.guard.expect("status of 400")
    tab.open("/namespaces?sort=size")
    alert = tab.page.get_by_role("main").get_by_role("alert")
    expect(alert).to_contain_text("sort is 'size'")
    alert.get_by_role("button", name="Show the whole list").click()
    expect(rows(tab)).to_have_count(len(NAMESPACES))


def test_an_empty_list_is_filled_automatically(empty: World, open_tab: OpenTab) -> None:
    tab = open_tab(empty.dashboard).set_clock().open("/namespaces")
    expect(tab.page.get_by_role("main")).to_contain_text("No namespaces yet")
    check_accessibility(tab.page)
    tab.point_nowhere()
    empty.log(Call(namespace="production"))
    tab.skip(seconds=6)
    expect(row_of(tab, "production")).to_be_visible()


def test_a_click_does_not_stop_the_updates_of_the_list_but_the_keyboard_focus_does(
    empty: World, open_tab: OpenTab
) -> None:
    empty.log(Call(namespace="production"))
    tab = open_list(open_tab(empty.dashboard).set_clock())
    requests = row_of(tab, "production").locator("td").nth(2)
    requests.click()
    tab.point_nowhere()
    empty.log(Call(namespace="production"))
    tab.skip(seconds=6)
    expect(requests).to_contain_text("2 requests")
    tab.press("Tab")
    expect(tab.page.locator("[data-scroller] :focus-visible")).to_have_count(1)
    empty.log(Call(namespace="production"), Call(namespace="staging"))
    tab.skip(seconds=6)
    # The number of all namespaces is read at the same time.
    scope = tab.page.get_by_role("navigation", name="Which namespaces")
    expect(scope.get_by_role("link", name="All namespaces 2")).to_be_visible()
    expect(requests).to_contain_text("2 requests")
    tab.state("document.activeElement.blur()")
    tab.skip(seconds=6)
    expect(requests).to_contain_text("3 requests")


def test_more_than_a_page_of_namespaces_is_loaded_on_demand_and_can_be_searched(
    empty: World, open_tab: OpenTab
) -> None:
    empty.log_many(Call(namespace=f"user-{number:08d}") for number in range(USERS))
    tab = open_list(open_tab(empty.dashboard))
    expect(rows(tab)).to_have_count(100)
    expect(tab.page.get_by_role("main")).to_contain_text("The first 100.")
    tab.page.get_by_role("button", name="Load more").click()
    expect(rows(tab)).to_have_count(USERS)
    assert len(set(names(tab))) == USERS
    tab.page.get_by_role("textbox", name="Namespaces that contain").fill("user-00000042")
    wait_for_names(tab, "user-00000042")


def test_a_star_pins_a_namespace_for_everyone_and_unpins_it(
    tab: LogPage, open_tab: OpenTab, world: World, log: list[str]
) -> None:
    user = "user-8f3a41c9d2e7"
    open_list(tab)
    star = tab.page.get_by_role("button", name=f"Pin {user}")
    expect(star).to_have_attribute("aria-pressed", "false")
    star.click()
    expect(star).to_have_attribute("aria-pressed", "true")
    expect(star).to_be_focused()
    other = open_tab(world.dashboard).set_clock().open_log()
    expect(other.label(user)).to_be_visible()
    tab.page.get_by_role("navigation", name="Which namespaces").get_by_role("link", name="Pinned").click()
    expect(row_of(tab, user)).to_be_visible()
    star.click()
    expect(star).to_have_attribute("aria-pressed", "false")
    other.skip(seconds=6)
    expect(other.label(user)).to_have_count(0)


# -- properties --------------------------------------------------------------------------------------------------------


def test_selecting_a_value_of_a_property_opens_the_log_filtered_by_it(shared_tab: LogPage, log: list[str]) -> None:
    tab = open_list(shared_tab)
    tab.page.get_by_role("navigation", name="Lists").get_by_role("link", name="Properties").click()
    tab.wait_for_query(("tab", "properties"))
    tab.page.get_by_role("link", name="channel 6 requests").click()
    tab.wait_for_query(("tab", "properties"), ("property", "channel"))
    wait_for_names(tab, "web", "iOS")
    rows(tab).get_by_role("link", name="Filter by channel iOS").click()
    tab.wait_for_query(("property.channel", "iOS"))
    tab.wait_for_rows(2)
    tab.page.go_back()
    wait_for_names(tab, "web", "iOS")


def test_values_of_a_property_are_searched_by_prefix(shared_tab: LogPage, log: list[str]) -> None:
    tab = open_list(shared_tab, "/namespaces?tab=properties&property=channel")
    tab.press("/")
    tab.page.keyboard.type("w")
    tab.wait_for_query(("tab", "properties"), ("property", "channel"), ("prefix", "w"))
    wait_for_names(tab, "web")
    expect(tab.page.get_by_role("link", name="tier 1 request")).to_be_visible()


#: The width of the visible beginning of a name, in characters, and of the whole beginning.
_BEGINNING: Final = """(name) => {
  const [head, tail] = name.children;
  const character = tail.getBoundingClientRect().width / tail.textContent.length;
  return [head.getBoundingClientRect().width / character, head.textContent.length];
}"""


# -- small screens -----------------------------------------------------------------------------------------------------


def test_at_390_pixels_both_lists_fit_and_filter(open_tab: OpenTab, world: World, log: list[str]) -> None:
    tab = open_list(open_tab(world.dashboard, **PHONE))
    assert tab.state(FITS)
    expect(row_of(tab, "staging")).to_contain_text("1 failed")
    tab.page.get_by_role("columnheader").get_by_role("link", name="Cost").tap()
    tab.wait_for_query(("sort", "cost_usd"))
    row_of(tab, "staging").locator("[data-value]").tap()
    tab.wait_for_query(("namespace", "staging"))
    assert tab.state(FITS)
    open_list(tab, "/namespaces?tab=properties&property=channel")
    assert tab.state(FITS)
    tab.page.get_by_role("link", name="All properties").tap()
    tab.page.get_by_role("link", name="tier").tap()
    wait_for_names(tab, "gold")


def test_a_name_cut_in_the_middle_has_no_hole(tab: LogPage, log: list[str]) -> None:
    open_list(tab)
    name = row_of(tab, "user-8f3a41c9d2e7").locator("bdi")
    cut = []
    for width in range(650, 700, 7):
        tab.page.set_viewport_size({"width": width, "height": 450})
        visible, whole = name.evaluate(_BEGINNING)
        if visible < whole - 0.5:
            cut.append(visible - round(visible))
    # The browser needs a little more space than the characters, which one of these widths may not have.
    assert len(cut) > 3
    assert sum(0.01 < space < 0.05 for space in cut) >= len(cut) - 1, cut
    tab.page.set_viewport_size({"width": 1440, "height": 900})
    visible, whole = name.evaluate(_BEGINNING)
    assert visible == pytest.approx(whole, abs=0.05)
