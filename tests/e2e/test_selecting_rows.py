"""Rows are selected to copy their ids or their data."""

import json
import re

import pytest
from playwright.sync_api import Locator
from tests.e2e.log_page import LogPage
from tests.e2e.world import Call, World
from tests.support.browser import expect, needs_chromium

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def log(world: World) -> list[str]:
    """Return the ids of six requests, newest first. Every other request failed."""
    calls = [
        Call(namespace="staging", text=f"Request {number}", directives={"Status": "429"} if number % 2 else {})
        for number in range(6)
    ]
    return world.log(*calls)[::-1]


def checkbox(tab: LogPage, request_id: str) -> Locator:
    return tab.row(request_id).get_by_role("checkbox")


def bar(tab: LogPage) -> Locator:
    return tab.page.get_by_role("region", name="Selected requests")


def copied(tab: LogPage, button: str) -> str:
    bar(tab).get_by_role("button", name=button).click()
    expect(bar(tab).get_by_role("button", name="Copied")).to_be_visible()
    return str(tab.state("navigator.clipboard.readText()"))


def test_the_ids_of_the_failed_requests_of_a_namespace_can_be_copied(shared_tab: LogPage, log: list[str]) -> None:
    tab = shared_tab.show_log("/requests?namespace=staging&status=error")
    checkbox(tab, log[0]).click()
    checkbox(tab, log[4]).click(modifiers=["Shift"])
    expect(bar(tab)).to_contain_text("3 selected")
    assert copied(tab, "Copy ids").split() == [log[0], log[2], log[4]]
    assert tab.path == "/requests"


def test_a_button_that_says_copied_keeps_its_width(shared_tab: LogPage, log: list[str]) -> None:
    tab = shared_tab.show_log()
    checkbox(tab, log[0]).click()
    before = [button.bounding_box() for button in bar(tab).get_by_role("button").all()]
    copied(tab, "Copy as JSONL")
    assert [button.bounding_box() for button in bar(tab).get_by_role("button").all()] == before


def test_selected_rows_are_copied_as_json_lines(shared_tab: LogPage, log: list[str]) -> None:
    tab = shared_tab.show_log()
    checkbox(tab, log[3]).click()
    checkbox(tab, log[1]).click()
    rows = [json.loads(line) for line in copied(tab, "Copy as JSONL").splitlines()]
    assert [(row["id"], row["namespace"]) for row in rows] == [(log[1], "staging"), (log[3], "staging")]


def test_rows_are_selected_by_keyboard(shared_tab: LogPage, log: list[str]) -> None:
    tab = shared_tab.show_log()
    tab.press("j", "x", "j", "j", "x")
    expect(bar(tab)).to_contain_text("2 selected")
    expect(checkbox(tab, log[0])).to_be_checked()
    expect(checkbox(tab, log[2])).to_be_checked()
    tab.press("x")
    expect(bar(tab)).to_contain_text("1 selected")
    tab.press("Escape")
    expect(bar(tab)).to_have_count(0)
    tab.expect_selected(log[2])


def test_all_loaded_requests_are_selected_from_the_head_or_by_keyboard(shared_tab: LogPage, log: list[str]) -> None:
    tab = shared_tab.show_log("/requests?namespace=staging&status=error")
    box = tab.page.get_by_role("checkbox", name="Select all loaded requests")
    box.click()
    expect(bar(tab)).to_contain_text("3 selected")
    checkbox(tab, log[2]).click()
    expect(box).to_be_checked(indeterminate=True)
    tab.press("Shift+X")
    expect(bar(tab)).to_contain_text("3 selected")
    expect(box).to_be_checked()
    tab.press("Shift+X")
    expect(bar(tab)).to_have_count(0)


def test_keys_work_after_a_click_on_a_checkbox(shared_tab: LogPage, log: list[str]) -> None:
    tab = shared_tab.show_log()
    checkbox(tab, log[5]).click()
    tab.press("Escape")
    expect(bar(tab)).to_have_count(0)


def test_another_filter_clears_the_selection(shared_tab: LogPage, log: list[str]) -> None:
    tab = shared_tab.show_log()
    checkbox(tab, log[0]).click()
    expect(bar(tab)).to_contain_text("1 selected")
    tab.chip(log[0], "model").click()
    tab.page.wait_for_url(re.compile("model="))
    expect(bar(tab)).to_have_count(0)


def test_new_requests_do_not_move_rows_while_some_are_selected(tab: LogPage, world: World, log: list[str]) -> None:
    tab.open_log("/requests?namespace=staging")
    checkbox(tab, log[0]).click()
    tab.point_nowhere()
    world.log(Call(namespace="staging"))
    expect(tab.page.get_by_role("button", name=re.compile("1 new"))).to_be_visible()
    tab.wait_for_first(log[0])
    bar(tab).get_by_role("button", name="Clear").click()
    expect(bar(tab)).to_have_count(0)
