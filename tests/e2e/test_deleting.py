"""Requests are deleted on the page, and disappear from it."""

import re

from tests.e2e.log_page import LogPage
from tests.e2e.world import Call, World
from tests.support.axe import check_accessibility
from tests.support.browser import expect, needs_chromium
from tests.support.server import wait_until

pytestmark = needs_chromium


def test_the_requests_of_a_filtered_log_are_deleted_and_disappear(tab: LogPage, world: World) -> None:
    world.log(*(Call(namespace=name) for name in ("gone", "kept", "gone", "kept", "gone")))
    tab.open_log("/requests?namespace=gone")
    tab.wait_for_rows(3)
    tab.filter_bar.get_by_role("button", name="More actions").click()
    tab.page.get_by_role("button", name="Delete these requests…").click()
    dialog = tab.page.get_by_role("dialog", name="Delete these 3 requests")
    expect(dialog).to_contain_text("A deletion cannot be undone")
    check_accessibility(tab.page)
    dialog.get_by_role("button", name="Delete 3 requests").click()
    expect(dialog).to_be_hidden()
    expect(tab.page.get_by_text("No requests in the namespace gone")).to_be_visible()
    assert {row["namespace"] for row in world.server.records()} == {"kept"}
    tab.open_log("/requests?namespace=kept")
    tab.wait_for_rows(2)
    tab.page.get_by_role("contentinfo").get_by_role("button").click()
    status = tab.page.get_by_role("dialog", name="Status of Relaybook")
    expect(status.get_by_role("heading", name="Retention")).to_be_visible()
    expect(status).to_contain_text("3 requests deleted by 127.0.0.1")


def test_the_line_of_a_deletion_stays_after_a_reload(tab: LogPage, world: World) -> None:
    world.log(Call(namespace="reloaded-1"), Call(namespace="reloaded-2"), Call(namespace="reloaded-2"))
    tab.open_log("/requests?namespace=reloaded-2")
    tab.wait_for_rows(2)
    tab.filter_bar.get_by_role("button", name="More actions").click()
    tab.page.get_by_role("button", name="Delete these requests…").click()
    tab.page.get_by_role("dialog").get_by_role("button", name="Delete 2 requests").click()
    link = tab.page.get_by_role("link", name="Receipt", exact=True)
    expect(link).to_be_visible()
    expect(tab.page.get_by_text("No requests in the namespace reloaded-2")).to_be_visible()
    tab.page.reload()
    expect(link).to_be_visible()
    expect(tab.page.get_by_text(re.compile("^2 requests of namespace reloaded-2 deleted"))).to_be_visible()
    expect(tab.page.get_by_text("No requests in the namespace reloaded-2")).to_be_visible()
    expect(tab.page.get_by_text("Did you mean")).to_have_count(0)
    tab.page.get_by_role("button", name="Dismiss the deletion").click()
    expect(link).to_have_count(0)
    tab.page.reload()
    expect(tab.page.get_by_text("Did you mean")).to_be_visible()
    expect(link).to_have_count(0)


def test_the_link_to_failed_requests_does_not_move_when_a_filter_is_chosen(tab: LogPage, world: World) -> None:
    (failed,) = world.log(Call(namespace="stays", model="gpt-4o", directives={"Status": "500"}))
    tab.open_log()
    link = tab.filter_bar.get_by_role("link", name="1 failed")
    expect(link).to_be_visible()
    before = link.bounding_box()
    tab.chip(failed, "model gpt-4o").click()
    expect(tab.filter_bar.get_by_role("button", name="Clear all")).to_be_visible()
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


def test_a_deletion_moves_no_rows_of_a_reader_who_has_scrolled(tab: LogPage, world: World) -> None:
    namespace = "read-while-deleting"
    ids = world.log_many(Call(namespace=namespace) for _ in range(260))
    tab.open_log(f"/requests?namespace={namespace}")
    table = tab.page.get_by_role("table")
    tab.page.evaluate("document.querySelector('[data-log]').scrollTop = 30")
    expect(table).to_have_attribute("aria-rowcount", "261")
    tab.page.evaluate("document.querySelector('[data-log]').scrollTop = 200 * 30 + 11")
    wait_until(lambda: any(tab.row(row).count() for row in ids[40:80]), what="the rows at the new position")
    newest = tab.page.evaluate(
        "(url) => fetch(url).then((page) => page.json())", f"/api/requests?namespace={namespace}"
    )
    seen = [row for row in ids if tab.row(row).count() == 1 and 0 < tab.top_of(row) < 300]
    before = {row: tab.top_of(row) for row in seen}
    assert before
    delete = "(url) => fetch(url, { method: 'DELETE' }).then((answer) => answer.status)"
    assert tab.page.evaluate(delete, f"/api/requests/{newest['data'][3]['id']}") == 202
    expect(table).not_to_have_attribute("aria-rowcount", "261")
    expect(table).to_have_attribute("aria-busy", "false")
    wait_until(lambda: all(tab.row(row).count() for row in seen), what="the rows that were visible")
    wait_until(lambda: {row: tab.top_of(row) for row in seen} == before, what="the rows at their positions")


def test_the_receipt_link_stays_in_place_and_the_list_of_deletions_fits(tab: LogPage, world: World) -> None:
    world.log(*(Call(namespace="receipt-link") for _ in range(2)))
    tab.open_log("/requests?namespace=receipt-link")
    tab.wait_for_rows(2)
    tab.filter_bar.get_by_role("button", name="More actions").click()
    tab.page.get_by_role("button", name="Delete these requests…").click()
    tab.page.get_by_role("dialog").get_by_role("button", name="Delete 2 requests").click()
    link = tab.page.get_by_role("link", name="Receipt", exact=True)
    expect(link).to_be_visible()
    before = link.bounding_box()
    expect(tab.page.get_by_text(re.compile("2 requests .* erased from the disk"))).to_be_visible()
    assert link.bounding_box() == before
    world.log(Call(namespace="receipt-link"))
    link.click()
    sentence = tab.page.get_by_text("1 request matches the filter, checked")
    number = sentence.get_by_role("link")
    expect(number).to_have_css("text-decoration-line", "underline")
    # The link stands on the baseline of its sentence.
    middle = "(e) => { const { top, bottom } = e.getBoundingClientRect(); return (top + bottom) / 2 }"
    assert abs(number.evaluate(middle) - sentence.evaluate(middle)) < 1
    tab.page.get_by_role("link", name="All deletions").click()
    head = tab.page.get_by_role("columnheader", name="Removed")
    expect(head).to_have_css("text-align", "start")
    expect(head).to_have_css("padding-left", "10px")
    tab.page.set_viewport_size({"width": 390, "height": 844})
    list_ = tab.page.get_by_role("main")
    expect(list_).to_contain_text("namespace (value not kept)")
    assert list_.evaluate("(e) => [e, ...e.querySelectorAll('*')].every((each) => each.scrollWidth <= 390)")
    assert tab.state("document.scrollingElement.scrollWidth <= document.documentElement.clientWidth")
    check_accessibility(tab.page)
