"""With all rules enabled, axe finds no violation of WCAG 2.2 A and AA on any page, in any state or theme.

By default, only some pages and states are tested. The long form tests all of them.
"""

import json
from collections.abc import Callable, Iterator
from itertools import product
from typing import Final

import pytest
from playwright.sync_api import Locator
from tests.e2e.conftest import OpenTab
from tests.e2e.log_page import LogPage
from tests.e2e.world import Call, World, as_directive, world_in
from tests.support.axe import AXE_SCRIPT, check_accessibility
from tests.support.browser import expect, needs_chromium
from tests.support.long import sampled

pytestmark = needs_chromium

USER: Final = "user-5c1e7f20"
MARKDOWN = (
    "# Plan\\n\\n- one\\n- [x] two\\n\\n| a | b |\\n|---|---|\\n| 1 | 2 |\\n\\n[link](https://example.com) `code`"
)


@pytest.fixture(scope="module")
def log(world: World) -> dict[str, str]:
    """Return the ids of requests by a short name, such as ``error`` or ``tools``."""
    response = Call(
        namespace="production",
        properties={"channel": "iOS", "feature": "search", "version": "4.12.1"},
        directives={"Text": as_directive(MARKDOWN.replace("\\n", "\n"))},
        more={"temperature": 0.7, "top_p": 0.9, "user": "u-42"},
    )
    tools = [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}]
    # For pages other than the log: a conversation with a retried message, and requests outside of conversations.
    turns = world.talk(USER, "Question one", "Question two", "Question three")
    failed = Call(namespace=USER, text="Is it raining?", directives={"Status": "429"})
    prompts = Call(namespace=USER, text="Is it raining?")
    world.log(failed, prompts, prompts, Call(namespace=USER, text="My secret", headers={"Service-Log": "no-bodies"}))
    world.log(*(Call(namespace="batch", text=f"Single {number}") for number in range(5)))
    calls = {
        "answer": response,
        "tools": Call(namespace="staging", more={"tools": tools}),
        "error": Call(namespace="iOS", directives={"Status": "429"}),
        "thread": Call(namespace="user-8f3a41c9d2e7b6a5"),
    }
    ids = dict(zip(calls, world.log(*calls.values()), strict=True))
    stream = world.stream(Call(namespace="web", directives={"Answer-Tokens": "300", "Tokens-Per-Second": "30"}))
    stream.read(chunks=5)
    stream.abandon()
    world.wait_for([stream.id])
    return ids | {"left": stream.id, "turn": turns[2]}


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world_in(tmp_path_factory.mktemp("empty")) as started:
        yield started


State = Callable[[LogPage, dict[str, str]], None]


def full(tab: LogPage, log: dict[str, str]) -> None:
    tab.open_log()


def filtered(tab: LogPage, log: dict[str, str]) -> None:
    tab.open_log("/requests?namespace=production&not.model=gpt-5")
    expect(tab.filter_bar).to_contain_text("1 request")


def selected(tab: LogPage, log: dict[str, str]) -> None:
    tab.open_log()
    tab.press("j")
    tab.expect_selected(log["left"])


def no_match(tab: LogPage, log: dict[str, str]) -> None:
    tab.open("/requests?namespace=staging&model=gpt-5")
    expect(tab.page.get_by_text("No requests where")).to_be_visible()


def error(tab: LogPage, log: dict[str, str]) -> None:
    tab.guard.expect("status of 400")
    tab.open("/requests?nmespace=staging")
    expect(tab.page.get_by_role("main").get_by_role("alert")).to_be_visible()


def menu_open(tab: LogPage, log: dict[str, str]) -> None:
    tab.open_log()
    tab.chip(log["tools"], "namespace staging").focus()
    tab.press("m")
    expect(tab.page.get_by_role("menu")).to_contain_text("1 request")


def menu_by_pointer(tab: LogPage, log: dict[str, str]) -> None:
    tab.open_log()
    tab.chip(log["tools"], "namespace staging").hover()
    expect(tab.page.get_by_role("menu")).to_contain_text("1 request")


