"""Actions on a value other than selecting: exclude, add, new tab, menu and pin, by mouse and by keyboard."""

import re
from itertools import cycle, islice
from typing import Any

import pytest
from playwright.sync_api import Locator
from tests.e2e.conftest import OpenTab
from tests.e2e.log_page import LogPage
from tests.e2e.world import Call, World
from tests.support.browser import expect, needs_chromium

pytestmark = needs_chromium

USER = "user-8f3a41c9d2e7"
NAMESPACES = ("production", "staging", "iOS", USER)
REQUESTS = 24
ACTIONS = ("Only this namespace", "Add to filter", "Exclude", "Unpin", "Copy")


@pytest.fixture(scope="module")
def log(world: World) -> dict[str, list[str]]:
    """Return the request ids of each namespace, latest first."""
    namespaces = list(islice(cycle(NAMESPACES), REQUESTS))
    channels = cycle(("iOS", "web", "Android"))
    calls = [Call(namespace=each, properties={"channel": next(channels)}) for each in namespaces]
    ids = world.log(*calls)
    return {
        kind: [each for each, of in reversed(list(zip(ids, namespaces, strict=True))) if of == kind]
        for kind in NAMESPACES
    }


def menu(tab: LogPage) -> Locator:
    return tab.page.get_by_role("menu")


def action(tab: LogPage, words: str) -> Locator:
    return menu(tab).get_by_role("menuitem", name=re.compile(f"^{words}"))


def test_shift_click_excludes_the_value(shared_tab: LogPage, log: dict[str, list[str]]) -> None:
    tab = shared_tab.show_log()
    tab.chip(log["staging"][0], "namespace staging").click(modifiers=["Shift"])
    tab.wait_for_query(("not.namespace", "staging"))
    tab.wait_for_rows(REQUESTS - len(log["staging"]))
    assert set(tab.values("namespace")) == set(NAMESPACES) - {"staging"}
    expect(tab.filter_bar).to_contain_text("namespace is not staging")


def test_alt_click_adds_the_value_to_the_selected_ones(shared_tab: LogPage, log: dict[str, list[str]]) -> None:
    tab = shared_tab.show_log()
    tab.chip(log["staging"][0], "namespace staging").click()
    tab.wait_for_query(("namespace", "staging"))
    tab.label("production").click(modifiers=["Alt"])
    tab.wait_for_query(("namespace", "staging"), ("namespace", "production"))
    tab.wait_for_rows(len(log["staging"]) + len(log["production"]))
    assert set(tab.values("namespace")) == {"staging", "production"}


@pytest.mark.parametrize("click", [{"button": "middle"}, {"modifiers": ["ControlOrMeta"]}])
def test_a_middle_or_control_click_opens_a_new_tab_with_the_filter(
    tab: LogPage, log: dict[str, list[str]], click: dict[str, Any]
) -> None:
    tab.open_log()
    with tab.page.context.expect_page() as opened:
        tab.chip(log["staging"][0], "namespace staging").click(**click)
    other = LogPage(opened.value, tab.dashboard, tab.guard)
    other.wait_for_query(("namespace", "staging"))
    other.wait_for_rows(len(log["staging"]))
    assert tab.query == []
    tab.wait_for_rows(REQUESTS)


def test_hovering_a_value_fades_rows_without_it_and_shows_how_many_have_it(
    shared_tab: LogPage, log: dict[str, list[str]]
) -> None:
    tab = shared_tab.show_log()
    tab.chip(log["staging"][0], "namespace staging").hover()
    expect(menu(tab)).to_contain_text(f"{len(log['staging'])} requests")
    expect(tab.row(log["production"][0])).to_have_attribute("data-dimmed", "true")
    expect(tab.row(log["staging"][1])).not_to_have_attribute("data-dimmed", "true")
    tab.point_nowhere()
    expect(menu(tab)).to_have_count(0)
    expect(tab.page.locator("[data-dimmed]")).to_have_count(0)


def test_the_menu_opened_by_hovering_has_every_action(shared_tab: LogPage, log: dict[str, list[str]]) -> None:
    tab = shared_tab.show_log()
    tab.chip(log["staging"][0], "namespace staging").hover()
    for words in ACTIONS:
        expect(action(tab, words)).to_be_visible()
    action(tab, "Exclude").click()
    tab.wait_for_query(("not.namespace", "staging"))
    expect(menu(tab)).to_have_count(0)


def test_m_opens_the_same_menu_and_arrows_move_in_it(shared_tab: LogPage, log: dict[str, list[str]]) -> None:
    tab = shared_tab.show_log()
    tab.chip(log["staging"][0], "namespace staging").focus()
    tab.press("m")
    for words in ACTIONS:
        expect(action(tab, words)).to_be_visible()
    tab.choose("Exclude")
    tab.wait_for_query(("not.namespace", "staging"))


