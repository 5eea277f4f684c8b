"""Requests that were recorded without prices are read again on the page, and their costs appear."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator
from tests.e2e.conftest import OpenTab
from tests.e2e.log_page import LogPage
from tests.e2e.test_narrow import FITS, PHONE
from tests.e2e.world import Call, World
from tests.support.axe import check_accessibility
from tests.support.browser import expect, needs_chromium
from tests.support.server import Server, SimulatedProvider

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def priced(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Return a server that knows whose prices apply. Its log was recorded by a server that did not know this."""
    directory = tmp_path_factory.mktemp("reread")
    with SimulatedProvider() as provider:
        with Server(directory, provider.url) as server:
            unpriced = World(server)
            names = ("again", "other", "again", "phone")
            unpriced.log(*(Call(namespace=name, model="gpt-oss-120b") for name in names))
            unpriced.client.close()
        with Server(directory, provider.url, "--price-as", "cerebras") as server:
            world = World(server)
            yield world
            world.client.close()


def costs(world: World, namespace: str) -> list[float | None]:
    return [row["cost_usd"] for row in world.server.records(f"namespace={namespace}")]


def open_dialog(tab: LogPage) -> Locator:
    tab.filter_bar.get_by_role("button", name="More actions").click()
    tab.page.get_by_role("button", name="Read again…").click()
    return tab.page.get_by_role("dialog", name="Read requests again")


def test_the_requests_of_a_filtered_log_are_read_again_and_the_page_shows_their_costs(
    priced: World, open_tab: OpenTab
) -> None:
    assert costs(priced, "again") == [None, None]
    tab = open_tab(priced.dashboard).open_log("/requests?namespace=again&from=-1h")
    tab.wait_for_rows(2)
    expect(tab.page.get_by_role("main")).not_to_contain_text("$")
    tab.filter_bar.get_by_role("button", name="More actions").click()
    expect(tab.page.get_by_role("button", name="Read again…")).to_be_visible()
    check_accessibility(tab.page)
    tab.press("Escape")
    expect(tab.filter_bar.get_by_role("button", name="More actions")).to_be_focused()

    dialog = open_dialog(tab)
    expect(dialog).to_contain_text("namespace is again")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    expect(dialog.get_by_role("button", name="Read 2 requests again")).to_be_enabled()
    check_accessibility(tab.page)
    dialog.get_by_role("button", name="Read 2 requests again").click()
    expect(dialog).to_contain_text("2 requests were read again, and 2 have new results.")
    check_accessibility(tab.page)
    for row in tab.rows.all():
        expect(row).to_contain_text("$")
    dialog.get_by_text("Close", exact=True).click()
    expect(dialog).to_be_hidden()
    expect(tab.filter_bar.get_by_role("button", name="More actions")).to_be_focused()
    assert None not in costs(priced, "again")
    assert costs(priced, "other") == [None]


def test_on_a_phone_everything_is_on_the_screen(priced: World, open_tab: OpenTab) -> None:
    tab = open_tab(priced.dashboard, **PHONE).open_log("/requests?namespace=phone")
    for name in ("Export…", "More actions"):
        expect(tab.filter_bar.get_by_role("button", name=name)).to_be_in_viewport(ratio=1)
    dialog = open_dialog(tab)
    button = dialog.get_by_role("button", name="Read 1 request again")
    expect(button).to_be_in_viewport(ratio=1)
    button.click()
    expect(dialog).to_contain_text("1 request was read again, and 1 has new results.")
    assert tab.state(FITS)


def test_on_a_phone_large_numbers_stay_inside_the_filter_bar(priced: World, open_tab: OpenTab) -> None:
    tab = open_tab(priced.dashboard, **PHONE)
    counted = {"requests": 1_234_567, "failed": 123_456, "last_at": None, "complete": False}
    tab.page.route("**/api/count?*", lambda route: route.fulfill(json=counted))
    tab.open_log("/requests?namespace=other")
    expect(tab.filter_bar).to_contain_text("at least 1,234,567 requests · 123,456 failed")
    assert tab.state(FITS)
    assert tab.filter_bar.evaluate(
        "(bar) => bar.scrollHeight <= bar.clientHeight && bar.scrollWidth <= bar.clientWidth"
    )
    button = tab.filter_bar.get_by_role("button", name="More actions")
    button.focus()
    expect(button).to_be_in_viewport(ratio=1)


def test_without_a_match_nothing_can_be_read_again(priced: World, open_tab: OpenTab) -> None:
    tab = open_tab(priced.dashboard).open("/requests?namespace=nobody")
    dialog = open_dialog(tab)
    expect(dialog).to_contain_text("No finished request matches.")
    expect(dialog.get_by_role("button", name="Read 0 requests again")).to_be_disabled()
