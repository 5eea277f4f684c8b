"""A typed query finds requests and updates the address, and errors are explained."""

import re
from dataclasses import replace
from urllib.parse import parse_qsl, quote_plus

import pytest
from playwright.sync_api import Locator
from tests.e2e.conftest import OpenTab
from tests.e2e.log_page import LogPage
from tests.e2e.world import Call, World, as_directive
from tests.support.axe import check_accessibility
from tests.support.browser import expect, needs_chromium
from tests.support.server import wait_until

pytestmark = needs_chromium

STORY = " ".join(f"chapter{number}" for number in range(60))


@pytest.fixture(scope="module")
def log(world: World) -> dict[str, str]:
    """Return the ids of requests by topic. Their texts have words that can be searched for."""
    calls = {
        "refund": Call(namespace="production", text="Where is my refund for order 4411?"),
        "refunded": Call(namespace="staging", text="I was refunded twice.", model="gpt-4o"),
        "late": Call(namespace="production", text="My refund is late.", model="gpt-4o"),
        "answer": Call(
            namespace="my channel", text="And in Rome?", directives={"Text": as_directive("Light wind, 21 degrees.")}
        ),
        "other": Call(namespace="web", text="Plan my week", model="o4-mini", properties={"channel": "iOS"}),
    }
    responded = (replace(call, directives={"Text": "Noted."} | call.directives) for call in calls.values())
    ids = dict(zip(calls, world.log(*responded), strict=True))
    wait_for_index(world)
    return ids


def wait_for_index(world: World) -> None:
    """Wait until all records are indexed."""

    def is_whole() -> bool:
        status = world.server.get("/api/status")
        return bool(status["indexed_to"] == status["last_seq"] > 0)

    wait_until(is_whole, what="words indexed")


def box(tab: LogPage) -> Locator:
    return tab.page.get_by_role("combobox", name="Filter the log")


def ask(tab: LogPage, text: str) -> None:
    """Press the shortcut of the query box, type a text, and press Enter."""
    tab.press("/")
    tab.page.keyboard.type(text)
    tab.press("Enter")


def expect_found(tab: LogPage, *ids: str) -> None:
    wait_until(lambda: set(tab.ids()) == set(ids), what=f"{len(ids)} requests found")


def test_words_typed_into_the_query_box_find_the_request_that_contains_them_and_update_the_url(
    shared_tab: LogPage, log: dict[str, str]
) -> None:
    tab = shared_tab.show_log()
    ask(tab, "refund")
    tab.wait_for_query(("said_here", "refund"))
    expect_found(tab, log["refund"], log["late"])
    expect(tab.filter_bar.get_by_role("button", name="Remove new text: refund")).to_be_visible()
    expect(tab.filter_bar).to_contain_text("2 requests")
    expect(box(tab)).to_have_value("")


@pytest.mark.parametrize(
    ("typed", "query", "found", "chip"),
    [
        ("refun*", "begins.said_here=refun", {"refund", "refunded", "late"}, "new text: refun*"),
        ('"my refund"', "said_here=my refund", {"refund", "late"}, 'new text: "my refund"'),
        ('"my ref"*', "begins.said_here=my ref", {"refund", "late"}, 'new text: "my ref"*'),
        ("refund -late", "said_here=refund&not.words=late", {"refund"}, "not text: late"),
        ('refund -"is late"', "said_here=refund&not.words=is late", {"refund"}, 'not text: "is late"'),
        ("wind degrees", "said_here=wind&said_here=degrees", {"answer"}, "new text: degrees"),
        (
            "model:gpt-4o* -refunded",
            "begins.model=gpt-4o&not.words=refunded",
            {"refund", "late", "answer"},
            "model begins with gpt-4o",
        ),
        ("-model:gpt-4o*", "not.begins.model=gpt-4o", {"other"}, "model does not begin with gpt-4o"),
        ("duration:<1h refunded", "duration=<1h&said_here=refunded", {"refunded"}, "duration < 1 h"),
        (
            "input_tokens:<100000 refunded",
            "input_tokens=<100000&said_here=refunded",
            {"refunded"},
            "input tokens < 100,000",
        ),
    ],
)
def test_a_query_finds_its_requests_and_each_part_is_a_chip(
    shared_tab: LogPage, log: dict[str, str], typed: str, query: str, found: set[str], chip: str
) -> None:
    tab = shared_tab.show_log()
    tab.wait_for_rows(len(log))
    ask(tab, typed)
    tab.wait_for_query(*parse_qsl(query))
    expect_found(tab, *(log[each] for each in found))
    expect(tab.filter_bar.get_by_role("button", name=f"Remove {chip}", exact=True)).to_be_visible()


