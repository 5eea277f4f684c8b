"""Selecting a namespace in a row filters the log by it, updates the address, and does not move the row."""

from collections.abc import Callable
from itertools import cycle, islice

import pytest
from tests.e2e.conftest import OpenTab
from tests.e2e.log_page import LogPage
from tests.e2e.world import Call, World
from tests.support.browser import expect, needs_chromium
from tests.support.long import sampled
from tests.support.server import wait_until

pytestmark = needs_chromium

ENVIRONMENTS = ("development", "staging", "production")
CHANNELS = ("iOS", "Android", "web")
USERS = ("user-8f3a41c9d2e7", "maria@example.com", "+4915228817386")
KINDS = (*ENVIRONMENTS, *CHANNELS, *USERS)
REQUESTS = 264
ROW_PX = 30


@pytest.fixture(scope="module")
def crowd(world: World) -> dict[str, set[str]]:
    """Return the request ids of each namespace. The namespaces alternate in the log."""
    namespaces = list(islice(cycle(KINDS), REQUESTS))
    ids = world.log_many(Call(namespace=each, text=f"{each} asks {n}") for n, each in enumerate(namespaces))
    return {kind: {found for found, each in zip(ids, namespaces, strict=True) if each == kind} for kind in KINDS}


Row = Callable[[LogPage, set[str]], str]


def _top_of_the_log(tab: LogPage, requests: set[str]) -> str:
    return next(found for found in tab.ids() if found in requests)


def _top_of_the_screen(tab: LogPage, requests: set[str]) -> str:
    tab.scroll_to(3010)
    return next(found for found, _ in tab.on_screen() if found in requests)


def _middle_of_the_screen(tab: LogPage, requests: set[str]) -> str:
    tab.scroll_to(3010)
    seen = [found for found, _ in tab.on_screen()]
    return min((found for found in seen if found in requests), key=lambda found: abs(seen.index(found) - len(seen) / 2))


def _bottom_of_the_screen(tab: LogPage, requests: set[str]) -> str:
    tab.scroll_to(3010)
    return [found for found, _ in tab.on_screen() if found in requests][-1]


def _end_of_the_log(tab: LogPage, requests: set[str]) -> str:
    tab.scroll_to_end(REQUESTS)
    return [found for found, _ in tab.on_screen() if found in requests][-1]


PLACES = (
    _top_of_the_log,
    _top_of_the_screen,
    _middle_of_the_screen,
    _bottom_of_the_screen,
    _end_of_the_log,
)


def _selecting_keeps_the_row(tab: LogPage, namespace: str, requests: set[str], choose: Row) -> None:
    tab.open_log()
    _selecting(tab, namespace, requests, choose(tab, requests))


def _selecting(tab: LogPage, namespace: str, requests: set[str], chosen: str) -> None:
    before = tab.top_of(chosen)
    tab.chip(chosen, f"namespace {namespace}").click()
    tab.wait_for_query(("namespace", namespace))
    tab.wait_for_rows(len(requests))
    tab.wait_for_top(chosen, before)
    tab.expect_selected(chosen)
    assert set(tab.all_ids()) == requests


@pytest.mark.parametrize("namespace", sampled(KINDS, 2))
def test_selecting_a_namespace_of_a_row_leaves_exactly_its_requests_and_keeps_the_row_in_place(
    tab: LogPage, crowd: dict[str, set[str]], namespace: str
) -> None:
    _selecting_keeps_the_row(tab, namespace, crowd[namespace], _middle_of_the_screen)


@pytest.mark.parametrize("place", sampled(PLACES, 2))
def test_a_row_stays_in_place_at_any_position(tab: LogPage, crowd: dict[str, set[str]], place: Row) -> None:
    _selecting_keeps_the_row(tab, "staging", crowd["staging"], place)


def test_a_row_stays_in_place_with_less_than_a_line_of_space_above_it(tab: LogPage, crowd: dict[str, set[str]]) -> None:
    tab.open_log()
    names = tab.values("namespace")
    # Choose a row below the first row, with a namespace that no row above has.
    place = next(place for place, name in enumerate(names) if place > 0 and name not in names[:place])
    tab.scroll_to(place * ROW_PX - 12)
    _selecting(tab, names[place], crowd[names[place]], tab.ids()[place])


def test_the_selected_row_stays_in_place_through_a_second_filter_and_back(
    tab: LogPage, crowd: dict[str, set[str]]
) -> None:
    tab.open_log()
    chosen = _middle_of_the_screen(tab, crowd["web"])
    before = tab.top_of(chosen)
    tab.chip(chosen, "namespace web").click()
    tab.wait_for_query(("namespace", "web"))
    tab.wait_for_top(chosen, before)
    tab.chip(chosen, "model gpt-4o-mini").click()
    tab.wait_for_query(("namespace", "web"), ("model", "gpt-4o-mini"))
    tab.wait_for_top(chosen, before)
    tab.page.go_back()
    tab.wait_for_query(("namespace", "web"))
    tab.wait_for_top(chosen, before)