def beside_the_log(tab: LogPage, request_id: str) -> Locator:
    """Open a request, and wait for the request and for the rows of the log."""
    opened = tab.open_request(request_id)
    expect(tab.rows.first).to_be_attached()
    return opened


def drawer(tab: LogPage, log: dict[str, str]) -> None:
    expect(beside_the_log(tab, log["answer"])).to_contain_text("Plan")


def drawer_unfolded(tab: LogPage, log: dict[str, str]) -> None:
    within = beside_the_log(tab, log["tools"])
    closed = within.locator("details:not([open]) > summary, [aria-expanded=false]")
    while closed.count():
        closed.first.click()


def drawer_with_a_raw_body(tab: LogPage, log: dict[str, str]) -> None:
    within = beside_the_log(tab, log["answer"])
    within.get_by_role("button", name="View the request").click()
    body = within.get_by_role("textbox", name="Body of the request")
    expect(body).to_contain_text("refund")
    body.click()
    tab.press("Control+f")
    tab.page.keyboard.type("refund")


def drawer_of_a_turn(tab: LogPage, log: dict[str, str]) -> None:
    within = beside_the_log(tab, log["turn"])
    expect(within).to_contain_text("Turn 3 of 3")
    within.get_by_role("button", name="5 earlier messages, turns 1 to 2").click()


def drawer_of_an_error(tab: LogPage, log: dict[str, str]) -> None:
    expect(beside_the_log(tab, log["error"])).to_contain_text("The upstream returned")


def drawer_of_an_abandoned_request(tab: LogPage, log: dict[str, str]) -> None:
    expect(beside_the_log(tab, log["left"])).to_contain_text("The client disconnected")


def drawer_without_a_request(tab: LogPage, log: dict[str, str]) -> None:
    tab.guard.expect("status of 404")
    tab.open("/requests/0199a3c2-0000-7000-8000-000000000000")
    expect(tab.drawer.get_by_role("alert")).to_be_visible()


def status(tab: LogPage, log: dict[str, str]) -> None:
    tab.open_log()
    tab.page.get_by_title("Show the status").click()
    expect(tab.page.get_by_role("dialog")).to_contain_text("Requests are being logged.")


def keys(tab: LogPage, log: dict[str, str]) -> None:
    tab.open_log()
    tab.press("Shift+?")
    expect(tab.page.get_by_role("dialog", name="Keys")).to_be_visible()


def all_namespaces(tab: LogPage, log: dict[str, str]) -> None:
    tab.open_log()
    tab.page.locator("button", has_text="All namespaces").click()
    expect(tab.page.get_by_role("dialog").get_by_role("link").first).to_be_visible()


def time_range(tab: LogPage, log: dict[str, str]) -> None:
    tab.open_log()
    tab.page.get_by_role("button", name="All time").click()
    expect(tab.page.get_by_role("button", name="Last hour")).to_be_visible()


def columns(tab: LogPage, log: dict[str, str]) -> None:
    tab.open_log()
    tab.page.get_by_role("button", name="Columns", exact=True).click()
    menu = tab.page.get_by_role("dialog", name="Columns")
    menu.get_by_role("checkbox", name="Compact rows").check()
    menu.get_by_role("checkbox", name="Chunks").check()


def rows_selected(tab: LogPage, log: dict[str, str]) -> None:
    tab.open_log()
    tab.press("j", "x")
    expect(tab.page.get_by_role("region", name="Selected requests")).to_be_visible()


def connect(tab: LogPage, log: dict[str, str]) -> None:
    tab.open("/connect")
    expect(tab.page.get_by_text("so far. Latest")).to_be_visible()


def no_page(tab: LogPage, log: dict[str, str]) -> None:
    tab.open("/nowhere")
    expect(tab.page.get_by_text("There is no page at")).to_be_visible()


