"""Empty, unreachable and outdated states of the page."""

import json
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Route
from tests.e2e.conftest import OpenTab
from tests.e2e.log_page import LogPage
from tests.e2e.world import Call, World, world_in
from tests.support.browser import expect, needs_chromium

pytestmark = needs_chromium

#: Chromium's messages about requests without a response.
UNANSWERED = r"Failed to load resource: (net::ERR_|the server responded with a status of 50)"


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[World]:
    with world_in(tmp_path) as started:
        yield started


@pytest.fixture(scope="module")
def log(world: World) -> list[str]:
    calls = [Call(namespace=each) for each in ("production", "staging", "staging", "production", "web")]
    return world.log(*calls)[::-1]


def test_an_empty_log_shows_the_base_url_and_then_the_first_row(empty: World, open_tab: OpenTab) -> None:
    tab = open_tab(empty.dashboard).open("/requests")
    main = tab.page.get_by_role("main")
    expect(main).to_contain_text("No requests yet. Send one to this base URL:")
    expect(main).to_contain_text(empty.server.base_url)
    expect(main).to_contain_text(f"export OPENAI_BASE_URL={empty.server.base_url}")
    expect(main).to_contain_text("Listening…")
    sent = empty.send(Call(namespace="production", text="The very first"))
    expect(tab.row(sent)).to_contain_text("The very first")
    expect(main).not_to_contain_text("No requests yet")


def test_the_connect_page_shows_that_requests_arrive(empty: World, open_tab: OpenTab) -> None:
    tab = open_tab(empty.dashboard).open("/connect")
    main = tab.page.get_by_role("main")
    expect(main).to_contain_text("No requests yet")
    empty.send(Call())
    expect(main).to_contain_text("Requests are arriving")
    main.get_by_role("link", name="Show requests").click()
    expect(tab.rows).to_have_count(1)


def test_an_empty_result_has_buttons_that_remove_values_of_the_filter(tab: LogPage, log: list[str]) -> None:
    tab.open("/requests?namespace=staging&model=gpt-5")
    main = tab.page.get_by_role("main")
    expect(main).to_contain_text("No requests where namespace is staging and model is gpt-5.")
    expect(main).to_contain_text("Without “model is gpt-5”: 2 requests.")
    main.get_by_role("button", name="Remove filter: model is gpt-5").filter(has_text="Remove").click()
    tab.wait_for_query(("namespace", "staging"))
    tab.wait_for_rows(2)
    tab.page.go_back()
    expect(main).to_contain_text("No requests where namespace is staging and model is gpt-5.")
    main.get_by_role("button", name="Clear all").last.click()
    tab.wait_for_query()
    tab.wait_for_rows(len(log))


def test_an_invalid_filter_is_named(tab: LogPage, log: list[str]) -> None:
    tab.guard.expect("status of 400")
    tab.open("/requests?nmespace=staging")
    alert = tab.page.get_by_role("main").get_by_role("alert")
    expect(alert).to_contain_text("'nmespace' is not a known parameter.")
    expect(alert).to_contain_text("nmespace")
    alert.get_by_role("button", name="Clear all").click()
    tab.wait_for_rows(len(log))


def test_an_unreadable_log_shows_an_error_and_can_be_retried(tab: LogPage, log: list[str]) -> None:
    tab.guard.expect(UNANSWERED)
    error = {
        "error": {"message": "The disk is on fire.", "type": "api_error", "param": None, "code": "store_unavailable"}
    }
    requests = re.compile(r"/api/requests\?")
    tab.page.route(requests, lambda route: route.fulfill(status=503, json=error))
    tab.open()
    alert = tab.page.get_by_role("main").get_by_role("alert")
    expect(alert).to_contain_text("The log could not be read: The disk is on fire.")
    expect(alert).to_contain_text("Requests are still being logged.")
    expect(tab.page.get_by_role("button", name=re.compile("^not live"))).to_be_visible()
    tab.page.unroute(requests)
    alert.get_by_role("button", name="Retry").click()
    tab.wait_for_rows(len(log))
    expect(tab.page.get_by_role("button", name=re.compile("^live"))).to_be_visible()


def test_the_open_page_recovers_after_the_dashboard_was_killed(empty: World, open_tab: OpenTab) -> None:
    [first] = empty.log(Call(text="before"))
    tab = open_tab(empty.dashboard).open_log()
    tab.guard.expect(UNANSWERED)
    tab.point_nowhere()
    os.kill(empty.server.pid_of("dashboard"), signal.SIGKILL)
    second = empty.send(Call(text="while it was dead"))
    expect(tab.row(second)).to_be_visible(timeout=30_000)
    expect(tab.row(first)).to_be_visible()
    expect(tab.page.get_by_role("button", name=re.compile("^logging"))).to_be_visible()


def test_a_dashboard_that_does_not_respond_is_reported_until_it_does(empty: World, open_tab: OpenTab) -> None:
    empty.log(Call(text="before"))
    tab = open_tab(empty.dashboard).open_log()
    expect(tab.page.get_by_role("button", name=re.compile("^logging"))).to_be_visible()  # the first status has arrived
    tab.guard.expect(UNANSWERED)
    tab.point_nowhere()
    dashboard = empty.server.pid_of("dashboard")
    os.kill(dashboard, signal.SIGSTOP)
    footer = tab.page.locator("footer")
    try:
        second = empty.send(Call(text="while it slept"))
        expect(footer).to_contain_text("Connection lost", timeout=30_000)
        expect(tab.page.get_by_role("button", name="disconnected l")).to_be_visible()
        expect(tab.rows).to_have_count(1)
    finally:
        os.kill(dashboard, signal.SIGCONT)
    expect(footer).not_to_contain_text("Connection lost")
    expect(tab.page.get_by_role("button", name=re.compile("^live"))).to_be_visible()
    expect(tab.row(second)).to_be_visible()


def test_an_outdated_page_reports_a_newer_version(tab: LogPage, log: list[str]) -> None:
    tab.open_log()
    notice = tab.page.get_by_text("Relaybook was updated.")
    expect(notice).to_have_count(0)

    def newer(route: Route) -> None:
        response = route.fetch()
        route.fulfill(response=response, body=json.dumps(response.json() | {"page_build": "0123456789abcdef"}))

    tab.page.route("**/api/status", newer)
    expect(notice).to_be_visible()
    tab.page.unroute("**/api/status")
    with tab.page.expect_navigation():
        tab.page.get_by_role("button", name="Reload").click()
    expect(tab.row(log[0])).to_be_visible()
    expect(notice).to_have_count(0)


def test_an_unknown_address_links_to_the_log(tab: LogPage, log: list[str]) -> None:
    tab.open("/nowhere")
    expect(tab.page.get_by_role("main")).to_contain_text("There is no page at /nowhere")
    tab.page.get_by_role("link", name="Show requests").click()
    tab.wait_for_rows(len(log))


def test_the_window_has_the_name_of_the_page_or_of_the_namespace(tab: LogPage, log: list[str]) -> None:
    tab.open_log()
    expect(tab.page).to_have_title("Requests · Relaybook")
    tab.page.get_by_role("link", name="Overview").click()
    expect(tab.page).to_have_title("Overview · Relaybook")
    tab.open_log("/requests?namespace=staging")
    expect(tab.page).to_have_title("staging · Relaybook")
    tab.open(f"/compare/{log[0]}/{log[1]}")
    expect(tab.page).to_have_title("Compare · Relaybook")
