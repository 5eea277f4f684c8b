"""Feedback on the page: rating with keys, a label, a comment, the mark in the row, and filtering by label."""

import pytest
from tests.e2e.log_page import LogPage
from tests.e2e.world import Call, World
from tests.support.axe import check_accessibility
from tests.support.browser import expect, needs_chromium
from tests.support.server import wait_until

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def log(world: World) -> list[str]:
    """Return the ids of three requests, newest first."""
    return world.log(*(Call(text=f"Question {number}?") for number in range(3)))[::-1]


def test_a_request_is_rated_with_keys_and_found_by_its_label(tab: LogPage, world: World, log: list[str]) -> None:
    tab.open_log()
    heads = tab.page.get_by_role("columnheader")
    expect(heads.filter(has_text="First token")).to_be_visible()
    columns = heads.all_text_contents()
    tab.press("j", "j", "Enter")
    expect(tab.drawer).to_contain_text("Question 1?")
    tab.press("-")
    expect(tab.drawer.get_by_text("Feedback saved: Bad")).to_be_in_viewport()
    tab.press("Escape")
    expect(tab.row(log[1]).get_by_role("link", name="Filter by score -1: Bad")).to_be_visible()
    expect(heads).to_have_text(columns)
    tab.press("Enter", "+")
    expect(tab.drawer.get_by_role("button", name="Good")).to_have_attribute("aria-pressed", "true")

    tab.drawer.get_by_role("button", name="Feedback", exact=True).click()
    tab.drawer.get_by_label("Label").fill("helpful")
    tab.drawer.get_by_label("Comment").fill("1 + 1 - 2")
    tab.drawer.get_by_role("button", name="Save").click()
    expect(tab.drawer.get_by_role("link", name="Filter by label helpful")).to_be_visible()
    # axe counts a control that is half scrolled out of view as too small.
    tab.drawer.evaluate("panel => panel.querySelectorAll('*').forEach(each => { each.scrollTop = 0 })")
    check_accessibility(tab.page)
    tab.drawer.get_by_role("link", name="Filter by label helpful").click()
    tab.wait_for_query(("label", "helpful"))
    tab.wait_for_rows(1)
    (row,) = wait_until(lambda: world.server.records("label=helpful"), what="the feedback")
    (feedback,) = row["feedback"]
    assert row["id"] == log[1]
    assert [feedback[name] for name in ("source", "score", "label", "comment")] == [
        "dashboard",
        1,
        "helpful",
        "1 + 1 - 2",
    ]

    tab.open_log()
    expect(tab.row(log[1]).get_by_role("link", name="Filter by score 1: Good")).to_be_visible()
