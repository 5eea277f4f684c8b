"""The overview shows aggregates of requests with the log's filters. Selecting a series filters by its value."""

import re
from typing import Any, Final

import pytest
from playwright.sync_api import Locator
from tests.e2e.conftest import OpenTab
from tests.e2e.log_page import LogPage
from tests.e2e.world import Call, World
from tests.support.axe import check_accessibility
from tests.support.browser import expect, needs_chromium

pytestmark = needs_chromium

#: The table of groups has a second header row for percentiles.
HEADER_ROWS: Final = 2
_STATS: Final = re.compile(r"/api/stats(\?|$)")
#: JavaScript that returns the number of blue pixels of a chart in the row that has the most.
_WIDTH_OF_BARS: Final = """
(canvas) => {
  const { width, height } = canvas;
  const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
  const blue = new Array(height).fill(0);
  for (let at = 0; at < data.length; at += 4) if (data[at + 2] > data[at] + 60) blue[Math.floor(at / 4 / width)] += 1;
  return Math.max(...blue);
}
"""


@pytest.fixture(scope="module")
def log(world: World) -> list[str]:
    calls = [
        Call(namespace="production", properties={"channel": "iOS"}),
        Call(namespace="production", properties={"channel": "web"}, directives={"Status": "429"}),
        Call(namespace="production", model="gpt-4o"),
        Call(namespace="staging", properties={"channel": "iOS"}),
        Call(namespace="user-8f3a41c9d2e7b6a5"),
    ]
    return world.log(*calls)


def table(tab: LogPage, field: str) -> Locator:
    return tab.page.get_by_role("table", name=f"Requests by {field}")


def chart(tab: LogPage, title: str) -> Locator:
    return tab.page.get_by_role("img", name=re.compile(f"^{title}, "))


def open_overview(tab: LogPage, path: str = "/overview") -> LogPage:
    tab.show(path)
    expect(chart(tab, "Requests")).to_be_visible()
    return tab


def test_the_overview_and_the_log_show_all_time_by_default(shared_tab: LogPage, log: list[str]) -> None:
    tab = open_overview(shared_tab)
    expect(tab.page.get_by_role("button", name="All time")).to_be_visible()
    expect(chart(tab, "Requests")).to_have_attribute("aria-label", re.compile(r"\. 5 · 1 failed\. "))
    for title in ("Duration", "First token", "Tokens", "Cost"):
        expect(chart(tab, title)).to_be_visible()
    tab.page.get_by_role("navigation", name="Pages").get_by_role("link", name="Requests").click()
    tab.wait_for_path("/requests")
    expect(tab.page.get_by_role("button", name="All time")).to_be_visible()
    assert tab.query == []


def test_the_charts_of_a_young_log_begin_with_its_first_request(shared_tab: LogPage, log: list[str]) -> None:
    tab = open_overview(shared_tab)
    label = chart(tab, "Requests").get_attribute("aria-label") or ""
    start, end = re.findall(r"(\d\d):(\d\d)", label)[:2]
    minutes = (int(end[0]) * 60 + int(end[1]) - int(start[0]) * 60 - int(start[1])) % (24 * 60)
    assert 1 <= minutes <= 15


def test_a_bar_is_as_wide_as_its_bucket(shared_tab: LogPage, log: list[str]) -> None:
    """All requests are in one or two of at most a few buckets."""
    tab = open_overview(shared_tab)
    assert chart(tab, "Requests").locator("canvas").evaluate(_WIDTH_OF_BARS) > 200


def test_the_time_range_menu_offers_today(shared_tab: LogPage, log: list[str]) -> None:
    tab = open_overview(shared_tab)
    tab.page.get_by_role("button", name="All time").click()
    tab.page.get_by_role("button", name="Today").click()
    tab.page.wait_for_url(lambda url: "from=2" in url, wait_until="commit")
    expect(tab.page.get_by_role("button", name=re.compile("^Today"), expanded=False)).to_be_visible()
    expect(chart(tab, "Requests")).to_be_visible()


