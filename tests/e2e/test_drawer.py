"""The drawer shows one request beside the log: opening, moving to the next request, closing, copying, the address."""

import json
import os
import re
import shutil
import subprocess
import sys
from typing import Any

import httpx2
import pytest
from playwright.sync_api import Route
from tests.e2e.conftest import OpenTab
from tests.e2e.log_page import LogPage
from tests.e2e.world import KEY, Call, World, as_directive
from tests.support.browser import expect, needs_chromium
from tests.support.long import sampled
from tests.support.server import wait_until

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def log(world: World) -> list[str]:
    """Return the ids of six requests, latest first."""
    responses = ("Of *course*.", "Rome", "Paris", "Oslo", "Lima", "Accra")
    calls = [
        Call(
            namespace="staging" if number % 2 else "production",
            text=f"Question {number}?",
            properties={"channel": "iOS"},
            directives={"Text": response},
            more={"temperature": 0.7, "user": f"u-{number}"},
        )
        for number, response in enumerate(responses)
    ]
    return world.log(*calls)[::-1]


def test_a_row_opens_a_drawer_with_result_messages_and_its_own_address(shared_tab: LogPage, log: list[str]) -> None:
    tab = shared_tab.show_log("/requests?namespace=production")
    tab.row(log[1]).get_by_text("Question 4?").click()
    tab.wait_for_path(f"/requests/{log[1]}")
    assert tab.query == [("namespace", "production")]
    expect(tab.drawer).to_contain_text(re.compile(r"✓\s*\d+ tokens in|✓\s*Complete"))
    expect(tab.drawer.get_by_role("article", name="user")).to_contain_text("Question 4?")
    expect(tab.drawer.get_by_role("article", name="response")).to_contain_text("Lima")
    for value in ("namespace production", "channel iOS", "user u-4", "model gpt-4o-mini"):
        expect(tab.drawer.get_by_role("link", name=f"Filter by {value}")).to_be_visible()
    for part in ("Conversation", "Timing", "Tokens & cost", "Parameters", "Headers", "Raw", "Feedback"):
        tab.drawer.get_by_role("button", name=part, exact=True).click()
        expect(tab.drawer.get_by_role("region", name=part)).to_be_in_viewport()


def test_j_and_k_move_to_the_next_request_and_the_address_follows(shared_tab: LogPage, log: list[str]) -> None:
    tab = shared_tab.show_log()
    tab.row(log[1]).get_by_text("Question").click()
    tab.wait_for_path(f"/requests/{log[1]}")
    expect(tab.drawer).to_contain_text("Question 4?")
    tab.press("j")
    tab.wait_for_path(f"/requests/{log[2]}")
    expect(tab.drawer).to_contain_text("Question 3?")
    tab.press("k")
    tab.wait_for_path(f"/requests/{log[1]}")
    tab.drawer.get_by_role("button", name="previous request").click()
    tab.wait_for_path(f"/requests/{log[0]}")
    expect(tab.drawer).to_contain_text("Question 5?")
    tab.drawer.get_by_role("button", name="next request").click()
    tab.wait_for_path(f"/requests/{log[1]}")


def test_escape_returns_the_focus_to_the_row_the_request_was_opened_from(shared_tab: LogPage, log: list[str]) -> None:
    tab = shared_tab.show_log()
    tab.press("j", "j")
    tab.expect_selected(log[1])
    tab.press("Enter")
    tab.wait_for_path(f"/requests/{log[1]}")
    expect(tab.drawer).to_contain_text("Question 4?")
    tab.press("Escape")
    tab.wait_for_path("/requests")
    expect(tab.drawer).to_have_count(0)
    expect(tab.row(log[1]).locator(":focus")).to_have_count(1)
    tab.press("j")
    tab.expect_selected(log[2])


