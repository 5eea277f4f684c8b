"""Requests are deleted on the page, and disappear from it."""

from tests.e2e.log_page import LogPage
from tests.e2e.world import Call, World
from tests.support.axe import check_accessibility
from tests.support.browser import expect, needs_chromium

pytestmark = needs_chromium


def test_the_requests_of_a_filtered_log_are_deleted_and_disappear(tab: LogPage, world: World) -> None:
    world.log(*(Call(namespace=name) for name in ("gone", "kept", "gone", "kept", "gone")))
    tab.open_log("/requests?namespace=gone")
    tab.wait_for_rows(3)
    tab.filter_bar.get_by_role("button", name="Delete these requests…").click()
    dialog = tab.page.get_by_role("dialog", name="Delete these 3 requests")
    expect(dialog).to_contain_text("A deletion cannot be undone")
    check_accessibility(tab.page)
    dialog.get_by_role("button", name="Delete 3 requests").click()
    expect(dialog).to_be_hidden()
    expect(tab.page.get_by_text("No request where namespace is gone")).to_be_visible()
    assert {row["namespace"] for row in world.server.records()} == {"kept"}
    tab.open_log("/requests?namespace=kept")
    tab.wait_for_rows(2)
    tab.page.get_by_role("contentinfo").get_by_role("button").click()
    status = tab.page.get_by_role("dialog", name="Status of Relaybook")
    expect(status.get_by_role("heading", name="Retention")).to_be_visible()
    expect(status).to_contain_text("3 requests deleted by 127.0.0.1")


def test_the_link_to_failed_requests_does_not_move_when_a_filter_is_chosen(tab: LogPage, world: World) -> None:
    (failed,) = world.log(Call(namespace="stays", model="gpt-4o", directives={"Status": "500"}))
    tab.open_log()
    link = tab.filter_bar.get_by_role("link", name="1 failed")
    expect(link).to_be_visible()
    before = link.bounding_box()
    tab.chip(failed, "model gpt-4o").click()
    expect(tab.filter_bar.get_by_role("button", name="Delete these requests…")).to_be_visible()
    expect(tab.filter_bar).to_contain_text("1 request · 1 failed")
    assert link.bounding_box() == before


def test_an_open_request_is_deleted(tab: LogPage, world: World) -> None:
    one, other = world.log(Call(namespace="pair"), Call(namespace="pair"))
    tab.open_log("/requests?namespace=pair")
    tab.row(one).click()
    tab.drawer.get_by_role("button", name="Delete this request…").click()
    dialog = tab.page.get_by_role("dialog", name="Delete this request")
    dialog.get_by_role("button", name="Delete", exact=True).click()
    expect(dialog).to_be_hidden()
    expect(tab.drawer).to_be_hidden()
    tab.wait_for_rows(1)
    assert tab.ids() == [other]
