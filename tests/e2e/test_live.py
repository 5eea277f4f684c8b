"""Live updates of the open page: requests appear, run and end. New rows are held back while the user reads."""

import re
import time
from collections.abc import Callable
from uuid import uuid4

import pytest
from tests.e2e.log_page import LogPage
from tests.e2e.world import Call, World, as_directive
from tests.support.browser import expect, needs_chromium

pytestmark = needs_chromium

#: JavaScript that records when each row is added to the document and when its request has ended (wall clock).
_WATCH = """
() => {
  window.seenAt = {};
  const look = () => {
    for (const row of document.querySelectorAll("[data-log] tr[data-request]")) {
      const key = `${row.dataset.request} ${row.dataset.outcome === "open" ? "open" : "ended"}`;
      window.seenAt[key] ??= Date.now();
    }
  };
  new MutationObserver(look).observe(document.body, { childList: true, subtree: true, attributes: true });
}
"""
RESPONSE = " ".join(f"word{number}" for number in range(60))


@pytest.fixture
def namespace(world: World) -> str:
    """Return a new namespace with one request."""
    name = f"live-{uuid4().hex[:8]}"
    world.log(Call(namespace=name, text="the first"))
    return name


def slow(namespace: str, per_second: int = 20) -> Call:
    directives = {"Text": as_directive(RESPONSE), "Tokens-Per-Second": str(per_second)}
    return Call(namespace=namespace, text="Tell me a long story", directives=directives)


def test_a_request_appears_on_the_open_page_automatically(tab: LogPage, world: World, namespace: str) -> None:
    tab.open_log(f"/requests?namespace={namespace}")
    tab.point_nowhere()
    tab.state(_WATCH)
    waited = []
    for number in range(2):
        sent = world.send(Call(namespace=namespace, text=f"request {number}"))
        returned_at = time.time() * 1000
        expect(tab.row(sent)).to_be_visible()
        tab.wait_for_first(sent)
        expect(tab.row(sent)).to_have_attribute("data-outcome", "complete")
        waited.append(tab.state("(id) => window.seenAt[`${id} ended`]", sent) - returned_at)
    print(f"from the SDK's return to the row: {', '.join(f'{ms:.0f}' for ms in waited)} ms")


def test_a_new_row_shows_prompt_response_tokens_and_tags(tab: LogPage, world: World, namespace: str) -> None:
    tab.open_log(f"/requests?namespace={namespace}")
    tab.point_nowhere()
    call = Call(
        namespace=namespace,
        text="What is the capital of Peru?",
        properties={"channel": "iOS", "feature": "search"},
        directives={"Text": "Lima."},
    )
    row = tab.row(world.send(call))
    expect(row).to_contain_text("What is the capital of Peru?")
    expect(row).to_contain_text("Lima.")
    expect(row).to_contain_text("✓ 200")
    expect(row).to_contain_text("gpt-4o-mini")
    expect(row.get_by_title("feature: search")).to_be_visible()


def test_a_running_stream_appears_before_it_ends_and_its_row_changes_in_place(
    tab: LogPage, world: World, namespace: str
) -> None:
    tab.open_log(f"/requests?namespace={namespace}")
    tab.point_nowhere()
    stream = world.stream(slow(namespace))
    row = tab.row(stream.id)
    expect(row).to_have_attribute("data-outcome", "open")
    expect(row).to_contain_text("◐ Running")
    expect(row).to_contain_text("word1")
    before = tab.top_of(stream.id)
    stream.read()
    expect(row).to_have_attribute("data-outcome", "complete")
    expect(row).to_contain_text("✓ 200")
    assert tab.top_of(stream.id) == pytest.approx(before, abs=1)
    assert tab.ids().count(stream.id) == 1


