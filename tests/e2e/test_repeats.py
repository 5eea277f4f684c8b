"""A text search shows the turn that said the text, and on request the later turns that repeat it."""

from tests.e2e.conftest import OpenTab
from tests.e2e.world import World
from tests.support.axe import check_accessibility
from tests.support.browser import expect, needs_chromium
from tests.support.server import wait_until

pytestmark = needs_chromium


def test_a_typed_text_finds_the_turn_that_said_it_and_one_click_shows_the_turns_that_repeat_it(
    open_tab: OpenTab, world: World
) -> None:
    turns = world.talk("zoo", "What is new?", "Where is the quokka?", "Is it asleep?", "Does it eat?", "And drink?")
    wait_until(lambda: world.count("words=quokka") == 4, what="the turns in the index")
    tab = open_tab(world.dashboard).set_clock().open_log()
    tab.press("/")
    tab.page.keyboard.type("quokka")
    tab.press("Enter")
    tab.wait_for_query(("said_here", "quokka"))
    tab.wait_for_rows(1)
    assert tab.ids() == [turns[1]]
    expect(tab.filter_bar).to_contain_text("1 request")
    main = tab.page.get_by_role("main")
    expect(main).to_contain_text("3 more requests contain this text only in earlier messages.")
    check_accessibility(tab.page)

    said, repeated = world.talk("zoo", "The quokka is back", "Good")
    wait_until(lambda: world.count("words=quokka") == 6, what="the new turns in the index")
    tab.skip(seconds=6)
    tab.wait_for_rows(2)
    assert tab.ids() == [said, turns[1]]
    expect(tab.filter_bar).to_contain_text("2 requests")
    expect(main).to_contain_text("4 more requests contain this text")

    main.get_by_role("button", name="Show them too").press("Enter")
    tab.wait_for_query(("words", "quokka"))
    tab.wait_for_rows(6)
    assert tab.ids() == [repeated, said, *reversed(turns[1:])]
    expect(tab.filter_bar).to_contain_text("6 requests")
    expect(main).to_contain_text("4 of these requests contain this text only in earlier messages.")
    expect(tab.row(turns[4])).to_contain_text("in earlier messages")
    expect(tab.row(turns[1])).not_to_contain_text("in earlier messages")
    expect(main.get_by_role("button", name="Hide them")).to_be_focused()
    check_accessibility(tab.page)
    tab.press("Enter")
    tab.wait_for_rows(2)