def test_each_term_of_a_query_is_a_parameter(shared_tab: LogPage, log: dict[str, str]) -> None:
    tab = shared_tab.show_log()
    ask(tab, 'refund namespace:production -model:o1 -late namespace:"my channel"')
    tab.wait_for_query(
        ("said_here", "refund"),
        ("not.model", "o1"),
        ("not.words", "late"),
        ("namespace", "production"),
        ("namespace", "my channel"),
    )
    expect_found(tab, log["refund"])


def test_a_query_in_a_link_is_replaced_by_parameters_and_back_skips_it(tab: LogPage, log: dict[str, str]) -> None:
    tab.open_log("/requests?namespace=web")
    tab.open_log(f"/requests?namespace=production&q={quote_plus('refund -late')}&live=off")
    tab.wait_for_query(("namespace", "production"), ("words", "refund"), ("not.words", "late"), ("live", "off"))
    expect_found(tab, log["refund"])
    expect(tab.filter_bar.get_by_role("button", name="Remove not text: late")).to_be_visible()
    tab.page.go_back()
    tab.wait_for_query(("namespace", "web"))


def test_a_query_in_a_link_that_repeats_a_field_stays_one_chip(tab: LogPage, log: dict[str, str]) -> None:
    tab.open_log(f"/requests?model=gpt-4o&q={quote_plus('model:gpt-4o* late')}")
    expect_found(tab, log["late"])
    assert tab.query == [("model", "gpt-4o"), ("q", "model:gpt-4o* late")]
    tab.filter_bar.get_by_role("button", name="Remove query is model:gpt-4o* late").click()
    tab.wait_for_query(("model", "gpt-4o"))
    expect_found(tab, log["late"], log["refunded"])


def test_parts_are_removed_one_by_one_with_their_button_backspace_or_back(tab: LogPage, log: dict[str, str]) -> None:
    tab.open_log()
    ask(tab, "namespace:production refund -late")
    tab.wait_for_query(("namespace", "production"), ("said_here", "refund"), ("not.words", "late"))
    tab.filter_bar.get_by_role("button", name="Remove new text: refund").click()
    tab.wait_for_query(("namespace", "production"), ("not.words", "late"))
    expect_found(tab, log["refund"])
    tab.press("Backspace")
    tab.wait_for_query(("namespace", "production"))
    expect_found(tab, log["refund"], log["late"])
    tab.page.go_back()
    tab.wait_for_query(("namespace", "production"), ("not.words", "late"))
    expect_found(tab, log["refund"])


def test_a_link_to_a_search_shows_the_same_in_another_browser(
    tab: LogPage, open_tab: OpenTab, world: World, log: dict[str, str]
) -> None:
    tab.open_log()
    ask(tab, 'refund duration:<1h -"not yet"')
    tab.wait_for_query(("said_here", "refund"), ("duration", "<1h"), ("not.words", "not yet"))
    link = tab.page.url.removeprefix(world.dashboard)
    assert link == "/requests?said_here=refund&duration=%3C1h&not.words=not+yet"
    other = open_tab(world.dashboard).open_log(link)
    expect_found(other, log["refund"], log["late"])
    assert other.page.url.endswith(link)