def test_the_response_of_a_running_stream_grows_in_the_drawer(tab: LogPage, world: World, namespace: str) -> None:
    tab.open_log(f"/requests?namespace={namespace}")
    tab.point_nowhere()
    stream = world.stream(slow(namespace, per_second=15))
    tab.row(stream.id).get_by_role("link", name=re.compile("^Open the request")).click()
    expect(tab.drawer).to_contain_text("Running for")
    expect(tab.drawer).to_contain_text("word1 ")
    assert "word59" not in tab.drawer.inner_text()
    seen = len(tab.drawer.inner_text())
    grown = "(length) => document.querySelector('[data-drawer]').innerText.length > length + 20"
    tab.page.wait_for_function(grown, arg=seen)
    stream.read()
    expect(tab.drawer).to_contain_text("word59")
    expect(tab.drawer).to_contain_text("Complete")
    expect(tab.drawer).not_to_contain_text("Running for")


def test_a_request_abandoned_by_its_client_is_shown_with_the_response_so_far(
    tab: LogPage, world: World, namespace: str
) -> None:
    tab.open_log(f"/requests?namespace={namespace}")
    tab.point_nowhere()
    stream = world.stream(slow(namespace))
    heard = stream.read(chunks=8)
    stream.abandon()
    row = tab.row(stream.id)
    expect(row).to_contain_text("◌ Client disconnected")
    row.get_by_role("link", name=re.compile("^Open the request")).click()
    expect(tab.drawer).to_contain_text("The client disconnected after")
    expect(tab.drawer).to_contain_text(heard.strip())
    assert "word59" not in tab.drawer.inner_text()


def _pointer_on_the_table(tab: LogPage) -> None:
    tab.rows.first.locator("td").nth(4).hover()


def _a_row_selected(tab: LogPage) -> None:
    tab.point_nowhere()
    tab.press("j")


@pytest.mark.parametrize("reads", [_pointer_on_the_table, _a_row_selected])
def test_rows_do_not_move_while_the_user_reads_and_new_ones_wait(
    tab: LogPage, world: World, namespace: str, reads: Callable[[LogPage], None]
) -> None:
    tab.open_log(f"/requests?namespace={namespace}")
    [first] = tab.ids()
    reads(tab)
    before = tab.top_of(first)
    sent = [world.send(Call(namespace=namespace)) for _ in range(3)]
    news = tab.page.get_by_role("button", name="3 new")
    expect(news).to_be_visible()
    assert tab.top_of(first) == before
    assert tab.ids() == [first]
    news.click()
    tab.wait_for_first(sent[-1])
    tab.wait_for_rows(4)
    expect(news).to_have_count(0)


def test_a_running_row_changes_in_place_while_new_ones_wait(tab: LogPage, world: World, namespace: str) -> None:
    tab.open_log(f"/requests?namespace={namespace}")
    tab.point_nowhere()
    stream = world.stream(slow(namespace))
    expect(tab.row(stream.id)).to_contain_text("Running")
    _pointer_on_the_table(tab)
    world.send(Call(namespace=namespace))
    expect(tab.page.get_by_role("button", name="1 new")).to_be_visible()
    before = tab.top_of(stream.id)
    stream.read()
    expect(tab.row(stream.id)).to_contain_text("✓ 200")
    assert tab.top_of(stream.id) == before


def test_l_pauses_and_the_address_shows_it(tab: LogPage, world: World, namespace: str) -> None:
    tab.open_log(f"/requests?namespace={namespace}")
    tab.point_nowhere()
    tab.press("l")
    tab.wait_for_query(("namespace", namespace), ("live", "off"))
    expect(tab.page.get_by_role("button", name=re.compile("paused"))).to_be_visible()
    [sent] = world.log(Call(namespace=namespace))
    other = tab.new_tab().open_log(f"/requests?namespace={namespace}")
    other.wait_for_first(sent)
    assert sent not in tab.ids()
    tab.page.bring_to_front()
    tab.press("l")
    tab.wait_for_query(("namespace", namespace))
    expect(tab.row(sent)).to_be_visible()
