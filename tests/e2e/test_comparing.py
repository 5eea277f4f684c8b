"""Two requests are compared, and a failed request is compared with the last good one."""

import re

import pytest
from tests.e2e.log_page import LogPage
from tests.e2e.world import Call, World
from tests.support.browser import expect, needs_chromium

pytestmark = needs_chromium

PROMPT = "Summarise this contract in one short sentence. Contract {}: the parties agree on everything."


@pytest.fixture(scope="module")
def log(world: World) -> list[str]:
    """Return the ids of two successful requests, and of a failed request with the prompt of the first."""
    good = Call(namespace="contracts", text=PROMPT.format(7), more={"temperature": 0.2})
    other = Call(namespace="contracts", text=PROMPT.format(8), more={"temperature": 0.2})
    failed = Call(namespace="contracts", text=PROMPT.format(7), more={"temperature": 0.9}, directives={"Status": "429"})
    return world.log(good, other, failed)


_SPACE_AFTER_THE_SIDE = """(value) => {
  const text = document.createRange();
  text.selectNodeContents(value.lastChild);
  return text.getBoundingClientRect().left - value.firstChild.getBoundingClientRect().right;
}"""


@pytest.fixture(scope="module")
def code_log(world: World) -> list[str]:
    """Return the ids of two requests whose prompts have different code."""
    calls = [Call(namespace="code", text=f"Explain:\n```python\nprint({number})\n```") for number in (1, 2)]
    return world.log(*calls)


def test_code_has_letters_of_one_width_and_on_a_phone_the_sides_do_not_touch_the_texts(
    shared_tab: LogPage, code_log: list[str]
) -> None:
    tab = shared_tab
    tab.open(f"/compare/{code_log[0]}/{code_log[1]}")
    text = tab.page.get_by_role("deletion").first
    expect(text).to_have_css("font-family", re.compile("mono"))
    tab.page.set_viewport_size({"width": 390, "height": 844})
    value = tab.page.get_by_role("definition").first
    expect(value).to_contain_text("A ")
    assert value.evaluate(_SPACE_AFTER_THE_SIDE) >= 6


def test_two_selected_rows_are_compared_and_the_url_is_the_comparison(shared_tab: LogPage, log: list[str]) -> None:
    tab = shared_tab.show_log("/requests?namespace=contracts&failed=false")
    tab.press("j", "x", "j", "x", "c")
    page = tab.page.get_by_role("main")
    expect(page.get_by_text("Differences (timing not counted): messages.")).to_be_visible()
    expect(page.get_by_role("deletion")).to_have_text("7")
    expect(page.get_by_role("insertion")).to_have_text("8")
    tab.wait_for_path(f"/compare/{log[0]}/{log[1]}")
    tab.press("s")
    tab.wait_for_path(f"/compare/{log[1]}/{log[0]}")
    expect(page.get_by_role("deletion")).to_have_text("8")


def test_a_key_shows_what_has_changed_since_a_request_last_worked(shared_tab: LogPage, log: list[str]) -> None:
    tab = shared_tab.show_log("/requests?namespace=contracts")
    tab.press("j", "Enter")
    expect(tab.drawer.get_by_role("link", name=re.compile("the last successful request"))).to_be_visible()
    tab.press("w")
    page = tab.page.get_by_role("main")
    expect(page).to_contain_text("A is the last successful request before B, with the same messages.")
    tab.wait_for_path(f"/compare/{log[0]}/{log[2]}")
    expect(page.get_by_text(re.compile(r"^Differences \(timing not counted\): result"))).to_be_visible()
    expect(page.get_by_role("region", name="Parameters")).to_contain_text("temperature")
    page.get_by_role("link", name=re.compile("429 rate limited")).first.click()
    tab.wait_for_path("/requests")
    assert tab.query == [("result", "rate_limited")]


def test_escape_in_a_comparison_goes_back_to_the_row_that_had_the_focus(tab: LogPage, log: list[str]) -> None:
    tab.open_log("/requests?namespace=contracts&failed=false")
    tab.press("j", "x", "j", "x", "c")
    expect(tab.page.get_by_text("Differences (timing not counted): messages.")).to_be_visible()
    tab.press("s")
    tab.wait_for_path(f"/compare/{log[1]}/{log[0]}")
    tab.press("Escape")
    tab.wait_for_path("/requests")
    tab.wait_for_query(("namespace", "contracts"), ("failed", "false"))
    expect(tab.row(log[0]).locator("a[data-open]")).to_be_focused()
    tab.expect_selected(log[0])
    tab.press("k")
    tab.expect_selected(log[1])


def test_back_from_a_comparison_returns_the_focus_to_the_row_that_was_checked_last(
    tab: LogPage, log: list[str]
) -> None:
    tab.open_log("/requests?namespace=contracts&failed=false")
    for request_id in log[:2]:
        tab.row(request_id).get_by_role("checkbox").check()
    tab.page.get_by_role("link", name="Compare", exact=True).click()
    expect(tab.page.get_by_text("Differences (timing not counted): messages.")).to_be_visible()
    tab.page.go_back()
    expect(tab.row(log[1]).locator("a[data-open]")).to_be_focused()