@pytest.mark.parametrize(
    ("text", "why"),
    [("model:", "'model:': "), ("foo:bar", "'foo:bar': "), ("refund duration:fast", "'duration:fast': ")],
)
def test_an_invalid_query_in_the_address_is_shown_in_the_box_and_filters_nothing(
    tab: LogPage, log: dict[str, str], text: str, why: str
) -> None:
    tab.guard.expect("status of 400")
    tab.open_log(f"/requests?namespace=production&q={quote_plus(text)}")
    expect(box(tab)).to_have_value(text)
    expect(tab.page.get_by_role("alert")).to_contain_text(why)
    expect(tab.page.get_by_role("alert")).to_contain_text("The log is shown without this query.")
    expect_found(tab, log["refund"], log["late"])
    expect(tab.filter_bar.get_by_role("button", name="Remove namespace is production")).to_be_visible()
    expect(tab.filter_bar.get_by_role("button", name=re.compile("^Remove (?!last filter$)"))).to_have_count(1)
    expect(tab.filter_bar).to_contain_text("2 requests")
    check_accessibility(tab.page)
    box(tab).fill("refund")
    expect(tab.page.get_by_role("alert")).to_have_count(0)
    tab.press("Enter")
    tab.wait_for_query(("namespace", "production"), ("said_here", "refund"))
    expect(tab.filter_bar.get_by_role("button", name="Remove new text: refund")).to_be_visible()
    expect(box(tab)).to_have_value("")
    tab.page.go_back()
    expect(box(tab)).to_have_value(text)


def test_selecting_a_value_in_search_results_keeps_the_search_and_the_row_in_place(
    tab: LogPage, log: dict[str, str]
) -> None:
    tab.open_log("/requests?begins.words=refun")
    before = tab.top_of(log["refunded"])
    tab.chip(log["refunded"], "namespace staging").click()
    tab.wait_for_query(("begins.words", "refun"), ("namespace", "staging"))
    expect_found(tab, log["refunded"])
    tab.wait_for_top(log["refunded"], before)


@pytest.mark.parametrize(
    ("typed", "part", "right"),
    [
        ("refund duration:fast", "duration:fast", "such as >2s"),
        ("refund nmespace:x", "nmespace:x", "is not a known name"),
        ('refund "not closed', "not closed", "the closing quote is missing"),
        ("status:banana", "banana", "a status such as 200"),
    ],
)
def test_an_invalid_term_is_explained_at_the_box_and_the_log_stays_unchanged(
    shared_tab: LogPage, log: dict[str, str], typed: str, part: str, right: str
) -> None:
    tab = shared_tab.show_log("/requests?namespace=production")
    tab.wait_for_rows(2)
    ask(tab, typed)
    alert = tab.page.get_by_role("alert")
    expect(alert).to_contain_text(part)
    expect(alert).to_contain_text(right)
    expect(box(tab)).to_have_value(typed)
    assert tab.query == [("namespace", "production")]
    assert set(tab.ids()) == {log["refund"], log["late"]}
    box(tab).fill("late")
    expect(alert).to_have_count(0)
    tab.press("Enter")
    expect_found(tab, log["late"])


def test_an_invalid_query_in_the_address_is_forgotten_when_its_text_is_removed(
    tab: LogPage, log: dict[str, str]
) -> None:
    tab.guard.expect("status of 400")
    tab.open_log("/requests?namespace=production&q=duration:fast")
    expect(tab.page.get_by_role("alert")).to_contain_text("The log is shown without this query.")
    box(tab).fill("")
    tab.press("Enter")
    tab.wait_for_query(("namespace", "production"))
    expect(tab.page.get_by_role("alert")).to_have_count(0)
    expect_found(tab, log["refund"], log["late"])


def test_names_and_values_are_completed_by_keyboard(shared_tab: LogPage, log: dict[str, str]) -> None:
    tab = shared_tab.show_log()
    tab.press("/")
    tab.page.keyboard.type("namesp")
    expect(tab.page.get_by_role("option", name="namespace: name under which the request is logged")).to_be_visible()
    tab.press("Tab")
    expect(box(tab)).to_have_value("namespace:")
    expect(tab.page.get_by_role("option", name="production 2 requests")).to_be_visible()
    tab.page.keyboard.type("my")
    expect(tab.page.get_by_role("option")).to_have_count(1)
    tab.press("ArrowDown", "Enter")
    expect(box(tab)).to_have_value('namespace:"my channel" ')
    expect(tab.page.get_by_role("listbox")).to_have_count(0)
    tab.press("Enter")
    tab.wait_for_query(("namespace", "my channel"))
    expect_found(tab, log["answer"])