STATES: tuple[State, ...] = (
    full,
    filtered,
    selected,
    no_match,
    error,
    menu_open,
    menu_by_pointer,
    drawer,
    drawer_unfolded,
    drawer_with_a_raw_body,
    drawer_of_a_turn,
    drawer_of_an_error,
    drawer_of_an_abandoned_request,
    drawer_without_a_request,
    status,
    keys,
    all_namespaces,
    time_range,
    columns,
    rows_selected,
    connect,
    no_page,
)


@pytest.mark.parametrize("state", sampled(STATES, 8), ids=lambda state: state.__name__)
def test_axe_finds_no_violation(tab: LogPage, log: dict[str, str], state: State) -> None:
    state(tab, log)
    check_accessibility(tab.page)


#: The address of each page, and a selector for an element that the page has once it is loaded.
ADDRESSES: Final = {
    "namespaces": ("/namespaces", "main:has(tbody tr:nth-child(7):last-child) svg[role=img]"),
    "pinned": ("/namespaces?pinned=true&sort=failed", "main tbody tr:nth-child(5):last-child"),
    "no namespace": ("/namespaces?prefix=zz", "main:has-text('No namespaces contain')"),
    "namespaces refused": ("/namespaces?sort=size", "main [role=alert]:has-text('Invalid address')"),
    "properties": ("/namespaces?tab=properties", "main:has-text('Select a property')"),
    "values": ("/namespaces?tab=properties&property=channel", "main:has-text('1 value.') svg[role=img]"),
    "no value": ("/namespaces?tab=properties&property=channel&prefix=zz", "main:has-text('No values of channel')"),
    "overview": ("/overview", "main [role=img][aria-label^='Requests, ']"),
    "overview by namespace": ("/overview?by=namespace", "main:has([role=img][aria-label^='Requests, ']) tbody tr"),
    "overview by model": ("/overview?by=model", "main:has([role=img][aria-label^='Requests, ']) tbody tr"),
    "overview by property": (
        "/overview?by=property.channel",
        "main:has([role=img][aria-label^='Requests, ']) tbody tr",
    ),
    "thread": (f"/thread?namespace={USER}", "main:has-text('Not stored')"),
    "no conversations": ("/thread?namespace=batch", "main:has-text('not part of a conversation')"),
    "no thread": ("/thread?namespace=nobody", "main:has-text('No requests in namespace nobody.')"),
    "comparison": ("/compare/{answer}/{error}", "main:has-text('Differences (timing not counted): result') ins"),
    "no last successful request": ("/compare/last-good/{thread}", "main:has-text('no other successful request')"),
    "thread refused": ("/thread?model=gpt-4o", "main [role=alert]:has-text('does not select a conversation')"),
}


@pytest.mark.parametrize(("page", "width"), sampled(product(ADDRESSES, (1440, 390)), 9))
def test_axe_finds_no_violation_on_other_pages(shared_tab: LogPage, log: dict[str, str], page: str, width: int) -> None:
    path, selector = ADDRESSES[page]
    shared_tab.page.set_viewport_size({"width": width, "height": 900})
    shared_tab.guard.expect("status of 400")
    tab = shared_tab.show(path.format(**log))
    expect(tab.page.locator(selector).first).to_be_attached()
    check_accessibility(tab.page)


@pytest.mark.parametrize("path", ["/requests", "/connect"])
def test_axe_finds_no_violation_with_an_empty_log(open_tab: OpenTab, empty: World, path: str) -> None:
    tab = open_tab(empty.dashboard).open(path)
    expect(tab.page.get_by_text("No requests yet")).to_be_visible()
    check_accessibility(tab.page)


@pytest.mark.parametrize("state", [full, drawer, menu_open], ids=lambda state: state.__name__)
def test_axe_finds_no_violation_on_a_phone(open_tab: OpenTab, world: World, log: dict[str, str], state: State) -> None:
    tab = open_tab(world.dashboard, viewport={"width": 390, "height": 844})
    state(tab, log)
    check_accessibility(tab.page)


def test_axe_is_installed() -> None:
    assert json.loads((AXE_SCRIPT.parent / "package.json").read_text())["name"] == "axe-core"
