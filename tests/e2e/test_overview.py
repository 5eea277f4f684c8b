"""The overview: aggregates of requests with the log's filters. Selecting a series filters by it."""

import re
from typing import Any, Final

import pytest
from playwright.sync_api import Locator, expect
from tests.e2e.log_page import LogPage
from tests.e2e.world import Call, World
from tests.support.axe import check_accessibility
from tests.support.browser import needs_chromium

pytestmark = needs_chromium

_STATS: Final = re.compile(r"/api/stats(\?|$)")


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
    tab.open(path)
    expect(chart(tab, "Requests")).to_be_visible()
    return tab


def test_the_overview_shows_the_last_24_hours_and_says_so(tab: LogPage, log: list[str]) -> None:
    open_overview(tab)
    expect(tab.page.get_by_text("The last 24 hours, for no time is chosen.")).to_be_visible()
    expect(chart(tab, "Requests")).to_have_attribute("aria-label", re.compile(r"\. 5 · 1 failed\. "))
    for title in ("Duration", "First token", "Tokens", "Cost"):
        expect(chart(tab, title)).to_be_visible()
    tab.page.get_by_role("button", name="all time").click()
    tab.wait_for_query(("time", "all"))
    expect(chart(tab, "Requests")).to_be_visible()


def test_selecting_a_series_filters_the_overview_by_it(tab: LogPage, log: list[str]) -> None:
    open_overview(tab, "/overview?by=namespace")
    table(tab, "namespace").get_by_role("link", name="Filter by namespace production").click()
    tab.wait_for_path("/overview")
    tab.wait_for_query(("namespace", "production"), ("from", "-24h"), ("by", "namespace"))
    expect(tab.filter_bar).to_contain_text("namespace is production")
    expect(table(tab, "namespace").get_by_role("row")).to_have_count(2)
    expect(chart(tab, "Requests")).to_have_attribute("aria-label", re.compile(r"\. 3 · 1 failed\. "))
    tab.page.go_back()
    expect(table(tab, "namespace").get_by_role("row")).to_have_count(4)


def test_selecting_a_bar_of_a_chart_filters_by_its_group(tab: LogPage, log: list[str]) -> None:
    # One bar of a quarter of an hour, or two, with production at the bottom.
    open_overview(tab, "/overview?by=namespace&from=-15m")
    box = chart(tab, "Requests").bounding_box()
    assert box is not None
    over = chart(tab, "Requests").locator(".u-over")

    def pick() -> bool:
        """Find the bar at the bottom of the chart."""
        width = int(over.evaluate("(one) => one.clientWidth"))
        height = int(over.evaluate("(one) => one.clientHeight"))
        for x in range(width - 2, 2, -5):
            over.click(position={"x": x, "y": height - 3})
            if "namespace=production" in tab.page.url:
                return True
        return False

    assert pick()
    tab.wait_for_query(("namespace", "production"), ("from", "-15m"), ("by", "namespace"))


def test_dragging_over_a_chart_shows_only_that_time_range(tab: LogPage, log: list[str]) -> None:
    open_overview(tab, "/overview?by=model&from=-1h")
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


def test_hovering_a_chart_shows_its_values(tab: LogPage, log: list[str]) -> None:
    open_overview(tab, "/overview?by=model&from=-1h")
    box = chart(tab, "Requests").bounding_box()
    assert box is not None
    tab.page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 60)
    card = tab.page.locator("figure").first
    expect(card).to_contain_text(re.compile(r"\d\d:\d\d – .*\d\d:\d\d.*gpt-4o-mini0.*failed0"))


def test_requests_are_grouped_by_the_selected_field_or_property(tab: LogPage, log: list[str]) -> None:
    open_overview(tab)
    by = tab.page.get_by_role("combobox", name="Parted by")
    by.select_option("channel")
    tab.wait_for_query(("from", "-24h"), ("by", "property.channel"))
    rows = table(tab, "channel")
    expect(rows.get_by_role("link", name="Filter by channel iOS")).to_be_visible()
    expect(rows.get_by_role("row", name=re.compile("^no channel 2 "))).to_be_visible()
    rows.get_by_role("link", name="Filter by channel web").click(modifiers=["Shift"])
    tab.wait_for_query(("not.property.channel", "web"), ("from", "-24h"), ("by", "property.channel"))
    by.select_option("nothing")
    expect(rows).to_have_count(0)