def test_selecting_a_series_filters_the_overview_by_it(shared_tab: LogPage, log: list[str]) -> None:
    tab = open_overview(shared_tab, "/overview?by=namespace")
    table(tab, "namespace").get_by_role("link", name="Filter by namespace production").click()
    tab.wait_for_path("/overview")
    tab.wait_for_query(("namespace", "production"), ("by", "namespace"))
    expect(tab.filter_bar).to_contain_text("namespace is production")
    expect(table(tab, "namespace").get_by_role("row")).to_have_count(HEADER_ROWS + 1)
    expect(chart(tab, "Requests")).to_have_attribute("aria-label", re.compile(r"\. 3 · 1 failed\. "))
    tab.page.go_back()
    expect(table(tab, "namespace").get_by_role("row")).to_have_count(HEADER_ROWS + 3)


def test_clicking_a_bar_of_a_chart_opens_its_requests_in_the_log(shared_tab: LogPage, log: list[str]) -> None:
    # The chart has one or two bars of a quarter of an hour. Production is at the bottom of each bar.
    tab = open_overview(shared_tab, "/overview?by=namespace&from=-15m")
    box = chart(tab, "Requests").bounding_box()
    assert box is not None
    over = chart(tab, "Requests").locator(".u-over")

    def pick() -> bool:
        """Click along the bottom of the chart until the bar of production opens the log."""
        width = int(over.evaluate("(one) => one.clientWidth"))
        height = int(over.evaluate("(one) => one.clientHeight"))
        for x in range(width - 2, 2, -5):
            over.click(position={"x": x, "y": height - 3})
            if "/requests" not in tab.page.url:
                continue
            if "namespace=production" in tab.page.url:
                return True
            tab.page.go_back()
            expect(chart(tab, "Requests")).to_be_visible()
        return False

    assert pick()
    tab.wait_for_path("/requests")
    assert [name for name, _ in tab.query] == ["namespace", "from", "to"]
    assert dict(tab.query)["namespace"] == "production"
    tab.wait_for_rows(3)


def test_dragging_over_a_chart_shows_only_that_time_range(shared_tab: LogPage, log: list[str]) -> None:
    tab = open_overview(shared_tab, "/overview?by=model&from=-1h")
    box = chart(tab, "Duration").bounding_box()
    assert box is not None
    y = box["y"] + 60
    tab.page.mouse.move(box["x"] + 0.5 * box["width"], y)
    tab.page.mouse.down()
    tab.page.mouse.move(box["x"] + 0.7 * box["width"], y)
    tab.page.mouse.move(box["x"] + 0.9 * box["width"], y)
    tab.page.mouse.up()
    tab.page.wait_for_url(lambda url: "from=2" in url and "to=2" in url, wait_until="commit")
    time = dict(tab.query)
    assert (time["by"], time["from"] < time["to"]) == ("model", True)


def test_hovering_a_chart_shows_its_values(shared_tab: LogPage, log: list[str]) -> None:
    tab = open_overview(shared_tab, "/overview?by=model&from=-1h")
    box = chart(tab, "Requests").bounding_box()
    assert box is not None
    tab.page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 60)
    card = tab.page.locator("figure").first
    expect(card).to_contain_text(re.compile(r"\d\d:\d\d – .*\d\d:\d\d.*gpt-4o-mini0.*failed0"))


def test_requests_are_grouped_by_the_selected_field_or_property(tab: LogPage, log: list[str]) -> None:
    open_overview(tab)
    by = tab.page.get_by_role("combobox", name="Group by:")
    by.select_option("channel")
    tab.wait_for_query(("by", "property.channel"))
    rows = table(tab, "channel")
    expect(rows.get_by_role("link", name="Filter by channel iOS")).to_be_visible()
    expect(rows.get_by_role("row", name=re.compile("^no channel 2 "))).to_be_visible()
    rows.get_by_role("link", name="Filter by channel web").click(modifiers=["Shift"])
    tab.wait_for_query(("not.property.channel", "web"), ("by", "property.channel"))
    by.select_option("none")
    expect(rows).to_have_count(0)


def test_the_log_and_the_overview_have_the_same_filter(shared_tab: LogPage, log: list[str]) -> None:
    tab = open_overview(shared_tab, "/overview?namespace=production&from=-1h&by=model")
    tab.page.get_by_role("link", name="Show requests").click()
    tab.wait_for_path("/requests")
    tab.wait_for_query(("namespace", "production"), ("from", "-1h"))
    tab.wait_for_rows(3)
    tab.page.get_by_role("navigation", name="Pages").get_by_role("link", name="Overview").click()
    tab.wait_for_path("/overview")
    tab.wait_for_query(("namespace", "production"), ("by", "namespace"), ("from", "-1h"))
    expect(chart(tab, "Requests")).to_have_attribute("aria-label", re.compile(r"\. 3 · 1 failed\. "))
    tab.filter_bar.get_by_role("button", name="Remove namespace is production").click()
    tab.wait_for_path("/overview")
    tab.wait_for_query(("from", "-1h"), ("by", "namespace"))