def test_escape_after_moving_to_another_request_selects_that_requests_row(shared_tab: LogPage, log: list[str]) -> None:
    tab = shared_tab.show_log()
    tab.press("j")
    tab.expect_selected(log[0])
    tab.press("Enter")
    expect(tab.drawer).to_contain_text("Question 5?")
    tab.press("j")
    expect(tab.drawer).to_contain_text("Question 4?")
    tab.press("j")
    expect(tab.drawer).to_contain_text("Question 3?")
    tab.press("Escape")
    expect(tab.drawer).to_have_count(0)
    tab.expect_selected(log[2])
    expect(tab.row(log[2]).locator(":focus")).to_have_count(1)


def test_after_closing_a_request_opened_by_a_click_its_row_is_selected(shared_tab: LogPage, log: list[str]) -> None:
    tab = shared_tab.show_log()
    tab.row(log[2]).get_by_text("Question 3?").click()
    expect(tab.drawer).to_contain_text("Question 3?")
    tab.press("Escape")
    expect(tab.drawer).to_have_count(0)
    tab.press("j")
    tab.expect_selected(log[3])


def test_the_log_stays_usable_beside_the_open_request(shared_tab: LogPage, log: list[str]) -> None:
    tab = shared_tab.show_log()
    tab.row(log[1]).get_by_text("Question 4?").click()
    expect(tab.drawer).to_contain_text("Question 4?")
    for cell in ("✓ 200", "Question 2?"):
        expect(tab.row(log[3]).get_by_text(cell)).to_be_in_viewport(ratio=1)
    top = tab.top_of(log[3])
    tab.row(log[3]).get_by_text("Question 2?").click()
    tab.wait_for_path(f"/requests/{log[3]}")
    expect(tab.drawer).to_contain_text("Question 2?")
    tab.expect_selected(log[3])
    assert tab.top_of(log[3]) == top
    tab.press("j")
    tab.expect_selected(log[4])
    expect(tab.drawer).to_contain_text("Question 1?")
    tab.page.get_by_role("combobox").click()
    tab.page.keyboard.type("jk")
    tab.expect_selected(log[4])
    expect(tab.drawer).to_contain_text("Question 1?")


def test_the_width_of_the_open_request_is_dragged_or_typed_and_kept(tab: LogPage, log: list[str]) -> None:
    tab.open_request(log[0])
    edge = tab.drawer.get_by_role("separator", name="Width of the request")

    def width() -> int:
        return round((tab.drawer.bounding_box() or {"width": 0})["width"])

    assert width() == 600
    box = edge.bounding_box()
    assert box is not None
    tab.page.mouse.move(box["x"] + box["width"] / 2, 400)
    tab.page.mouse.down()
    tab.page.mouse.move(700, 420, steps=4)
    tab.page.mouse.up()
    wait_until(lambda: width() == 740, what="the width after dragging")
    edge.focus()
    tab.press("ArrowRight")
    wait_until(lambda: width() == 708, what="the width after an arrow key")
    expect(edge).to_have_attribute("aria-valuenow", "708")
    tab.page.reload()
    expect(tab.drawer).to_contain_text("Question 5?")
    assert width() == 708
    edge.focus()
    tab.press("End")
    wait_until(lambda: width() == 880, what="the greatest width")
    expect(tab.row(log[0]).get_by_text("✓ 200")).to_be_in_viewport(ratio=1)


def test_at_1024_pixels_there_is_space_for_the_log_beside_an_open_request(
    open_tab: OpenTab, world: World, log: list[str]
) -> None:
    tab = open_tab(world.dashboard, viewport={"width": 1024, "height": 768}).open_log()
    expect(tab.page.get_by_role("button", name="Copy JSON URL")).to_be_visible()
    tab.row(log[0]).get_by_text("Question 5?").click()
    expect(tab.drawer).to_contain_text("Accra")
    expect(tab.page.get_by_role("button", name="Copy JSON URL")).to_be_hidden()
    text = tab.page.get_by_role("columnheader", name="Prompt → response").bounding_box()
    assert text is not None
    assert text["width"] >= 120