def test_clear_shows_all_requests_again(shared_tab: LogPage, crowd: dict[str, set[str]]) -> None:
    tab = shared_tab.show_log("/requests?namespace=staging&model=gpt-4o-mini")
    expect(tab.filter_bar).to_contain_text("namespace is staging")
    expect(tab.filter_bar).to_contain_text(f"{len(crowd['staging'])} requests")
    tab.filter_bar.get_by_role("button", name="Clear all").click()
    tab.wait_for_query()
    expect(tab.filter_bar).not_to_contain_text("staging")
    tab.scroll_to_end(REQUESTS)


def test_the_close_button_of_a_value_removes_only_that_value(shared_tab: LogPage, crowd: dict[str, set[str]]) -> None:
    tab = shared_tab.show_log("/requests?namespace=staging&namespace=web&model=gpt-4o-mini")
    tab.wait_for_rows(len(crowd["staging"] | crowd["web"]))
    tab.filter_bar.get_by_role("button", name="Remove namespace is staging").click()
    tab.wait_for_query(("namespace", "web"), ("model", "gpt-4o-mini"))
    tab.wait_for_rows(len(crowd["web"]))


def test_backspace_removes_the_last_selected_value(shared_tab: LogPage, crowd: dict[str, set[str]]) -> None:
    tab = shared_tab.show_log()
    chosen = _top_of_the_log(tab, crowd["iOS"])
    tab.chip(chosen, "namespace iOS").click()
    tab.wait_for_query(("namespace", "iOS"))
    # A click is lost if its row is replaced between press and release.
    tab.wait_for_rows(len(crowd["iOS"]))
    tab.chip(chosen, "result complete").click()
    tab.wait_for_query(("namespace", "iOS"), ("result", "complete"))
    tab.press("Backspace")
    tab.wait_for_query(("namespace", "iOS"))
    tab.wait_for_rows(len(crowd["iOS"]))
    tab.press("Backspace")
    tab.wait_for_query()
    wait_until(lambda: set(tab.values("namespace")) > {"iOS"}, what="all namespaces")


def test_back_and_forward_move_through_the_filters(tab: LogPage, crowd: dict[str, set[str]]) -> None:
    tab.open_log()
    tab.label("production").click()
    tab.wait_for_query(("namespace", "production"))
    tab.wait_for_rows(len(crowd["production"]))
    tab.label("web").click()
    tab.wait_for_query(("namespace", "web"))
    tab.page.go_back()
    tab.wait_for_query(("namespace", "production"))
    expect(tab.filter_bar).to_contain_text("namespace is production")
    tab.page.go_back()
    tab.wait_for_query()
    expect(tab.filter_bar).not_to_contain_text("production")
    tab.page.go_forward()
    tab.page.go_forward()
    tab.wait_for_query(("namespace", "web"))
    tab.wait_for_rows(len(crowd["web"]))
    assert set(tab.all_ids()) == crowd["web"]


def test_back_returns_to_the_previous_scroll_position(tab: LogPage, crowd: dict[str, set[str]]) -> None:
    tab.open_log("/requests?live=off")
    tab.scroll_to(700)
    before = tab.on_screen()
    tab.label("web").click()
    tab.wait_for_query(("namespace", "web"), ("live", "off"))
    tab.wait_for_rows(len(crowd["web"]))
    tab.page.go_back()
    tab.wait_for_query(("live", "off"))
    wait_until(lambda: tab.on_screen() == before, what="the rows that stood there before")


def test_a_link_opened_in_another_browser_and_a_reload_show_the_same(
    tab: LogPage, open_tab: OpenTab, world: World, crowd: dict[str, set[str]]
) -> None:
    user = USERS[1]
    tab.open_log()
    tab.chip(_top_of_the_log(tab, crowd[user]), f"namespace {user}").click()
    tab.wait_for_query(("namespace", user))
    tab.wait_for_rows(len(crowd[user]))
    link = tab.page.url.removeprefix(world.dashboard)
    tab.page.reload()
    tab.wait_for_rows(len(crowd[user]))
    assert tab.page.url == world.dashboard + link
    other = open_tab(world.dashboard).open_log(link)
    other.wait_for_rows(len(crowd[user]))
    assert set(other.all_ids()) == crowd[user]
    expect(other.filter_bar).to_contain_text(f"namespace is {user}")


def test_a_button_copies_the_api_call_of_the_list(tab: LogPage, crowd: dict[str, set[str]]) -> None:
    tab.open_log("/requests?namespace=web")
    button = tab.page.get_by_role("button", name="Copy JSON URL")
    before = button.bounding_box()
    button.click()
    copied = tab.page.get_by_role("button", name="Copied", exact=True)
    expect(copied).to_be_visible()
    assert copied.bounding_box() == before
    found = tab.page.request.get(tab.state("navigator.clipboard.readText()")).json()
    assert {row["id"] for row in found["data"]} <= crowd["web"]
    assert found["data"]
