"""The command palette opens by a key anywhere, and finds pages, namespaces, requests and texts."""

from typing import Final

import pytest
from playwright.sync_api import Locator, Route
from tests.e2e.conftest import OpenTab
from tests.e2e.log_page import LogPage
from tests.e2e.world import Call, World
from tests.support.axe import check_accessibility
from tests.support.browser import expect, needs_chromium
from tests.support.server import wait_until

pytestmark = needs_chromium

CLIENT_ID: Final = "job-20261124-7781"


@pytest.fixture(scope="module")
def log(world: World) -> list[str]:
    """Return the ids of four requests. The second request also has an id from its client."""
    return world.log(
        Call(namespace="production", text="Where is my refund?"),
        Call(namespace="staging", headers={"X-Client-Request-Id": CLIENT_ID}),
        Call(namespace="user-8f3a41c9d2e7"),
        Call(namespace="production", text="An axolotl, please."),
    )


def palette(tab: LogPage) -> Locator:
    """Open the palette and return its text field."""
    tab.press("Control+k")
    field = tab.page.get_by_role("combobox", name="Go to")
    expect(field).to_be_focused()
    return field


def test_a_namespace_is_found_by_typing(shared_tab: LogPage, log: list[str]) -> None:
    tab = shared_tab.show_log()
    palette(tab).fill("user-8")
    option = tab.page.get_by_role("option", name="user-8f3a41c9d2e7")
    expect(option).to_have_attribute("aria-selected", "true")
    tab.press("Enter")
    tab.wait_for_query(("namespace", "user-8f3a41c9d2e7"))
    tab.wait_for_rows(1)


def test_a_request_is_found_by_the_id_of_its_client(tab: LogPage, log: list[str]) -> None:
    tab.open("/connect")
    expect(tab.page.get_by_role("button", name="Command palette")).to_be_visible()
    palette(tab).fill(CLIENT_ID)
    expect(tab.page.get_by_role("option", name=f"Open request {CLIENT_ID}")).to_be_visible()
    tab.press("Enter")
    tab.wait_for_path(f"/requests/{CLIENT_ID}")
    expect(tab.drawer.locator(f'[data-request="{log[1]}"]')).to_be_focused()


def test_an_id_is_not_read_while_it_is_typed(tab: LogPage, log: list[str]) -> None:
    tab.open_log()
    read: list[str] = []
    tab.page.on("request", lambda request: read.append(request.url))
    field = palette(tab)
    with tab.page.expect_request(lambda request: "contains=job" in request.url):
        field.fill("job-99999999")
    option = tab.page.get_by_role("option", name="Open request job-99999999")
    expect(option).to_be_visible()
    assert [url for url in read if "/api/requests/" in url] == []
    tab.guard.expect("status of 404")
    option.click()
    expect(tab.drawer).to_contain_text("No request in this log has the id 'job-99999999'")


def test_the_focus_moves_to_the_content_of_the_page_that_is_opened(shared_tab: LogPage, log: list[str]) -> None:
    tab = shared_tab.show_log()
    palette(tab).fill("overv")
    tab.press("Enter")
    tab.wait_for_path("/overview")
    expect(tab.page.locator("#content")).to_be_focused()
    expect(tab.page.locator("#content").get_by_role("main")).to_contain_text("Overview")


def test_a_page_opens_in_a_new_tab_by_a_middle_click(tab: LogPage, log: list[str]) -> None:
    tab.open_log()
    tab.page.get_by_role("button", name="Command palette").click()
    option = tab.page.get_by_role("option", name="Properties")
    expect(tab.page.get_by_role("option", name="production")).to_be_visible()
    check_accessibility(tab.page)
    with tab.page.context.expect_page() as opened:
        option.click(button="middle")
    opened.value.wait_for_url("**/namespaces?tab=properties")


def test_it_opens_from_a_text_field_and_escape_returns_the_focus(shared_tab: LogPage, log: list[str]) -> None:
    tab = shared_tab.show_log()
    box = tab.page.get_by_role("combobox", name="Filter the log")
    box.focus()
    palette(tab)
    tab.press("Escape")
    expect(tab.page.get_by_role("dialog", name="Command palette")).to_have_count(0)
    expect(box).to_be_focused()


def test_a_text_is_searched_in_the_whole_log(shared_tab: LogPage, world: World, log: list[str]) -> None:
    wait_until(lambda: world.count("words=axolotl") == 1, what="the text in the index")
    tab = shared_tab.show_log("/requests?namespace=staging")
    palette(tab).fill("axolotl")
    tab.press("Enter")
    tab.wait_for_query(("said_here", "axolotl"))
    tab.wait_for_rows(1)


def test_letters_typed_while_the_palette_is_loading_are_in_its_field(tab: LogPage, log: list[str]) -> None:
    held: list[Route] = []
    tab.page.route("**/palette-dialog*.js", lambda route: held.append(route))
    tab.open_log()
    tab.press("Control+k", "1", "j", "Backspace")
    expect(tab.page.get_by_role("dialog", name="Command palette")).to_have_attribute("aria-busy", "true")
    wait_until(lambda: bool(held), what="loading the palette")
    for route in held:
        route.continue_()
    expect(tab.page.get_by_role("dialog", name="Command palette")).not_to_have_attribute("aria-busy", "true")
    expect(tab.page.get_by_role("combobox", name="Go to")).to_be_focused()
    tab.press("2")
    expect(tab.page.get_by_role("combobox", name="Go to")).to_have_value("12")
    assert tab.query == []
    assert tab.selected() is None


def test_letters_typed_at_once_are_in_the_field_of_the_palette(tab: LogPage, log: list[str]) -> None:
    with tab.page.expect_response("**/palette-dialog*.js") as loaded:
        tab.open_log()
    loaded.value.finished()
    tab.press("Control+k", *"staging")
    expect(tab.page.get_by_role("combobox", name="Go to")).to_have_value("staging")


@pytest.mark.parametrize("width", [1440, 800])
def test_following_a_result_to_another_request_moves_the_focus_to_it(
    open_tab: OpenTab, world: World, log: list[str], width: int
) -> None:
    tab = open_tab(world.dashboard, viewport={"width": width, "height": 900})
    tab.open_request(log[0])
    palette(tab).fill(log[2])
    expect(tab.page.get_by_role("option", name=f"Open request {log[2]}")).to_be_visible()
    tab.press("Enter")
    request = tab.drawer.locator(f'[data-request="{log[2]}"]')
    expect(request).to_be_focused()
    palette(tab)
    tab.press("Escape")
    expect(request).to_be_focused()
    palette(tab).fill("Over")
    tab.press("Enter")
    tab.wait_for_path("/overview")
    expect(tab.page.locator("#content")).to_be_focused()