def test_on_a_narrow_screen_the_request_is_a_dialog_that_keeps_the_focus(
    open_tab: OpenTab, world: World, log: list[str]
) -> None:
    tab = open_tab(world.dashboard, viewport={"width": 900, "height": 700})
    tab.open_request(log[0])
    inside = "document.querySelector('[role=dialog]').contains(document.activeElement)"
    wait_until(lambda: tab.state(inside), what="the focus in the drawer")
    for _ in range(60):
        tab.press("Tab")
        assert tab.state(inside), tab.state("document.activeElement.outerHTML")
    tab.press("Shift+Tab")
    assert tab.state(inside)


def test_opening_a_request_does_not_move_the_rows_of_a_filtered_log(shared_tab: LogPage, log: list[str]) -> None:
    tab = shared_tab.show_log()
    tab.chip(log[2], "namespace staging").click()
    tab.wait_for_query(("namespace", "staging"))
    tab.wait_for_rows(3)
    top = tab.top_of(log[2])
    tab.row(log[4]).get_by_text("Question 1?").click()
    expect(tab.drawer).to_contain_text("Question 1?")
    tab.wait_for_top(log[2], top)


def test_the_address_of_a_request_shows_the_same_after_a_reload_and_in_another_browser(
    tab: LogPage, open_tab: OpenTab, world: World, log: list[str]
) -> None:
    tab.open_log("/requests?namespace=staging")
    tab.row(log[0]).get_by_text("Question 5?").click()
    expect(tab.drawer).to_contain_text("Accra")
    address = tab.page.url
    tab.page.reload()
    expect(tab.drawer).to_contain_text("Accra")
    assert tab.page.url == address
    other = open_tab(world.dashboard)
    other.page.goto(address)
    expect(other.drawer).to_contain_text("Accra")
    expect(other.rows).to_have_count(3)


def test_back_closes_the_request_and_forward_opens_it_again(shared_tab: LogPage, log: list[str]) -> None:
    tab = shared_tab.show_log()
    tab.row(log[0]).get_by_text("Question").click()
    expect(tab.drawer).to_contain_text("Accra")
    tab.page.go_back()
    expect(tab.drawer).to_have_count(0)
    assert tab.path == "/requests"
    tab.page.go_forward()
    expect(tab.drawer).to_contain_text("Accra")


def test_a_value_in_the_drawer_filters_the_log_beside_it(tab: LogPage, log: list[str]) -> None:
    tab.open_request(log[2]).get_by_role("link", name="Filter by user u-3").click()
    tab.wait_for_query(("user", "u-3"))
    tab.wait_for_rows(1)
    tab.expect_selected(log[2])
    expect(tab.drawer).to_contain_text("Question 3?")
    tab.press("Escape")
    expect(tab.drawer).to_have_count(0)
    tab.wait_for_query(("user", "u-3"))
    tab.expect_selected(log[2])


def test_on_a_narrow_screen_a_value_in_the_drawer_opens_the_filtered_log(
    open_tab: OpenTab, world: World, log: list[str]
) -> None:
    tab = open_tab(world.dashboard, viewport={"width": 800, "height": 700})
    tab.open_request(log[2]).get_by_role("link", name="Filter by user u-3").click()
    tab.wait_for_path("/requests")
    tab.wait_for_rows(1)
    expect(tab.drawer).to_have_count(0)


def test_words_of_the_search_are_marked_in_the_row_and_in_the_request(shared_tab: LogPage, log: list[str]) -> None:
    tab = shared_tab.show_log("/requests?words=lima")
    tab.wait_for_rows(1)
    expect(tab.row(log[1]).locator("mark")).to_have_text("Lima")
    tab.row(log[1]).get_by_text("Question 4?").click()
    expect(tab.drawer.locator("mark")).to_have_text(["Lima"])
    tab.drawer.get_by_role("button", name="Text", exact=True).click()
    expect(tab.drawer.locator("mark")).to_have_text(["Lima"])


