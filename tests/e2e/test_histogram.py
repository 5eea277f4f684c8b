"""The histogram above the log: its counts, and selecting a time range by pointer and by keyboard."""

import re
from typing import Any, Final

import pytest
from playwright.sync_api import Locator, Route
from tests.e2e.conftest import OpenTab
from tests.e2e.log_page import LogPage
from tests.e2e.world import Call, World
from tests.support.axe import check_accessibility
from tests.support.browser import expect, needs_chromium
from tests.support.server import wait_until

pytestmark = needs_chromium

#: The last hour, shown in 60 bars. The requests of this file are in about the last bar.
HOUR: Final = "/requests?from=-1h"
_STATS: Final = re.compile(r"/api/stats(\?|$)")


@pytest.fixture(scope="module")
def log(world: World) -> list[str]:
    calls = [Call(namespace=each) for each in ("production", "staging", "staging", "production", "web")]
    return world.log(*calls, Call(namespace="staging", directives={"Status": "429"}))[::-1]


def bars(tab: LogPage) -> Locator:
    return tab.page.get_by_role("slider", name="Requests over time")


def drag(tab: LogPage, start: float, end: float) -> None:
    """Drag between two horizontal positions of the histogram, given as fractions of its width from 0 to 1."""
    box = bars(tab).bounding_box()
    assert box is not None
    y = box["y"] + box["height"] / 2
    tab.page.mouse.move(box["x"] + start * box["width"], y)
    tab.page.mouse.down()
    tab.page.mouse.move(box["x"] + (start + end) / 2 * box["width"], y)
    tab.page.mouse.move(box["x"] + end * box["width"], y)


def selected_range(tab: LogPage) -> dict[str, str]:
    """Wait until the address has both ends of a time range, and return its parameters."""
    tab.page.wait_for_url(lambda url: "from=2" in url and "to=2" in url, wait_until="commit")
    return dict(tab.query)


def total(tab: LogPage) -> Locator:
    """Return the total of the bars."""
    return tab.page.get_by_title("The bars cover")


def test_the_histogram_also_shows_the_requests_that_the_filter_excludes(shared_tab: LogPage, log: list[str]) -> None:
    tab = shared_tab.show_log()
    expect(total(tab)).to_have_text(re.compile(r"^Duration p50 [\d.]+ m?s · Cost (<\$0\.0001|\$0\.\d+)$"))
    expect(tab.filter_bar).to_contain_text("6 requests · 1 failed")
    tab.label("staging").click()
    expect(tab.filter_bar).to_contain_text("3 requests · 1 failed")
    expect(tab.page.get_by_text(re.compile(r"^[\d,]+ requests"))).to_have_count(1)


def test_dragging_over_the_histogram_shows_only_that_time_range_and_updates_the_url(
    shared_tab: LogPage, world: World, log: list[str]
) -> None:
    tab = shared_tab.show_log(HOUR)
    tab.wait_for_rows(len(log))
    expect(bars(tab)).to_be_visible()
    drag(tab, 0.75, 0.999)
    tab.page.mouse.up()
    time = selected_range(tab)
    assert time["from"] < time["to"]
    tab.wait_for_rows(world.count(f"from={time['from']}&to={time['to']}"))
    assert set(tab.all_ids()) == set(log)
    tab.page.go_back()
    tab.wait_for_query(("from", "-1h"))


def test_a_time_range_without_requests_can_be_selected_and_shows_a_message(shared_tab: LogPage, log: list[str]) -> None:
    tab = shared_tab.show_log(f"{HOUR}&namespace=staging")
    expect(bars(tab)).to_be_visible()
    drag(tab, 0.1, 0.4)
    tab.page.mouse.up()
    assert selected_range(tab)["namespace"] == "staging"
    expect(tab.page.get_by_role("main")).to_contain_text(") in the namespace staging.")


def test_escape_cancels_a_drag(shared_tab: LogPage, log: list[str]) -> None:
    tab = shared_tab.show_log(HOUR)
    expect(bars(tab)).to_be_visible()
    drag(tab, 0.2, 0.6)
    expect(bars(tab)).to_contain_text("0 requests")
    tab.press("Escape")
    expect(bars(tab)).not_to_contain_text("requests")
    tab.page.mouse.up()
    assert tab.query == [("from", "-1h")]


def test_the_keyboard_moves_along_the_bars_and_selects_their_time_range(shared_tab: LogPage, log: list[str]) -> None:
    tab = shared_tab.show_log(HOUR)
    bars(tab).focus()
    tab.press("End", *["Shift+ArrowLeft"] * 12)
    expect(bars(tab)).to_have_attribute("aria-valuetext", re.compile("6 requests · 1 failed"))
    tab.press("Enter")
    selected_range(tab)
    tab.wait_for_rows(len(log))


def test_hovering_a_bar_shows_its_time_and_its_requests(shared_tab: LogPage, log: list[str]) -> None:
    tab = shared_tab.show_log(HOUR)
    expect(bars(tab)).to_be_visible()
    box = bars(tab).bounding_box()
    assert box is not None
    tab.page.mouse.move(box["x"] + 5, box["y"] + 5)
    expect(bars(tab)).to_contain_text(re.compile(r"\d\d:\d\d – .*\d\d:\d\d · 0 requests"))
    tab.point_nowhere()
    expect(bars(tab)).not_to_contain_text("requests")


def test_rows_do_not_move_when_the_bars_appear(tab: LogPage, log: list[str]) -> None:
    held: list[Route] = []
    tab.page.route(_STATS, lambda route: held.append(route))
    tab.open_log()
    before = tab.top_of(log[0])
    wait_until(lambda: tab.page.evaluate("1") and held, what="asking for the bars")
    expect(bars(tab)).to_have_count(0)
    held[0].continue_()
    expect(bars(tab)).to_be_visible()
    assert tab.top_of(log[0]) == before


def test_the_bars_are_requested_after_the_rows(tab: LogPage, log: list[str]) -> None:
    rows: list[Route] = []
    requested: list[str] = []
    tab.page.route(re.compile(r"/api/requests\?"), lambda route: rows.append(route))
    tab.page.on("request", lambda request: requested.append(request.url) if _STATS.search(request.url) else None)
    tab.open()
    expect(tab.filter_bar).to_contain_text("6 requests")
    assert (len(rows), requested) == (1, [])
    rows[0].continue_()
    expect(bars(tab)).to_be_visible()
    tab.page.unroute_all()


def test_an_aggregation_that_is_too_large_shows_a_message_in_place(tab: LogPage, log: list[str]) -> None:
    tab.guard.expect("status of 503")
    _refuse(tab, "deadline")
    tab.open_log()
    expect(tab.page.get_by_text("Too many requests to aggregate. Select a shorter time range.")).to_be_visible()
    expect(bars(tab)).to_have_count(0)
    check_accessibility(tab.page)


@pytest.mark.parametrize("width", [1440, 390])
def test_axe_finds_no_violation_during_a_selection(open_tab: OpenTab, world: World, log: list[str], width: int) -> None:
    tab = open_tab(world.dashboard, viewport={"width": width, "height": 844}).open_log(HOUR)
    bars(tab).focus()
    tab.press("End", "Shift+ArrowLeft")
    expect(bars(tab)).to_contain_text("requests")
    check_accessibility(tab.page)


def _refuse(tab: LogPage, code: str) -> None:
    total: dict[str, Any] = {
        "error": {"message": "It took too long.", "type": "api_error", "param": None, "code": code}
    }
    tab.page.route(_STATS, lambda route: route.fulfill(status=503, json=total))
