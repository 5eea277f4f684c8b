"""Messages and bodies in the drawer: raw bodies, images, tool calls, long conversations, outputs."""

import base64
import json
import re
import struct
import zlib
from typing import Any

import pytest
from tests.e2e.log_page import LogPage
from tests.e2e.world import Call, World, as_directive
from tests.support.browser import expect, needs_chromium

pytestmark = needs_chromium


def png() -> bytes:
    """Return a PNG with one red pixel."""
    parts = [
        (b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(b"\0\xff\0\0")),
        (b"IEND", b""),
    ]
    chunks = (struct.pack(">I", len(d)) + n + d + struct.pack(">I", zlib.crc32(n + d)) for n, d in parts)
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


@pytest.mark.parametrize("side", ["request", "response"])
def test_a_raw_body_is_shown_indented_and_can_be_searched_with_the_browser(
    tab: LogPage, world: World, side: str
) -> None:
    [sent] = world.log(
        Call(text="Where is the needle?", directives={"Text": as_directive("In the haystack is the needle.")})
    )
    drawer = tab.open_request(sent)
    drawer.get_by_role("button", name=f"View the {side}").click()
    viewer = drawer.get_by_role("textbox", name=f"Body of the {side}")
    expect(viewer).to_contain_text("needle")
    drawer.get_by_role("button", name="Indented").click()
    expect(viewer.locator(".cm-line").nth(1)).to_have_text(re.compile(r'^  "'))
    viewer.click()
    tab.press("Control+f")
    tab.page.keyboard.type("needle")
    expect(viewer.locator(".cm-searchMatch").first).to_be_visible()


def test_the_viewer_of_a_raw_body_is_as_high_as_the_body_up_to_a_limit(tab: LogPage, world: World) -> None:
    lines = "\n".join(f"Line {number}" for number in range(2_000))
    sent = world.log(Call(text="Be short."), Call(text=json.dumps(lines)))
    heights = []
    for request_id in sent:
        drawer = tab.open_request(request_id)
        drawer.get_by_role("button", name="View the request").click()
        viewer = drawer.locator(".cm-scroller")
        expect(viewer).to_contain_text("model")
        content, visible = viewer.evaluate("(scroller) => [scroller.scrollHeight, scroller.clientHeight]")
        heights.append(visible)
        assert (content > visible) == (request_id == sent[1])
    assert heights[0] < 150 < heights[1] <= 560


@pytest.mark.parametrize("side", ["request", "response"])
def test_a_raw_body_is_downloaded_as_it_was_transferred(tab: LogPage, world: World, side: str) -> None:
    [sent] = world.log(Call(text="Download me"))
    drawer = tab.open_request(sent)
    with tab.page.expect_download() as started:
        drawer.get_by_role("link", name=f"Download the {side}, decoded").click()
    assert started.value.path().read_bytes() == world.server.body(sent, side)


