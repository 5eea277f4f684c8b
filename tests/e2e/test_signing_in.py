"""Signing in to the dashboard with its token."""

import os
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator

import pytest
from tests.e2e.conftest import OpenTab
from tests.e2e.log_page import LogPage
from tests.e2e.world import Call, World, world_in
from tests.support.axe import check_accessibility
from tests.support.browser import expect, needs_chromium
from tests.support.server import wait_until

pytestmark = needs_chromium

TOKEN = "correct-horse-battery-staple"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    directory = tmp_path_factory.mktemp("token")
    with world_in(directory, env={**os.environ, "RELAYBOOK_DASHBOARD_TOKEN": TOKEN}) as started:
        yield started


@pytest.fixture(scope="module")
def log(world: World) -> list[str]:
    return [world.send(Call(namespace=each)) for each in ("staging", "production")]


def tab_of(open_tab: OpenTab, world: World) -> LogPage:
    tab = open_tab(world.dashboard)
    tab.guard.expect("status of 401")
    return tab


def sign_in(tab: LogPage, token: str) -> None:
    tab.page.get_by_label("Dashboard token").fill(token)
    tab.page.get_by_role("button", name="Sign in").click()


def test_without_the_token_there_is_only_the_form_and_no_log(open_tab: OpenTab, world: World, log: list[str]) -> None:
    tab = tab_of(open_tab, world).open("/requests?namespace=staging")
    expect(tab.page.get_by_label("Dashboard token")).to_be_focused()
    assert "staging" not in tab.page.content()
    for path in ("requests", "status", "namespaces", "live", f"requests/{log[0]}", f"requests/{log[0]}/response"):
        assert tab.state("(path) => fetch('/api/' + path).then((answer) => answer.status)", path) == 401, path
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(f"{world.dashboard}/api/{path}", timeout=10)


def test_a_wrong_token_is_explained(open_tab: OpenTab, world: World, log: list[str]) -> None:
    tab = tab_of(open_tab, world).open("/requests")
    sign_in(tab, "wrong")
    expect(tab.page.get_by_role("alert")).to_contain_text("Wrong token.")
    expect(tab.page.get_by_label("Dashboard token")).to_be_focused()
    sign_in(tab, TOKEN)
    expect(tab.row(log[0])).to_be_visible()


def test_the_right_token_opens_the_requested_address_and_is_remembered(
    open_tab: OpenTab, world: World, log: list[str]
) -> None:
    wanted = f"/requests/{log[0]}?namespace=staging"
    tab = tab_of(open_tab, world).open(wanted)
    sign_in(tab, TOKEN)
    expect(tab.drawer).to_contain_text("Where is my refund?")
    assert tab.page.url == world.dashboard + wanted
    expect(tab.rows).to_have_count(1)
    tab.page.reload()
    expect(tab.drawer).to_contain_text("Where is my refund?")
    other = tab.new_tab().open("/requests")
    expect(other.row(log[1])).to_be_visible()


def test_new_requests_appear_automatically_after_signing_in(open_tab: OpenTab, world: World, log: list[str]) -> None:
    tab = tab_of(open_tab, world).open("/requests")
    sign_in(tab, TOKEN)
    expect(tab.row(log[0])).to_be_visible()
    tab.point_nowhere()
    expect(tab.row(world.send(Call(text="a new one")))).to_contain_text("a new one")


def test_an_open_page_whose_session_has_ended_asks_for_the_token(
    open_tab: OpenTab, world: World, log: list[str]
) -> None:
    tab = tab_of(open_tab, world).open("/requests?namespace=staging")
    sign_in(tab, TOKEN)
    expect(tab.row(log[0])).to_be_visible()
    tab.page.context.clear_cookies()
    expect(tab.page.get_by_label("Dashboard token")).to_be_visible()
    assert tab.query == [("namespace", "staging")]
    sign_in(tab, TOKEN)
    wait_until(lambda: tab.rows.count() == 1, what="the log again")


def sign_out_in_the_status_dialog(tab: LogPage) -> None:
    tab.page.get_by_role("button", name="logging").click()
    dialog = tab.page.get_by_role("dialog", name="Status of Relaybook")
    expect(dialog.get_by_text("This browser is signed in.")).to_be_in_viewport()
    check_accessibility(tab.page)
    dialog.get_by_role("button", name="Sign out").click()


def sign_out_with_the_palette(tab: LogPage) -> None:
    tab.press("Control+k")
    tab.page.get_by_role("combobox", name="Go to").fill("sign out")
    expect(tab.page.get_by_role("option", name="Sign out", exact=True)).to_have_attribute("aria-selected", "true")
    check_accessibility(tab.page)
    tab.press("Enter")


@pytest.mark.parametrize("sign_out", [sign_out_in_the_status_dialog, sign_out_with_the_palette])
def test_signing_out_shows_the_form_in_all_tabs_until_the_token_is_sent_again(
    open_tab: OpenTab, world: World, log: list[str], sign_out: Callable[[LogPage], None]
) -> None:
    tab = tab_of(open_tab, world).open("/requests?namespace=staging")
    sign_in(tab, TOKEN)
    expect(tab.row(log[0])).to_be_visible()
    other = tab.new_tab().open(f"/requests/{log[1]}")
    expect(other.drawer).to_be_visible()
    tab.page.bring_to_front()
    sign_out(tab)
    for each in (tab, other):
        expect(each.page.get_by_label("Dashboard token")).to_be_visible()
    assert tab.page.context.cookies() == []
    assert tab.query == [("namespace", "staging")]
    tab.page.reload()
    expect(tab.page.get_by_label("Dashboard token")).to_be_visible()
    sign_in(tab, TOKEN)
    expect(tab.row(log[0])).to_be_visible()


def test_a_page_that_got_access_by_a_header_has_nothing_to_sign_out_from(
    open_tab: OpenTab, world: World, log: list[str]
) -> None:
    tab = open_tab(world.dashboard, extra_http_headers={"Authorization": f"Bearer {TOKEN}"}).open_log()
    tab.page.get_by_role("button", name="logging").click()
    dialog = tab.page.get_by_role("dialog", name="Status of Relaybook")
    expect(dialog.get_by_role("table", name="Settings")).to_be_visible()
    expect(dialog.get_by_role("button", name="Sign out")).to_have_count(0)


def test_if_a_proxy_redirects_api_calls_to_its_sign_in_page_the_page_reloads(
    open_tab: OpenTab, world: World, log: list[str]
) -> None:
    tab = tab_of(open_tab, world).open("/requests")
    sign_in(tab, TOKEN)
    expect(tab.row(log[0])).to_be_visible()
    redirect = {"location": "/sign-in?of=the-proxy"}
    with tab.page.expect_event("load"):
        tab.page.route("**/api/status", lambda route: route.fulfill(status=302, headers=redirect), times=1)
    expect(tab.row(log[0])).to_be_visible()