def test_a_request_opens_at_the_first_match_of_the_search(tab: LogPage, world: World) -> None:
    # When the response is rendered as Markdown, its lines become paragraphs, and the match moves down.
    response = "\n\n".join([f"Paragraph {number}." for number in range(40)] + ["The okapi."])
    (request,) = world.log(Call(text="line\n" * 60, directives={"Text": as_directive(response)}))
    wait_until(lambda: world.count("words=okapi") == 1, what="the text in the index")
    held: list[Route] = []
    tab.page.route("**/markdown-*.js", lambda route: held.append(route))
    tab.open_request(request)
    expect(tab.drawer.locator("mark")).to_have_count(0)
    assert tab.drawer.locator("[data-request]").evaluate("(frame) => frame.scrollTop") == 0
    tab.open(f"/requests/{request}?words=okapi")
    expect(tab.drawer.locator("mark")).to_be_in_viewport(ratio=1)
    expect(tab.drawer.locator("p > mark")).to_have_count(0)
    held[-1].continue_()
    expect(tab.drawer.locator("p > mark")).to_be_in_viewport(ratio=1)


def test_the_timeline_shows_the_text_that_had_arrived(tab: LogPage, world: World) -> None:
    call = Call(text="How are you?", directives={"Text": "Very well, thank you", "Event-Interval-Ms": "5"})
    stream = world.stream(call)
    stream.read()
    world.wait_for([stream.id])
    drawer = tab.open_request(stream.id)
    timeline = drawer.get_by_role("slider", name="Chunks of the response over time")
    below = drawer.get_by_role("heading", name="Parameters")
    top = below.evaluate("(heading) => heading.offsetTop")
    timeline.focus()
    timeline.press("End")
    expect(drawer.get_by_role("region", name="Text that had arrived")).to_have_text("Very well, thank you")
    timeline.hover(position={"x": 2, "y": 10})
    expect(drawer).to_contain_text("No text had arrived.")
    timeline.press("End")
    assert below.evaluate("(heading) => heading.offsetTop") == top


def test_the_buttons_that_copy_do_not_move_when_one_says_copied(tab: LogPage, log: list[str]) -> None:
    drawer = tab.open_request(log[3])
    buttons = drawer.get_by_role("group", name="Copy the request").get_by_role("button")
    before = [button.bounding_box() for button in buttons.all()]
    drawer.get_by_role("button", name="Copy as curl").click()
    expect(drawer.get_by_role("button", name="Copied as curl")).to_be_visible()
    assert [button.bounding_box() for button in buttons.all()] == before


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_the_copied_curl_command_repeats_the_request(tab: LogPage, world: World, log: list[str]) -> None:
    drawer = tab.open_request(log[3])
    drawer.get_by_role("button", name="Copy as curl").click()
    expect(drawer.get_by_role("button", name="Copied as curl")).to_have_text("✓")
    command = tab.state("navigator.clipboard.readText()")
    before = {row["id"] for row in world.server.records()}
    done = subprocess.run(
        ["sh", "-c", command], capture_output=True, text=True, env={**os.environ, "OPENAI_API_KEY": KEY}, timeout=30
    )
    assert "choices" in json.loads(done.stdout), (command, done)
    [repeated] = wait_until(
        lambda: [row for row in world.server.records() if row["id"] not in before], what="its record"
    )
    first = world.server.record(log[3])
    for field in ("namespace", "properties", "model", "user", "key", "request_bytes", "status"):
        assert repeated[field] == first[field], field
    assert world.server.body(repeated["id"], "request") == world.server.body(log[3], "request")


def test_the_copied_python_script_repeats_the_request(tab: LogPage, world: World, log: list[str]) -> None:
    repeated = repeat_in_python(tab, world, log[3], "OPENAI_API_KEY")
    first = world.server.record(log[3])
    for field in ("namespace", "properties", "model", "user", "key", "status"):
        assert repeated[field] == first[field], field


