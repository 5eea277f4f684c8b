"""A link to a request older than the rows that the page loads first."""

import re
from typing import Final

import pytest
from tests.e2e.log_page import LogPage
from tests.e2e.world import Call, World
from tests.support.browser import expect, needs_chromium
from tests.support.server import wait_until

pytestmark = needs_chromium

#: The page loads a hundred rows first, and four hundred more soon after.
REQUESTS: Final = 560


@pytest.fixture(scope="module")
def log(world: World) -> list[str]:
    """Return all request ids, latest first. Every second request is in the namespace ``even``."""
    world.log_many(
        Call(namespace="odd" if number % 2 else "even", text=f"Question {number}?") for number in range(REQUESTS)
    )
    return [row["id"] for row in world.server.records()]


def test_j_and_k_move_between_old_requests_too(tab: LogPage, log: list[str]) -> None:
    tab.open_request(log[540])
    for key, place in (("j", 541), ("j", 542), ("k", 541), ("k", 540), ("k", 539)):
        expect(tab.drawer.get_by_role("button", name="next request")).to_be_enabled()
        expect(tab.drawer.get_by_role("button", name="previous request")).to_be_enabled()
        tab.press(key)
        tab.wait_for_path(f"/requests/{log[place]}")


def test_the_row_of_a_request_opened_by_its_address_is_shown(tab: LogPage, log: list[str]) -> None:
    tab.open_request(log[60])
    wait_until(lambda: log[60] in dict(tab.on_screen()), what="its row on the screen")
    tab.expect_selected(log[60])


def test_the_oldest_request_has_no_next_one(tab: LogPage, log: list[str]) -> None:
    tab.open_request(log[-1])
    expect(tab.drawer.get_by_role("button", name="previous request")).to_be_enabled()
    expect(tab.drawer.get_by_role("button", name="next request")).to_be_disabled()


def test_the_neighbors_are_those_of_the_filter(tab: LogPage, world: World, log: list[str]) -> None:
    even = [row["id"] for row in world.server.records("namespace=even")]
    tab.open(f"/requests/{even[-2]}?namespace=even")
    expect(tab.drawer.get_by_role("button", name="next request")).to_be_enabled()
    tab.press("j")
    tab.wait_for_path(f"/requests/{even[-1]}")


def test_closing_an_old_request_selects_its_row(tab: LogPage, log: list[str]) -> None:
    tab.open_request(log[540])
    expect(tab.drawer.get_by_role("button", name="next request")).to_be_enabled()
    tab.press("Escape")
    tab.expect_selected(log[540])
    wait_until(lambda: {log[539], log[540], log[541]} <= set(dict(tab.on_screen())), what="its row on the screen")
    # The button shows a number if requests have arrived since the rows were read.
    tab.page.get_by_role("button", name=re.compile(r"most recent|[\d,]+ new")).click()
    tab.wait_for_first(log[0])