def test_names_and_values_are_completed_by_mouse(shared_tab: LogPage, log: dict[str, str]) -> None:
    tab = shared_tab.show_log()
    box(tab).click()
    tab.page.get_by_role("option", name="property.channel:").click()
    tab.page.get_by_role("option", name="iOS 1 request").click()
    tab.press("Enter")
    tab.wait_for_query(("property.channel", "iOS"))
    expect_found(tab, log["other"])


def test_numbers_are_suggested_with_units(shared_tab: LogPage, log: dict[str, str]) -> None:
    tab = shared_tab.show_log()
    box(tab).press_sequentially("duration:>3")
    expect(tab.page.get_by_role("option")).to_have_text([">3s", ">3ms", ">3m"])
    box(tab).fill("cost:")
    expect(tab.page.get_by_role("option", name=">0.01", exact=True)).to_be_visible()


def test_an_empty_result_explains_word_search_and_suggests_prefixes(tab: LogPage, log: dict[str, str]) -> None:
    tab.open("/requests?words=refun")
    main = tab.page.get_by_role("main")
    expect(main).to_contain_text("No requests with the text refun.")
    expect(main).to_contain_text("Search matches whole words. Try refun*")
    main.get_by_role("button", name="refun*", exact=True).click()
    tab.wait_for_query(("begins.words", "refun"))
    expect_found(tab, log["refund"], log["refunded"], log["late"])


@pytest.mark.parametrize(
    ("query", "message", "suggested", "converted", "found"),
    [
        ("namespace=Production", "Did you mean", "namespace is production", "namespace=production", 2),
        ("model=o4", "Did you mean", "model is o4-mini", "model=o4-mini", 1),
        ("property.channel=ios", "Did you mean", "channel is iOS", "property.channel=iOS", 1),
        ("model=gpt", "Did you mean", "model begins with gpt", "begins.model=gpt", 4),
    ],
)
def test_an_empty_result_suggests_the_value_that_was_probably_meant(
    shared_tab: LogPage, log: dict[str, str], query: str, message: str, suggested: str, converted: str, found: int
) -> None:
    tab = shared_tab.show(f"/requests?{query}")
    main = tab.page.get_by_role("main")
    expect(main).to_contain_text(message)
    check_accessibility(tab.page)
    main.get_by_role("button", name=suggested, exact=True).click()
    tab.wait_for_query(*parse_qsl(converted))
    tab.wait_for_rows(found)


def test_the_corrected_query_is_offered_beside_the_error(shared_tab: LogPage, log: dict[str, str]) -> None:
    tab = shared_tab.show_log()
    ask(tab, "refund nmespace:staging")
    expect(tab.page.get_by_role("alert")).to_contain_text("Did you mean namespace?")
    check_accessibility(tab.page)
    tab.page.get_by_role("button", name="refund namespace:staging").click()
    expect(box(tab)).to_have_value("refund namespace:staging")
    tab.press("Enter")
    tab.wait_for_query(("said_here", "refund"), ("namespace", "staging"))


def test_a_request_that_contains_the_words_appears_automatically_after_it_has_ended(
    open_tab: OpenTab, world: World, log: dict[str, str]
) -> None:
    world.log(Call(text="The first of the unicorns"))
    wait_for_index(world)
    tab = open_tab(world.dashboard).set_clock().open_log("/requests?words=unicorns")
    tab.wait_for_rows(1)
    tab.point_nowhere()
    directives = {"Text": as_directive(STORY), "Tokens-Per-Second": "20"}
    stream = world.stream(Call(text="A long story of unicorns", directives=directives))
    stream.read(chunks=3)
    wait_until(lambda: world.server.get("/api/requests?outcome=open")["running"], what="the story running")
    sent = world.send(Call(text="A second word on unicorns"))
    world.wait_for([sent])
    tab.skip(seconds=6)
    expect(tab.row(sent)).to_be_visible()
    expect(tab.row(stream.id)).to_have_count(0)
    stream.read()
    world.wait_for([stream.id])
    tab.skip(seconds=6)
    expect(tab.row(stream.id)).to_be_visible()
    expect(tab.row(stream.id)).to_have_attribute("data-outcome", "complete")