def test_the_copied_python_script_uses_the_sdk_of_anthropic_for_messages(tab: LogPage, world: World) -> None:
    body = {"model": "claude-haiku-4-5", "max_tokens": 64, "messages": [{"role": "user", "content": "Hello?"}]}
    headers = {"x-api-key": KEY, "anthropic-version": "2023-06-01", "Service-Namespace": "staging"}
    response = httpx2.post(f"{world.server.base_url}/messages", json=body, headers=headers)
    sent = response.headers["service-request-id"]
    world.wait_for([sent])
    repeated = repeat_in_python(tab, world, sent, "ANTHROPIC_API_KEY")
    assert (repeated["kind"], repeated["namespace"], repeated["status"]) == ("message", "staging", 200)
    assert "Anthropic/Python" in repeated["user_agent"]


def repeat_in_python(tab: LogPage, world: World, request_id: str, variable: str) -> dict[str, Any]:
    """Copy a request as Python and run the script. Returns the record of the new request."""
    drawer = tab.open_request(request_id)
    drawer.get_by_role("button", name="Copy as Python").click()
    expect(drawer.get_by_role("button", name="Copied as Python")).to_have_text("✓")
    script = tab.state("navigator.clipboard.readText()")
    before = {row["id"] for row in world.server.records()}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env={**os.environ, variable: KEY}, timeout=60
    )
    assert done.returncode == 0, (script, done)
    [repeated] = wait_until(
        lambda: [row for row in world.server.records() if row["id"] not in before], what="its record"
    )
    return dict(repeated)


@pytest.mark.parametrize("form", ["link", "Python", "Node", "JSON", "replay (CLI)"])
def test_a_request_can_be_copied_as_link_script_or_json(tab: LogPage, log: list[str], form: str) -> None:
    drawer = tab.open_request(log[3])
    drawer.get_by_role("button", name=f"Copy as {form}").click()
    expect(drawer.get_by_role("button", name=f"Copied as {form}")).to_have_text(
        "✓ (CLI)" if form == "replay (CLI)" else "✓"
    )
    copied = tab.state("navigator.clipboard.readText()")
    match form:
        case "link":
            assert copied == f"{tab.dashboard}/requests/{log[3]}"
        case "JSON":
            assert json.loads(copied)["id"] == log[3]
        case "replay (CLI)":
            assert copied == f"relaybook replay --id {log[3]} --dashboard-url {tab.dashboard}"
        case _:
            assert "Question 2?" in copied
            assert "service-namespace" in copied.lower()


def test_any_id_of_a_request_typed_into_the_query_box_opens_it(
    shared_tab: LogPage, world: World, log: list[str]
) -> None:
    completion_id = world.server.record(log[4])["completion_id"]
    tab = shared_tab.show_log()
    tab.press("/")
    tab.page.keyboard.type(completion_id)
    tab.press("Enter")
    expect(tab.drawer).to_contain_text("Question 1?")


def test_an_unknown_id_is_explained(tab: LogPage, log: list[str]) -> None:
    tab.guard.expect("status of 404")
    tab.open("/requests/0199a3c2-0000-7000-8000-000000000000")
    expect(tab.drawer.get_by_role("alert")).to_contain_text("No request")
    tab.press("Escape")
    expect(tab.drawer).to_have_count(0)
    expect(tab.row(log[0])).to_be_visible()


ENDINGS = {
    "The upstream returned 429": {"Status": "429"},
    "The upstream returned 500": {"Status": "500"},
    "The upstream closed the connection": {"Break": "event:3 rst"},
}


@pytest.mark.parametrize("words", sampled(ENDINGS, 2))
def test_the_first_line_has_the_outcome_and_its_cause(tab: LogPage, world: World, words: str) -> None:
    call = Call(namespace="broken", directives=ENDINGS[words])
    if "Break" in call.directives:
        stream = world.stream(call)
        stream.read_until_it_breaks()
        failed = stream.id
    else:
        failed = world.send(call)
    world.wait_for([failed])
    expect(tab.open_request(failed)).to_contain_text(words)
