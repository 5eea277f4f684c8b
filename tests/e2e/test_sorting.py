"""Clicking a column head lists the requests with the highest values, and clicking it again the lowest."""

import re

import pytest
from playwright.sync_api import Locator
from tests.e2e.conftest import OpenTab
from tests.e2e.log_page import LogPage
from tests.e2e.world import Call, World
from tests.support.browser import expect, needs_chromium

pytestmark = needs_chromium

TOKENS = (5, 400, 20, 90, 3)


@pytest.fixture(scope="module")
def log(world: World) -> list[str]:
    """Return request ids in the order in which the requests ended.

    Their responses have the numbers of tokens in ``TOKENS``. The last request was rejected.
    """
    calls = [
        Call(namespace="ab"[number % 2], text=f"Request {number}", directives={"Answer-Tokens": str(tokens)})
        for number, tokens in enumerate(TOKENS)
    ]
    return world.log(*calls, Call(namespace="a", model="no-such-model", text="Rejected"))


def head(tab: LogPage, name: str) -> Locator:
    return tab.page.get_by_role("columnheader", name=name)


def sort_bar(tab: LogPage) -> Locator:
    return tab.page.get_by_role("status").filter(has_text=re.compile(" first"))


def test_the_most_expensive_request_of_the_last_24_hours_is_found(tab: LogPage, log: list[str]) -> None:
    tab.open_log()
    tab.page.get_by_role("button", name="all time").click()
    tab.page.get_by_role("button", name="last 24 hours").click()
    head(tab, "Cost").get_by_role("link").click()
    tab.wait_for_first(log[1])
    tab.wait_for_query(("from", "-24h"), ("sort", "cost_usd"))


def test_a_sorted_log_shows_its_order_and_a_button_for_newest_first(shared_tab: LogPage, log: list[str]) -> None:
    tab = shared_tab.show_log()
    head(tab, "Cost").get_by_role("link").click()
    expect(sort_bar(tab)).to_have_text("Most expensive first · not shown: 1 with unknown cost")
    expect(head(tab, "Cost")).to_have_attribute("aria-sort", "descending")
    assert tab.ids() == [log[number] for number in (1, 3, 2, 0, 4)]
    head(tab, "Cost").click(position={"x": 8, "y": 20})  # the whole cell sorts
    expect(sort_bar(tab)).to_have_text("Cheapest first · not shown: 1 with unknown cost")
    expect(head(tab, "Cost")).to_have_attribute("aria-sort", "ascending")
    tab.wait_for_first(log[4])
    tab.page.get_by_role("button", name="Clear sort").click()
    tab.wait_for_query()
    tab.wait_for_first(log[-1])
    expect(head(tab, "Cost")).not_to_have_attribute("aria-sort", "ascending")
    tab.page.go_back()
    tab.wait_for_first(log[4])


def test_each_sort_field_has_a_link_in_its_head(shared_tab: LogPage, log: list[str]) -> None:
    tab = shared_tab.show_log()
    tab.page.get_by_role("link", name="Sort by output tokens").click()
    expect(sort_bar(tab)).to_have_text("Most output tokens first · not shown: 1 with unknown output tokens")
    tab.wait_for_query(("sort", "output_tokens"))
    tab.page.get_by_role("link", name="Sort by input tokens").click()
    expect(sort_bar(tab)).to_have_text("Most input tokens first · not shown: 1 with unknown input tokens")
    head(tab, "Duration").get_by_role("link").click()
    expect(sort_bar(tab)).to_have_text("Slowest first")
    head(tab, "First token").get_by_role("link").click()
    tab.page.get_by_text("No matching request has a known value of time to first token").wait_for()
    assert tab.row_count() == 0


def test_a_filter_applies_to_the_sorted_log(shared_tab: LogPage, log: list[str]) -> None:
    tab = shared_tab.show_log("/requests?sort=cost_usd")
    tab.chip(log[2], "namespace a").click()
    tab.wait_for_query(("namespace", "a"), ("sort", "cost_usd"))
    expect(sort_bar(tab)).to_have_text("Most expensive first · not shown: 1 with unknown cost")
    assert tab.ids() == [log[2], log[0], log[4]]


def test_a_sorted_log_shows_new_requests_when_it_is_refreshed(tab: LogPage, world: World, log: list[str]) -> None:
    tab.open_log("/requests?sort=output_tokens&namespace=a")
    before = tab.ids()
    new = world.log(Call(namespace="a", directives={"Answer-Tokens": "30"}))[0]
    tab.page.get_by_text("not live while sorted").wait_for()
    assert tab.ids() == before
    tab.page.get_by_role("button", name="Refresh").click()
    tab.wait_for_first(new)
    expect(sort_bar(tab)).to_have_text("Most output tokens first · not shown: 1 with unknown output tokens")


def test_j_opens_the_next_request_in_the_order_of_a_sorted_log(shared_tab: LogPage, log: list[str]) -> None:
    tab = shared_tab.show_log("/requests?sort=cost_usd&namespace=b")
    tab.row(log[1]).locator("td").nth(3).click()
    expect(tab.drawer).to_be_visible()
    tab.press("j")
    tab.wait_for_path(f"/requests/{log[3]}")
    tab.wait_for_query(("namespace", "b"), ("sort", "cost_usd"))


@pytest.mark.parametrize(
    ("field", "value"), [("cost_usd", r"^\$0\.0|^<\$"), ("duration_ms", r" m?s$"), ("output_tokens", r"→ 400$")]
)
def test_the_value_that_sorts_is_visible_at_390_pixels(
    open_tab: OpenTab, world: World, log: list[str], field: str, value: str
) -> None:
    tab = open_tab(world.dashboard, viewport={"width": 390, "height": 844}).open_log(f"/requests?sort={field}")
    cells = tab.row(log[1]).locator("td").filter(has_text=re.compile(value), visible=True)
    expect(cells).to_have_count(1)
    box, row = cells.bounding_box(), tab.row(log[1]).bounding_box()
    assert box is not None
    assert row is not None
    assert row["y"] <= box["y"] <= box["y"] + box["height"] <= row["y"] + row["height"] + 1
    assert box["x"] + box["width"] <= 390


def test_the_buttons_beside_the_order_are_not_truncated_at_390_pixels(
    open_tab: OpenTab, world: World, log: list[str]
) -> None:
    tab = open_tab(world.dashboard, viewport={"width": 390, "height": 844}).open_log("/requests?sort=cost_usd")
    is_whole = "it => [it, ...it.querySelectorAll('*')].every((part) => part.scrollWidth <= part.clientWidth + 1)"
    for name in ("Refresh", "Select rows"):
        assert tab.page.get_by_role("button", name=name).evaluate(is_whole)


def test_an_unknown_sort_field_is_an_error_with_a_button_that_sorts_by_newest(tab: LogPage, log: list[str]) -> None:
    tab.guard.expect(r"Failed to load resource: the server responded with a status of 400")
    tab.open("/requests?sort=namespace")
    expect(tab.page.get_by_role("alert")).to_contain_text("The log cannot be sorted by “namespace”.")
    tab.page.get_by_role("button", name="Clear sort").click()
    tab.wait_for_query()


def test_the_time_of_a_row_is_its_start_and_the_hover_text_has_the_end_too(shared_tab: LogPage, log: list[str]) -> None:
    tab = shared_tab.show_log()
    cell = tab.row(log[0]).locator("td").first
    expect(cell).to_have_attribute("title", re.compile(r"^Started \d{4}-.* UTC\nEnded \d{4}-.* UTC$"))
    expect(head(tab, "Started")).to_be_visible()
