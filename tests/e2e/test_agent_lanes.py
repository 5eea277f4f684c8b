"""The conversation view of an agent's session has lanes for its model and its tools."""

import json
import re
from typing import Any, Final

import pytest
from tests.e2e.log_page import LogPage
from tests.e2e.world import Call, World
from tests.support.axe import check_accessibility
from tests.support.browser import expect, needs_chromium

pytestmark = needs_chromium

SESSION: Final = "7d0c1f7e-4c53-4f5e-9b0e-3d1f0f6a9b11"
TOOLS: Final = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}
    for name in ("read_file", "run_tests")
]


@pytest.fixture(scope="module")
def log(world: World) -> list[str]:
    """Return the ids of a session: the first response reads a file, the second runs tests, which fail."""
    messages: list[Any] = []
    ids = []
    headers = {"x-claude-code-session-id": SESSION}
    steps = {
        'Call the tool read_file with {"path": "a.py"}': "def main():\n    pass\n",
        'Call the tool run_tests with {"suite": "unit"}': json.dumps({"error": "2 failed", "output": ["one", "two"]}),
    }

    def send() -> Any:
        asked = Call(namespace="agents", headers=headers, more={"tools": TOOLS}).parameters() | {"messages": messages}
        raw = world.client.chat.completions.with_raw_response.create(**asked)
        ids.append(str(raw.headers["service-request-id"]))
        messages.append(raw.parse().choices[0].message)
        return messages[-1]

    for question, result in steps.items():
        messages.append({"role": "user", "content": question})
        [call] = send().tool_calls
        messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
        send()
    world.wait_for(ids)
    return ids


def test_a_call_and_its_result_open_together_by_keyboard(tab: LogPage, log: list[str]) -> None:
    tab.show(f"/thread?session={SESSION}")
    page = tab.page
    bars = page.get_by_role("group", name="Timeline: arrow keys move between requests and calls")
    bars.get_by_role("button").first.focus()
    page.keyboard.press("ArrowDown")
    expect(page.locator(":focus")).to_have_accessible_name(re.compile("^read_file, "))
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    panel = page.get_by_role("region", name="Call of run_tests")
    expect(panel).to_be_focused()
    expect(panel).to_contain_text('"suite": "unit"')
    expect(panel).to_contain_text('"error": "2 failed"')
    expect(panel).to_contain_text("✗ failed")
    check_accessibility(page)
    page.keyboard.press("Escape")
    expect(bars.get_by_role("button", name="run_tests")).to_be_focused()


def test_a_row_shows_what_is_new_in_its_request(shared_tab: LogPage, log: list[str]) -> None:
    shared_tab.open_log(f"/requests?session={SESSION}")
    shown = {
        log[0]: 'Call the tool read_file with {"path": "a.py"} → read_file({"path":"a.py"})',
        log[1]: "read_file: 2 lines",
        log[3]: "run_tests failed:",
    }
    for request_id, text in shown.items():
        expect(shared_tab.row(request_id)).to_contain_text(text)


def test_an_opened_call_moves_nothing_and_its_turn_shows_the_call(tab: LogPage, log: list[str]) -> None:
    tab.page.set_viewport_size({"width": 1440, "height": 600})
    tab.show(f"/thread?session={SESSION}")
    page = tab.page
    failed = page.get_by_role("button", name="show the next failed call of run_tests")
    expect(failed).to_be_visible()
    conversations = page.get_by_role("region", name="Conversations")
    before = failed.bounding_box(), conversations.bounding_box()
    failed.click()
    panel = page.get_by_role("region", name="Call of run_tests")
    expect(panel).to_contain_text("failed call 1 of 1")
    expect(panel).to_contain_text('"error": "2 failed"')
    assert (failed.bounding_box(), conversations.bounding_box()) == before
    check_accessibility(page)
    panel.get_by_role("button", name="turn 3", exact=True).click()
    call = conversations.get_by_role("article", name="Turn 3").locator("[data-response] [data-call]")
    expect(call).to_be_in_viewport()
    top, area = call.bounding_box(), conversations.bounding_box()
    assert top is not None
    assert area is not None
    assert 0 <= top["y"] - area["y"] <= 40


def test_the_zoom_buttons_cover_no_lane(shared_tab: LogPage, log: list[str]) -> None:
    page = shared_tab.show(f"/thread?session={SESSION}").page
    lanes = page.get_by_role("group", name="Timeline: arrow keys move between requests and calls").bounding_box()
    button = page.get_by_role("button", name="Zoom out").bounding_box()
    assert lanes is not None
    assert button is not None
    assert lanes["x"] + lanes["width"] <= button["x"]