def test_escape_closes_the_menu_and_returns_the_focus(shared_tab: LogPage, log: dict[str, list[str]]) -> None:
    tab = shared_tab.show_log()
    chip = tab.chip(log["staging"][0], "namespace staging")
    chip.focus()
    tab.press("m")
    expect(action(tab, "Only")).to_be_visible()
    tab.wait_for_focus_in_menu()
    tab.press("ArrowDown")
    expect(menu(tab).locator(":focus")).to_have_count(1)
    tab.press("Escape")
    expect(menu(tab)).to_have_count(0)
    expect(chip).to_be_focused()
    assert tab.query == []


def test_the_menu_copies_a_value_completely(shared_tab: LogPage, log: dict[str, list[str]]) -> None:
    tab = shared_tab.show_log()
    tab.chip(log[USER][0], f"namespace {USER}").hover()
    action(tab, "Copy").click()
    expect(menu(tab)).to_have_count(0)  # The menu closes when the value is copied.
    assert tab.state("navigator.clipboard.readText()") == USER


def test_a_property_filters_like_a_namespace(shared_tab: LogPage, log: dict[str, list[str]], world: World) -> None:
    tab = shared_tab.show_log()
    web = world.count("property.channel=web")
    row = tab.rows.filter(has=tab.page.get_by_role("link", name="Filter by channel web", exact=True)).first
    row.get_by_role("link", name="Filter by channel web", exact=True).click()
    tab.wait_for_query(("property.channel", "web"))
    tab.wait_for_rows(web)
    assert set(tab.values("property.channel")) == {"web"}


def test_a_result_filters_by_the_same_result(shared_tab: LogPage, world: World, log: dict[str, list[str]]) -> None:
    [limited] = world.log(Call(namespace="limited", directives={"Status": "429"}))
    tab = shared_tab.show_log("/requests?namespace=limited")
    expect(tab.row(limited)).to_contain_text("✗ 429 rate limited")
    tab.chip(limited, "result rate limited").click()
    tab.wait_for_query(("namespace", "limited"), ("result", "rate_limited"))
    tab.wait_for_rows(1)


def test_a_successful_result_does_not_select_failures_with_the_same_status(shared_tab: LogPage, world: World) -> None:
    broken = world.stream(Call(namespace="results", directives={"Break": "event:3 rst"}))
    broken.read_until_it_breaks()
    truncated = Call(namespace="results", directives={"Answer-Tokens": "50"}, more={"max_tokens": 3})
    complete, cut = world.log(Call(namespace="results"), truncated)
    world.wait_for([broken.id])
    tab = shared_tab.show_log("/requests?namespace=results")
    expect(tab.row(broken.id)).to_contain_text("✗ Stream interrupted by upstream")
    expect(tab.row(cut)).to_contain_text("✓ 200 · cut at token limit")
    tab.chip(complete, "result complete").click()
    tab.wait_for_query(("namespace", "results"), ("result", "complete"))
    tab.wait_for_rows(1)
    tab.expect_selected(complete)


def test_p_pins_the_namespace_of_a_row_for_everyone(
    tab: LogPage, open_tab: OpenTab, world: World, log: dict[str, list[str]]
) -> None:
    other = open_tab(world.dashboard).set_clock().open_log()
    tab.open_log()
    assert not tab.label(USER).count()
    tab.chip(log[USER][0], f"namespace {USER}").focus()
    tab.press("m")
    action(tab, "Pin").click()
    expect(tab.label(USER)).to_be_visible()
    other.skip(seconds=6)
    expect(other.label(USER)).to_be_visible()
    tab.select(log[USER][0])
    tab.press("p")
    expect(tab.label(USER)).to_have_count(0)
    tab.press("p")
    expect(tab.label(USER)).to_be_visible()


def test_digits_select_the_labels_in_order_and_0_shows_all(shared_tab: LogPage, log: dict[str, list[str]]) -> None:
    tab = shared_tab.show_log()
    bar = tab.page.get_by_role("navigation", name="Namespaces")
    expect(tab.label("production")).to_be_visible()
    names = bar.locator("a[data-field=namespace]").evaluate_all("(links) => links.map((link) => link.dataset.value)")
    for key, name in enumerate(names[:9], 1):
        tab.press(str(key))
        tab.wait_for_query(("namespace", name))
    tab.press("0")
    tab.wait_for_query()


def test_namespaces_are_found_by_a_prefix(shared_tab: LogPage, world: World, log: dict[str, list[str]]) -> None:
    [found] = world.log(Call(namespace="session-77f1c0de9a31"))
    tab = shared_tab.show_log()
    tab.page.get_by_role("button", name=re.compile("All namespaces")).click()
    tab.page.get_by_role("textbox", name=re.compile("All namespaces")).fill("sess")
    tab.page.get_by_role("dialog", name="All namespaces").get_by_role(
        "link", name=re.compile("session-77f1c0de9a31")
    ).click()
    tab.wait_for_query(("namespace", "session-77f1c0de9a31"))
    tab.wait_for_first(found)
    tab.wait_for_rows(1)