def test_the_namespace_bar_filters_the_overview_where_it_is_shown(shared_tab: LogPage, log: list[str]) -> None:
    tab = open_overview(shared_tab, "/overview?by=model")
    tab.label("staging").click()
    tab.wait_for_path("/overview")
    tab.wait_for_query(("namespace", "staging"), ("by", "model"))
    tab.page.get_by_role("navigation", name="Namespaces").get_by_role("link", name=re.compile("All")).click()
    tab.wait_for_query(("by", "model"))


def test_the_menu_of_a_value_works_as_in_rows(shared_tab: LogPage, log: list[str]) -> None:
    tab = open_overview(shared_tab, "/overview?by=namespace")
    table(tab, "namespace").get_by_role("link", name="Filter by namespace staging").focus()
    tab.press("m")
    tab.choose("Exclude")
    tab.wait_for_path("/overview")
    tab.wait_for_query(("not.namespace", "staging"), ("by", "namespace"))


def test_an_empty_result_has_a_button_that_removes_a_value_of_the_filter(shared_tab: LogPage, log: list[str]) -> None:
    tab = shared_tab.show("/overview?namespace=staging&model=gpt-5&from=-24h")
    main = tab.page.get_by_role("main")
    expect(main).to_contain_text("No requests (last 24 hours) where namespace is staging and model is gpt-5.")
    expect(main).to_contain_text("Without “model is gpt-5”: 1 request.")
    check_accessibility(tab.page)
    main.get_by_role("button", name="Remove “model is gpt-5”", exact=True).click()
    expect(chart(tab, "Requests")).to_be_visible()


def test_an_aggregation_that_is_too_large_shows_a_message_with_a_solution(tab: LogPage, log: list[str]) -> None:
    tab.guard.expect("status of 503")
    error: dict[str, Any] = {
        "error": {"message": "It took too long.", "type": "api_error", "param": None, "code": "deadline"}
    }
    tab.page.route(_STATS, lambda route: route.fulfill(status=503, json=error))
    tab.show("/overview")
    alert = tab.page.get_by_role("main").get_by_role("alert")
    expect(alert).to_contain_text("Too many requests to aggregate. Select a shorter time range.")
    check_accessibility(tab.page)
    tab.page.unroute(_STATS)
    alert.get_by_role("button", name="Last hour").click()
    expect(chart(tab, "Requests")).to_be_visible()


def test_an_invalid_address_is_explained(tab: LogPage, log: list[str]) -> None:
    tab.guard.expect("status of 400")
    tab.show("/overview?by=size")
    alert = tab.page.get_by_role("main").get_by_role("alert")
    expect(alert).to_contain_text("Invalid address")
    alert.get_by_role("button", name="Clear all").click()
    expect(chart(tab, "Requests")).to_be_visible()


def test_links_open_the_most_expensive_and_the_slowest_requests_of_the_filter(tab: LogPage, log: list[str]) -> None:
    open_overview(tab, "/overview?namespace=production&by=model")
    links = tab.page.get_by_role("navigation", name="Show requests")
    sorts = {"Most expensive": "cost_usd", "Slowest": "duration_ms", "Longest time to first token": "first_token_ms"}
    for name, sort in sorts.items():
        link = links.get_by_role("link", name=name, exact=True)
        expect(link).to_have_attribute("href", f"/requests?namespace=production&sort={sort}")


def test_new_requests_are_drawn_on_the_same_canvas(open_tab: OpenTab, world: World, log: list[str]) -> None:
    tab = open_tab(world.dashboard).set_clock()
    open_overview(tab)
    canvas = chart(tab, "Requests").locator("canvas")
    canvas.evaluate("(canvas) => canvas.setAttribute('data-first', '')")
    world.log(Call(namespace="production"))
    tab.skip(seconds=11)
    expect(chart(tab, "Requests")).to_have_attribute("aria-label", re.compile(r"\. 6 · 1 failed\. "))
    expect(canvas).to_have_attribute("data-first", "")