def test_running_requests_are_not_shown_when_words_are_excluded(
    tab: LogPage, world: World, log: dict[str, str]
) -> None:
    stream = world.stream(Call(text="Tell me", directives={"Text": as_directive(STORY), "Tokens-Per-Second": "20"}))
    stream.read(chunks=3)
    wait_until(lambda: world.server.get("/api/requests?outcome=open")["running"], what="the story running")
    tab.open_log()
    expect(tab.row(stream.id)).to_be_visible()
    ask(tab, "-refund")
    tab.wait_for_query(("not.words", "refund"))
    expect(tab.row(log["refunded"])).to_be_visible()
    expect(tab.row(stream.id)).to_have_count(0)
    stream.abandon()


def test_the_number_of_requests_that_are_not_indexed_yet_is_shown(tab: LogPage, log: dict[str, str]) -> None:
    def behind(route: object) -> None:
        response = route.fetch()  # type: ignore[attr-defined]
        status = response.json()
        status["indexed_to"] = status["last_seq"] - 1204
        route.fulfill(response=response, json=status)  # type: ignore[attr-defined]

    tab.page.route(re.compile("/api/status"), behind)
    tab.open("/requests?words=nobodysaidthis")
    words = "1,204 newest requests are not indexed yet"
    expect(tab.page.get_by_role("main").get_by_text(words).last).to_be_visible()
    tab.open_log("/requests?namespace=web")
    # The status has loaded, so the number of unindexed requests would be visible by now.
    expect(tab.page.get_by_role("button", name=re.compile("^logging"))).to_be_visible()
    expect(tab.page.get_by_text(words)).to_have_count(0)


def test_axe_finds_no_violation_with_suggestions_open(shared_tab: LogPage, log: dict[str, str]) -> None:
    tab = shared_tab.show_log()
    box(tab).press_sequentially("refund namespace:")
    expect(tab.page.get_by_role("option", name="production 2 requests")).to_be_visible()
    tab.press("ArrowDown")
    check_accessibility(tab.page)
    box(tab).fill("")
    expect(tab.page.get_by_role("option", name="namespace: name under which the request is logged")).to_be_visible()
    check_accessibility(tab.page)


def test_axe_finds_no_violation_with_an_invalid_query_and_with_an_empty_result(
    tab: LogPage, log: dict[str, str]
) -> None:
    tab.open_log("/requests?words=refund&not.words=late")
    ask(tab, "duration:fast")
    expect(tab.page.get_by_role("alert")).to_be_visible()
    check_accessibility(tab.page)
    tab.open("/requests?words=refun")
    expect(tab.page.get_by_text("Search matches whole words")).to_be_visible()
    check_accessibility(tab.page)


def test_the_key_help_shows_what_can_be_typed(shared_tab: LogPage, log: dict[str, str]) -> None:
    tab = shared_tab.show_log()
    tab.press("Shift+?")
    dialog = tab.page.get_by_role("dialog", name="Keys")
    expect(dialog.locator("code")).to_have_count(3)
    written = dialog.locator("code").all_inner_texts()
    tab.press("Escape")
    expect(dialog).to_have_count(0)
    for text in written:
        ask(tab, text)
        # If the API rejected the query, the address would not change and the box would keep the text.
        expect(box(tab)).to_have_value("")
        expect(tab.page.get_by_role("alert")).to_have_count(0)
        # Leave the box. The next call of ``ask`` moves the focus back to the box.
        tab.press("Escape")
