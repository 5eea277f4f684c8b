"""The thread page shows conversations in chronological order, with only the new messages of each request."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Locator, Route
from tests.e2e.conftest import OpenTab
from tests.e2e.log_page import LogPage
from tests.e2e.world import Call, World, as_directive, world_in
from tests.support.axe import check_accessibility
from tests.support.browser import expect, needs_chromium

pytestmark = needs_chromium

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
FITS = "document.scrollingElement.scrollWidth <= document.documentElement.clientWidth"
USER: Final = "user-8f3a41c9d2e7"
BUSY: Final = "user-00000042"
THREAD: Final = f"/thread?namespace={USER}"
#: More conversations than the first page of requests contains.
MANY: Final = 64
#: JavaScript that grows a turn far above in twelve steps. It returns how many pixels the visible turn moved.
GROW_ABOVE: Final = """async () => {
  const painted = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const settled = async () => { for (let frames = 0; frames < 30; frames++) await painted(); };
  const edge = document.querySelector("[data-scroller]").getBoundingClientRect().top;
  const all = [...document.querySelectorAll("[data-request]")];
  await settled();
  const read = all.find((turn) => turn.getBoundingClientRect().top >= edge);
  const before = read.getBoundingClientRect().top;
  for (let step = 1; step <= 12; step++) {
    all[0].style.paddingTop = `${step * 10.4}px`;
    await painted();
  }
  await settled();
  return read.getBoundingClientRect().top - before;
}"""
HOSTILE: Final = "Do this:\n\n# Now\n\n<img src=x onerror=alert(1)> ![here](https://evil.example/x.png) **bold**"


@pytest.fixture(scope="module")
def log(world: World) -> list[str]:
    """Return the ids of requests in one namespace.

    They are a conversation of three turns, a failed message with two retries, and one request without bodies. The log
    also has requests of another namespace.
    """
    conversation = world.talk(USER, "Question one", "Question two", "Question three")
    question = Call(namespace=USER, text="Is it raining?", properties={"session": "s-1"})
    failed = world.send(Call(namespace=USER, text="Is it raining?", directives={"Status": "429"}))
    responded = [world.send(question), world.send(question)]
    hidden = world.send(Call(namespace=USER, text="My secret", headers={"Service-Log": "no-bodies"}))
    ids = [*conversation, failed, *responded, hidden]
    world.log_many(Call(namespace="production", text=f"Single {number}") for number in range(8))
    world.wait_for(ids)
    return ids


@pytest.fixture(scope="module")
def long(world: World, log: list[str]) -> list[str]:
    """Return the request ids of a thread. It has long responses, and more requests than its first page."""
    text = as_directive(
        "\n\n".join(f"Paragraph {number} of a long answer, long enough for a line." for number in range(6))
    )
    calls = [Call(namespace=BUSY, text=f"Question {number:03}", directives={"Text": text}) for number in range(MANY)]
    return world.log(*calls)


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[World]:
    with world_in(tmp_path) as started:
        yield started


def turns(tab: LogPage) -> Locator:
    return tab.page.get_by_role("main").locator("article[data-request]")


def turn(tab: LogPage, request_id: str) -> Locator:
    return tab.page.get_by_role("main").locator(f'article[data-request="{request_id}"]')


def open_thread(tab: LogPage, path: str = THREAD) -> LogPage:
    tab.show(path)
    expect(turns(tab).last).to_be_visible()
    return tab


def top_of(tab: LogPage, request_id: str) -> float:
    box = turn(tab, request_id).bounding_box()
    assert box is not None
    return box["y"]


def expect_top(tab: LogPage, request_id: str, top: float) -> None:
    """Wait until the turn is at this position and has stayed there for several frames."""
    script = """([id, top]) => {
      const { y } = document.querySelector(`[data-request="${id}"]`).getBoundingClientRect();
      window.framesThere = Math.abs(y - top) <= 2 ? (window.framesThere ?? 0) + 1 : 0;
      return window.framesThere > 10;
    }"""
    tab.page.evaluate("window.framesThere = 0")
    tab.page.wait_for_function(script, arg=[request_id, top], timeout=10_000)


# -- reading -----------------------------------------------------------------------------------------------------------


def test_a_conversation_of_three_turns_shows_each_message_once(shared_tab: LogPage, log: list[str]) -> None:
    tab = open_thread(shared_tab)
    main = tab.page.get_by_role("region", name="Conversations", exact=True)
    for question in ("Question one", "Question two", "Question three"):
        expect(main.get_by_text(question, exact=True)).to_have_count(1)
        expect(main.get_by_text(f"Answer to {question}", exact=True)).to_have_count(1)
    expect(turn(tab, log[1])).to_contain_text("Question two")
    expect(turn(tab, log[1])).to_contain_text("Answer to Question two")
    expect(main.get_by_text("Be brief, whatever they ask.")).to_have_count(1)


def test_a_retried_message_has_its_response_below_it_and_a_repeated_one_takes_one_line(
    shared_tab: LogPage, log: list[str]
) -> None:
    failed, responded, retried = log[3:6]
    tab = open_thread(shared_tab)
    expect(turn(tab, failed)).to_contain_text("Is it raining?")
    expect(turn(tab, failed)).to_contain_text("The upstream returned 429")
    expect(turn(tab, responded)).to_contain_text("Retry after a failure")
    expect(turn(tab, responded)).not_to_contain_text("Is it raining?")
    expect(turn(tab, responded).get_by_role("heading", name="assistant")).to_be_visible()
    expect(turn(tab, retried).get_by_role("heading")).to_have_count(0)
    turn(tab, retried).get_by_role("button", name="Same prompt again: show").click()
    expect(turn(tab, retried).get_by_role("heading", name="assistant")).to_be_visible()


def test_a_thread_shows_its_totals(shared_tab: LogPage, log: list[str]) -> None:
    tab = open_thread(shared_tab)
    main = tab.page.get_by_role("main")
    for words in ("requests7", "failed1", "first", "last"):
        expect(main).to_contain_text(words)
    expect(main.get_by_role("link", name=f"Filter by namespace {USER}")).to_be_visible()


def test_missing_bodies_are_reported(shared_tab: LogPage, log: list[str]) -> None:
    tab = open_thread(shared_tab)
    expect(turn(tab, log[6])).to_contain_text(
        "Not stored, because this request was logged without bodies (setting log or header Service-Log)."
    )


def test_a_value_of_a_property_is_a_thread_too(shared_tab: LogPage, log: list[str]) -> None:
    tab = open_thread(shared_tab, "/thread?property.session=s-1")
    expect(turns(tab)).to_have_count(2)
    expect(tab.page.get_by_role("link", name="Filter by session s-1")).to_be_visible()


def test_a_notice_says_that_unrelated_requests_are_not_a_conversation(shared_tab: LogPage, log: list[str]) -> None:
    tab = open_thread(shared_tab, "/thread?namespace=production")
    main = tab.page.get_by_role("main")
    expect(main).to_contain_text("Most of these requests are not part of a conversation")
    main.get_by_role("link", name="Show requests", exact=True).click()
    tab.wait_for_path("/requests")
    tab.wait_for_query(("namespace", "production"))


def test_hostile_responses_are_harmless_in_a_thread(empty: World, open_tab: OpenTab) -> None:
    empty.log(Call(namespace=USER, text="<script>alert(1)</script>", directives={"Text": as_directive(HOSTILE)}))
    tab = open_thread(open_tab(empty.dashboard))
    expect(turns(tab).first.locator("strong")).to_have_text("bold")
    expect(turns(tab).first).to_contain_text("image at evil.example (not loaded): here")
    expect(turns(tab).first).to_contain_text("<script>alert(1)</script>")
    assert turns(tab).first.locator("img, script").count() == 0


# -- the scroll position -----------------------------------------------------------------------------------------------


def test_a_thread_starts_at_its_end_and_earlier_requests_are_added_above(tab: LogPage, long: list[str]) -> None:
    open_thread(tab, f"/thread?namespace={BUSY}")
    expect(turn(tab, long[-1])).to_contain_text("Paragraph 5")
    expect(turn(tab, long[-1])).to_be_in_viewport()
    expect(turn(tab, long[0])).to_have_count(0)
    scroller = tab.page.get_by_role("region", name="Conversations")
    scroller.evaluate("(one) => { one.scrollTop = 0; }")
    first = long[-60]
    expect(turn(tab, first)).to_contain_text("Paragraph 5")
    before = top_of(tab, first)
    tab.page.get_by_role("button", name="Load earlier requests").click()
    expect(tab.page.get_by_text("No earlier requests.")).to_be_attached()
    expect(turns(tab)).to_have_count(MANY)
    expect_top(tab, first, before)
    expect(turn(tab, long[-61])).to_contain_text("Paragraph 5")
    expect_top(tab, first, before)


def test_growth_by_fractions_of_a_pixel_above_moves_the_visible_turn_by_less_than_one(
    tab: LogPage, long: list[str]
) -> None:
    open_thread(tab, f"/thread?namespace={BUSY}")
    expect(turn(tab, long[-1])).to_contain_text("Paragraph 5")
    tab.page.get_by_role("region", name="Conversations").evaluate("(one) => { one.scrollTop -= 2000; }")
    moved = tab.page.evaluate(GROW_ABOVE)
    assert abs(moved) < 1


def test_back_from_a_request_returns_to_its_turn(tab: LogPage, long: list[str]) -> None:
    open_thread(tab, f"/thread?namespace={BUSY}")
    wanted = long[-30]
    turn(tab, wanted).get_by_role("link", name="Open turn 1").click()
    tab.wait_for_path(f"/requests/{wanted}")
    expect(tab.drawer).to_be_visible()
    tab.page.go_back()
    tab.wait_for_path("/thread")
    expect(turn(tab, wanted)).to_be_focused()
    expect(turn(tab, wanted)).to_be_in_viewport()
    expect(turn(tab, long[-1])).not_to_be_in_viewport()


def test_a_request_that_was_opened_from_the_thread_is_closed_to_its_turn(tab: LogPage, log: list[str]) -> None:
    open_thread(tab)
    expect(turn(tab, log[-1])).to_be_in_viewport()
    tab.press("k", "Enter")
    tab.wait_for_path(f"/requests/{log[-1]}")
    expect(tab.drawer.locator(":focus")).to_have_count(1)
    # The request is the latest, so nothing is above it.
    tab.wait_for_first(log[-1])
    expect(tab.page.locator("[data-log] tbody tr").first).to_have_attribute("data-request", log[-1])
    expect(tab.page.get_by_role("button", name="most recent")).to_have_count(0)
    tab.press("j")
    tab.wait_for_path(f"/requests/{log[-2]}")
    tab.press("Escape")
    tab.wait_for_path("/thread")
    expect(turn(tab, log[-1])).to_be_focused()


def test_a_request_that_was_opened_beside_one_of_the_thread_is_closed_to_the_log(tab: LogPage, log: list[str]) -> None:
    open_thread(tab)
    expect(turn(tab, log[-1])).to_be_in_viewport()
    tab.press("k", "Enter")
    tab.wait_for_path(f"/requests/{log[-1]}")
    tab.row(log[-2]).locator("a[data-open]").click()
    tab.wait_for_path(f"/requests/{log[-2]}")
    tab.press("Escape")
    tab.wait_for_path("/requests")


def test_a_request_that_ends_while_the_user_is_at_the_end_appears_there(empty: World, open_tab: OpenTab) -> None:
    tab = open_tab(empty.dashboard).open(THREAD)
    expect(tab.page.get_by_role("main")).to_contain_text(f"No requests in namespace {USER}.")
    check_accessibility(tab.page)
    empty.talk(USER, "Question one", "Question two")
    expect(turns(tab)).to_have_count(2)
    expect(turns(tab).last).to_contain_text("Answer to Question two")


def test_a_request_that_ends_while_the_user_is_elsewhere_is_held_back(empty: World, open_tab: OpenTab) -> None:
    empty.talk(USER, *["A question.\n" * 40 + str(number) for number in range(3)])
    tab = open_thread(open_tab(empty.dashboard))
    expect(turns(tab).last.get_by_role("button", name="show all").first).to_be_visible()
    # While messages are being folded, the page moves what the user sees back to its place.
    tab.page.wait_for_function("""() => new Promise((resolve) => {
      const scroller = document.querySelector("[data-scroller]");
      scroller.scrollTop = 0;
      requestAnimationFrame(() => requestAnimationFrame(() => resolve(scroller.scrollTop === 0)));
    })""")
    empty.log(Call(namespace=USER, text="Are you there?"))
    news = tab.page.get_by_role("button", name="1 newer request")
    expect(news).to_be_visible()
    expect(turns(tab)).to_have_count(3)
    news.click()
    expect(turns(tab).last).to_contain_text("Are you there?")
    expect(turns(tab).last).to_be_in_viewport()
    expect(news).to_have_count(0)


# -- navigation --------------------------------------------------------------------------------------------------------


def test_t_in_the_drawer_opens_the_thread_at_this_request(tab: LogPage, log: list[str]) -> None:
    tab.open_request(log[1])
    link = tab.drawer.get_by_role("link", name="open conversation")
    expect(link).to_have_attribute("href", f"{THREAD}#{log[1]}")
    tab.press("t")
    tab.wait_for_path("/thread")
    tab.wait_for_query(("namespace", USER))
    expect(turn(tab, log[1])).to_be_focused()
    tab.page.go_back()
    tab.wait_for_path(f"/requests/{log[1]}")
    link.click()
    tab.wait_for_path("/thread")


def test_the_filter_bar_of_the_log_links_to_the_thread_of_its_namespace(tab: LogPage, log: list[str]) -> None:
    tab.open_log(f"/requests?namespace={USER}")
    link = tab.page.get_by_role("link", name="Conversation view")
    link.click()
    tab.wait_for_path("/thread")
    tab.wait_for_query(("namespace", USER))


def test_the_drawer_shows_the_number_of_the_turn_and_the_earlier_messages(tab: LogPage, log: list[str]) -> None:
    drawer = tab.open_request(log[2])
    link = drawer.get_by_role("link", name="Turn 3 of 3 · open conversation")
    expect(link).to_have_attribute("href", f"{THREAD}#{log[2]}")
    expect(drawer.get_by_role("article")).to_have_count(2)
    drawer.get_by_role("button", name="Show 5 earlier messages, turns 1 to 2").click()
    articles = drawer.get_by_role("article")
    expect(articles).to_have_count(7)
    expect(articles.filter(has_text="turn 1")).to_have_count(3)
    expect(articles.filter(has_text="turn 2")).to_have_count(2)
    drawer.get_by_role("button", name="turn 2", exact=True).click()
    tab.wait_for_path(f"/requests/{log[1]}")
    expect(drawer.get_by_role("link", name="Turn 2 of 3")).to_be_visible()
    drawer.get_by_role("button", name="turn 3", exact=True).click()
    tab.wait_for_path(f"/requests/{log[2]}")
    link.click()
    tab.wait_for_path("/thread")
    expect(turn(tab, log[2])).to_be_focused()


def test_the_turns_of_a_thread_are_requested_once(tab: LogPage, log: list[str]) -> None:
    question: list[str] = []
    tab.page.on("request", lambda request: question.append(request.url) if "/api/thread" in request.url else None)
    tab.open_log(f"/requests?namespace={USER}")
    tab.select(log[2])
    tab.press("Enter")
    expect(tab.drawer.get_by_role("link", name="Turn 3 of 3")).to_be_visible()
    tab.press("j")
    expect(tab.drawer.get_by_role("link", name="Turn 2 of 3")).to_be_visible()
    assert len(question) == 1


def test_a_log_filtered_by_one_property_value_links_to_its_thread(tab: LogPage, log: list[str]) -> None:
    tab.open(f"/requests/{log[4]}?property.session=s-1")
    link = tab.drawer.get_by_role("link", name="open conversation")
    expect(link).to_have_attribute("href", f"/thread?property.session=s-1#{log[4]}")


def test_a_request_leads_to_the_thread_of_its_session(empty: World, open_tab: OpenTab) -> None:
    sessions = ("0199a213-81c0-7800-8aa1-bbab2a035a53", "0199a214-1d7e-7c40-9f3e-52d1c8a7b9e0")
    first, second = (
        empty.talk("agents", "Fix the test", "Thanks", headers={"session-id": session, "thread-id": session})
        for session in sessions
    )
    tab = open_tab(empty.dashboard)
    drawer = tab.open_request(second[1])
    expect(drawer.get_by_role("link", name=f"Filter by session {sessions[1]}")).to_be_visible()
    drawer.get_by_role("link", name="Turn 2 of 2 · open conversation").click()
    tab.wait_for_path("/thread")
    tab.wait_for_query(("session", sessions[1]))
    expect(turns(tab)).to_have_count(2)
    expect(turn(tab, second[1])).to_be_focused()
    expect(turn(tab, first[1])).to_have_count(0)
    tab.page.get_by_role("main").get_by_role("link", name=f"Filter by session {sessions[1]}").click()
    tab.wait_for_query(("session", sessions[1]))
    tab.wait_for_rows(2)


def test_a_thread_can_be_used_by_keyboard(tab: LogPage, log: list[str]) -> None:
    open_thread(tab)
    expect(turn(tab, log[-1])).to_be_in_viewport()
    tab.press("k")
    expect(turn(tab, log[-1])).to_be_focused()
    tab.press("k", "k", "j")
    expect(turn(tab, log[-2])).to_be_focused()
    tab.press("Enter")
    tab.wait_for_path(f"/requests/{log[-2]}")
    assert tab.query == [("namespace", USER)]
    expect(tab.drawer).to_be_visible()
    tab.page.go_back()
    expect(turn(tab, log[-2])).to_be_focused()
    tab.press("Escape")
    tab.wait_for_path("/requests")
    tab.wait_for_query(("namespace", USER))


def test_while_the_outline_is_loaded_the_conversation_stays(tab: LogPage, log: list[str]) -> None:
    held: list[Route] = []
    tab.page.route("**/outline-*.js", lambda route: held.append(route))
    with tab.page.expect_request("**/outline-*.js"):
        open_thread(tab)
    expect(turn(tab, log[-1])).to_be_visible()
    tab.press("k")
    expect(turn(tab, log[-1])).to_be_focused()
    held[0].continue_()
    expect(tab.page.get_by_role("navigation", name="Turns")).to_be_visible()


def test_a_value_in_a_thread_filters_the_log_of_this_thread(shared_tab: LogPage, log: list[str]) -> None:
    tab = open_thread(shared_tab)
    turn(tab, log[3]).get_by_role("link", name=re.compile("^Filter by result rate limited")).click()
    tab.wait_for_query(("namespace", USER), ("result", "rate_limited"))
    tab.wait_for_rows(1)


def test_an_invalid_address_is_explained(tab: LogPage, log: list[str]) -> None:
    tab.guard.expect("status of 400")
    tab.open("/thread?model=gpt-4o")
    alert = tab.page.get_by_role("main").get_by_role("alert")
    expect(alert).to_contain_text("This URL does not select a conversation.")
    alert.get_by_role("button", name="All namespaces").click()
    tab.wait_for_path("/namespaces")


# -- small screens -----------------------------------------------------------------------------------------------------


def test_at_390_pixels_a_thread_fits_and_links_work(open_tab: OpenTab, world: World, log: list[str]) -> None:
    tab = open_thread(open_tab(world.dashboard, **PHONE))
    expect(turn(tab, log[6])).to_contain_text("Not stored")
    assert tab.state(FITS)
    turn(tab, log[2]).get_by_role("link", name="Open turn 3").tap()
    tab.wait_for_path(f"/requests/{log[2]}")
