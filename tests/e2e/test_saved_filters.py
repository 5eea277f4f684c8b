"""A filter is saved under a name, shown to everyone in the menu and the palette, and deleted after confirmation."""

import pytest
from tests.e2e.log_page import LogPage
from tests.e2e.world import Call, World
from tests.support.axe import check_accessibility
from tests.support.browser import expect, needs_chromium
from tests.support.server import wait_until

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def log(world: World) -> list[str]:
    return world.log(
        Call(namespace="production"),
        Call(namespace="staging", text="Where is my okapi?"),
        Call(namespace="staging", text="Thank you."),
    )


def test_a_saved_filter_is_found_in_menu_and_palette_and_can_be_deleted(
    tab: LogPage, world: World, log: list[str]
) -> None:
    wait_until(lambda: world.count("words=okapi") == 1, what="the text in the index")
    tab.open_log("/requests?namespace=staging&words=okapi&sort=duration_ms")
    tab.page.get_by_role("button", name="Save filter…").click()
    dialog = tab.page.get_by_role("dialog", name="Save filter")
    field = dialog.get_by_role("textbox", name="Name")
    expect(field).to_be_focused()
    check_accessibility(tab.page)
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_have_count(0)
    expect(tab.page.get_by_role("button", name="Save filter…")).to_be_focused()
    tab.press("Enter")
    field.fill("Okapis in staging")
    tab.press("Enter")
    expect(dialog).to_have_count(0)
    expect(tab.page.get_by_role("button", name="Save filter…")).to_be_focused()

    tab.open_log("/requests?namespace=production")
    menu = tab.page.get_by_role("button", name="Saved 1")
    menu.click()
    link = tab.page.get_by_role("link", name="Okapis in staging namespace is staging · text: okapi · slowest first")
    expect(link).to_be_visible()
    check_accessibility(tab.page)
    link.click()
    tab.wait_for_query(("namespace", "staging"), ("words", "okapi"), ("sort", "duration_ms"))
    tab.wait_for_rows(1)

    tab.open("/namespaces")
    tab.page.get_by_role("button", name="Command palette").click()
    tab.page.get_by_role("combobox", name="Go to").fill("in stag")
    expect(tab.page.get_by_role("option", name="Okapis in staging")).to_have_attribute("aria-selected", "true")
    tab.press("Enter")
    tab.wait_for_query(("namespace", "staging"), ("words", "okapi"), ("sort", "duration_ms"))

    menu.click()
    delete = tab.page.get_by_role("button", name="Delete Okapis in staging…")
    delete.click()
    expect(tab.page.get_by_role("button", name="Cancel")).to_be_focused()
    check_accessibility(tab.page)
    tab.press("Enter")
    expect(delete).to_be_focused()
    tab.press("Enter")
    tab.page.get_by_role("button", name="Delete", exact=True).click()
    expect(tab.page.get_by_text("No saved filters yet.")).to_be_focused()
    assert world.server.get("/api/saved-filters") == {"data": []}