def test_the_log_and_the_overview_have_the_same_filter(tab: LogPage, log: list[str]) -> None:
    open_overview(tab, "/overview?namespace=production&from=-1h&by=model")
    tab.page.get_by_role("link", name="open in the log").click()
    tab.wait_for_path("/requests")
    tab.wait_for_query(("namespace", "production"), ("from", "-1h"))
    tab.wait_for_rows(3)
    tab.page.get_by_role("navigation", name="Pages").get_by_role("link", name="Overview").click()
    tab.wait_for_path("/overview")
    tab.wait_for_query(("namespace", "production"), ("from", "-1h"))
    expect(chart(tab, "Requests")).to_have_attribute("aria-label", re.compile(r"\. 3 · 1 failed\. "))
    tab.filter_bar.get_by_role("button", name="Remove namespace is production").click()
    tab.wait_for_path("/overview")
    tab.wait_for_query(("from", "-1h"))


def test_the_namespace_bar_filters_the_overview_where_it_is_shown(tab: LogPage, log: list[str]) -> None:
    open_overview(tab, "/overview?by=model")
    tab.label("staging").click()
    tab.wait_for_path("/overview")
    tab.wait_for_query(("namespace", "staging"), ("from", "-24h"), ("by", "model"))
    tab.page.get_by_role("navigation", name="Namespaces").get_by_role("link", name=re.compile("All")).click()
    tab.wait_for_query(("from", "-24h"), ("by", "model"))


def test_the_menu_of_a_value_works_as_in_rows(tab: LogPage, log: list[str]) -> None:
    open_overview(tab, "/overview?by=namespace")
    table(tab, "namespace").get_by_role("link", name="Filter by namespace staging").focus()
    tab.press("m")
    tab.choose("not this one")
    tab.wait_for_path("/overview")
    tab.wait_for_query(("not.namespace", "staging"), ("from", "-24h"), ("by", "namespace"))


def test_an_empty_result_says_what_would_match(tab: LogPage, log: list[str]) -> None:
    tab.open("/overview?namespace=staging&model=gpt-5")
    main = tab.page.get_by_role("main")
    expect(main).to_contain_text("No request (last 24 hours) where namespace is staging and model is gpt-5.")
    expect(main).to_contain_text("1 request without the model.")
    check_accessibility(tab.page)
    main.get_by_role("button", name="remove model", exact=True).click()
    expect(chart(tab, "Requests")).to_be_visible()


def test_an_aggregation_that_is_too_large_says_so_with_a_solution(tab: LogPage, log: list[str]) -> None:
    tab.guard.expect("status of 503")
    error: dict[str, Any] = {
        "error": {"message": "It took too long.", "type": "api_error", "param": None, "code": "deadline"}
    }
    tab.page.route(_STATS, lambda route: route.fulfill(status=503, json=error))
    tab.open("/overview?time=all")
    alert = tab.page.get_by_role("main").get_by_role("alert")
    expect(alert).to_contain_text("Too much to add up: choose a shorter time.")
    check_accessibility(tab.page)
    tab.page.unroute(_STATS)
    alert.get_by_role("button", name="last hour").click()
    expect(chart(tab, "Requests")).to_be_visible()


def test_an_invalid_address_is_explained(tab: LogPage, log: list[str]) -> None:
    tab.guard.expect("status of 400")
    tab.open("/overview?by=size")
    alert = tab.page.get_by_role("main").get_by_role("alert")
    expect(alert).to_contain_text("This address cannot be read")
    alert.get_by_role("button", name="clear all").click()
    expect(chart(tab, "Requests")).to_be_visible()