def test_an_image_in_a_message_is_shown_from_the_stored_body(tab: LogPage, world: World) -> None:
    url = f"data:image/png;base64,{base64.b64encode(png()).decode()}"
    content = [{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": url}}]
    [sent] = world.log(Call(more={"messages": [{"role": "user", "content": content}]}))
    picture = tab.open_request(sent).get_by_role("article", name="user").locator("img")
    expect(picture).to_be_visible()
    assert picture.evaluate("(image) => image.naturalWidth") == 1


def test_audio_in_a_message_can_be_played_and_a_page_in_its_place_cannot_run(tab: LogPage, world: World) -> None:
    sound = (
        b"RIFF\xa4\x1f\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x40\x1f\0\0\1\0\x08\0data\x80\x1f\0\0" + b"\x80" * 8064
    )
    pages = (b"<!doctype html><script>window.sung = true</script>", b"ID3<script>window.sung = true</script>")
    parts = [
        {"type": "input_audio", "input_audio": {"data": base64.b64encode(data).decode(), "format": "wav"}}
        for data in (sound, *pages)
    ]
    [sent] = world.log(Call(more={"messages": [{"role": "user", "content": parts}]}))
    message = tab.open_request(sent).get_by_role("article", name="user")
    player = message.locator("audio").first
    expect(player).to_have_js_property("duration", 1.008)
    player.evaluate("async (audio) => { audio.muted = true; await audio.play(); }")
    expect(message).to_contain_text("audio, wav, 50 B")
    expect(message).to_contain_text("which this browser cannot play")
    assert tab.state("window.sung") is None


def test_a_conversation_with_tools_shows_the_calls_and_their_results(tab: LogPage, world: World) -> None:
    called = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city":"Rome"}'}}
    messages: list[Any] = [{"role": "system", "content": "Be short."}]
    messages += [{"role": "user", "content": f"Turn {turn}"} for turn in range(8)]
    messages += [
        {"role": "assistant", "content": None, "tool_calls": [called]},
        {"role": "tool", "tool_call_id": "call_1", "content": json.dumps({"celsius": 21})},
    ]
    [sent] = world.log(Call(more={"messages": messages}))
    drawer = tab.open_request(sent)
    result = drawer.get_by_role("article", name="weather → result")
    expect(result).to_contain_text(re.compile(r"ƒ\s*weather\(.*Rome.*celsius", re.DOTALL))
    expect(drawer.get_by_text("Turn 0")).to_have_count(0)
    drawer.get_by_role("button", name="earlier messages").click()
    expect(drawer.get_by_text("Turn 0")).to_be_visible()
    expect(drawer.get_by_text("Be short.")).to_be_visible()
    drawer.get_by_role("button", name="earlier messages").first.click()
    expect(drawer.get_by_text("Turn 0")).to_have_count(0)


def test_the_response_to_a_long_prompt_is_on_the_first_screen_and_r_goes_to_it(tab: LogPage, world: World) -> None:
    rules = "\n".join(f"Rule {number}: be precise." for number in range(60))
    clauses = "\n\n".join(f"{number}. The party shall deliver within {number} days." for number in range(3_500))
    messages = [{"role": "system", "content": rules}, {"role": "user", "content": clauses}]
    [sent] = world.log(Call(more={"messages": messages}))
    drawer = tab.open_request(sent)
    response = drawer.get_by_role("heading", name="response")
    expect(response).to_be_in_viewport()
    drawer.get_by_role("button", name="Show all 6,999 lines").click()
    expect(response).not_to_be_in_viewport()
    tab.press("r")
    expect(response).to_be_in_viewport()
    expect(drawer.get_by_role("button", name="Response", exact=True)).to_have_attribute("aria-current", "true")


def test_each_of_several_outputs_can_be_shown(tab: LogPage, world: World) -> None:
    [sent] = world.log(Call(more={"n": 3}))
    response = tab.open_request(sent).get_by_role("article", name="response")
    expect(response).to_contain_text("output 1 of 3")
    response.get_by_role("button", name="Next output").click()
    expect(response).to_contain_text("output 2 of 3")


def test_embeddings_show_their_inputs_and_the_number_of_vectors(tab: LogPage, world: World) -> None:
    inputs = ["first text", "second text"]
    raw = world.client.embeddings.with_raw_response.create(model="text-embedding-3-small", input=inputs)
    sent = str(raw.headers["service-request-id"])
    world.wait_for([sent])
    drawer = tab.open_request(sent)
    expect(drawer.get_by_role("article", name="input 2")).to_contain_text("second text")
    expect(drawer.get_by_role("article", name="response")).to_contain_text(re.compile(r"2 vectors of \d+ numbers"))


def test_markdown_is_rendered_and_its_text_and_all_fields_are_available(tab: LogPage, world: World) -> None:
    [sent] = world.log(Call(directives={"Text": as_directive("## Plan\n\n- **one**\n- two\n\n|a|b|\n|-|-|\n|1|2|")}))
    response = tab.open_request(sent).get_by_role("article", name="response")
    expect(response.get_by_role("heading", name="Plan")).to_be_visible()
    expect(response.get_by_role("listitem")).to_have_count(2)
    expect(response.get_by_role("cell", name="2")).to_be_visible()
    response.get_by_role("button", name="Text", exact=True).click()
    expect(response).to_contain_text("- **one**")
    response.get_by_role("button", name="All fields", exact=True).click()
    expect(response).to_contain_text('"finish_reason"')


def test_a_request_without_bodies_shows_the_reason(tab: LogPage, world: World) -> None:
    [sent] = world.log(Call(text="A secret", namespace="private", headers={"Service-Log": "no-bodies"}))
    tab.open_log("/requests?namespace=private")
    assert "A secret" not in tab.row(sent).inner_text()
    drawer = tab.open_request(sent)
    expect(drawer).to_contain_text("logged without bodies")
    assert "A secret" not in drawer.inner_text()
