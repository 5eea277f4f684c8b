"""Clients, models and upstreams put markup into every field. The markup does not run, load or link anywhere."""

import base64
import json
import re
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator
from tests.e2e.conftest import OpenTab
from tests.e2e.log_page import LogPage
from tests.e2e.world import Call, World, as_directive
from tests.support.browser import expect, needs_chromium
from tests.support.long import sampled

pytestmark = needs_chromium

#: JavaScript that defines a function. Only hostile markup calls this function.
_CANARY = "window.canary = () => { window.sung = true; };"
MARKUP = "\"'><script>canary()</script><img src=x onerror=canary()><svg onload=canary()>"
ELSEWHERE = "https://pictures.example/a.png"
MARKDOWN = f"""\
# {MARKUP}

<script>canary()</script> <img src=x onerror=canary()> <iframe srcdoc="<script>parent.canary()</script>"></iframe>

[a link](javascript:canary()) [another](JaVaScRiPt:canary()) [a third](data:text/html,<script>canary()</script>)
[a fourth]( javascript:canary() ) <javascript:canary()> [a fifth][ref] [a sixth](vbscript:canary())

![a picture]({ELSEWHERE}) ![one more](data:image/svg+xml,<svg onload=canary()>) ![last](javascript:canary())

| <b onclick=canary()>head</b> |
|---|
| [x](javascript:canary()) |

```html
<script>canary()</script>
```

[ref]: javascript:canary()
"""
SVG = base64.b64encode(b'<svg xmlns="http://www.w3.org/2000/svg" onload="canary()"/>').decode()
MESSAGES: list[dict[str, Any]] = [
    {"role": "system", "content": MARKDOWN, "name": MARKUP},
    {
        "role": "user",
        "content": [
            {"type": "text", "text": MARKUP},
            {"type": "image_url", "image_url": {"url": ELSEWHERE}},
            {"type": "image_url", "image_url": {"url": f"data:image/svg+xml;base64,{SVG}"}},
            {"type": "image_url", "image_url": {"url": "javascript:canary()"}},
            {"type": MARKUP, MARKUP: MARKUP},
        ],
    },
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": MARKUP, "type": "function", "function": {"name": MARKUP, "arguments": MARKUP}}],
    },
    {"role": "tool", "tool_call_id": MARKUP, "content": MARKUP},
    {"role": MARKUP, "content": MARKUP},
]
TOOL = {
    "type": "function",
    "function": {"name": MARKUP, "description": MARKUP, "parameters": {"type": "object", "properties": {MARKUP: {}}}},
}
HEADERS = {"User-Agent": MARKUP, "X-Client-Request-Id": MARKUP, "X-Evil": MARKUP}
ERROR = json.dumps({"error": {"message": MARKUP, "type": MARKUP, "param": MARKUP, "code": MARKUP}}).encode()
RESPONSE_TEXT = {
    "Text": as_directive(MARKDOWN),
    "Header": f"x-evil: {as_directive(MARKUP)} | x-request-id: {as_directive(MARKUP)}",
}
CALLS = {
    "answer": Call(
        namespace=MARKUP,
        properties={"channel": MARKUP},
        directives=RESPONSE_TEXT,
        headers=HEADERS,
        more={"messages": MESSAGES, "user": MARKUP, "metadata": {MARKUP: MARKUP}},
    ),
    "tool call": Call(namespace=MARKUP, text=MARKUP, headers=HEADERS, more={"tools": [TOOL], "user": MARKUP}),
    "unknown model": Call(namespace=MARKUP, model=MARKUP, text=MARKUP, headers=HEADERS),
    "error": Call(
        namespace=MARKUP,
        text=MARKUP,
        headers=HEADERS,
        directives={"Status": "400", "Body": f"base64:{base64.b64encode(ERROR).decode()}"},
    ),
    "page of HTML": Call(
        namespace=MARKUP,
        text=MARKUP,
        directives={
            "Body": f"base64:{base64.b64encode(MARKDOWN.encode()).decode()}",
            "Content-Type": "text/html",
            "Status": "500",
        },
    ),
}


@pytest.fixture(scope="module")
def log(world: World) -> dict[str, str]:
    return dict(zip(CALLS, world.log(*CALLS.values()), strict=True))


@pytest.fixture
def tab(open_tab: OpenTab, world: World) -> LogPage:
    canaries = open_tab(world.dashboard)
    canaries.page.add_init_script(_CANARY)
    return canaries


@pytest.fixture
def shared_tab(shared_tab: LogPage) -> LogPage:
    """Return the shared tab, in which the function of ``_CANARY`` exists from the next load of the page on."""
    shared_tab.page.add_init_script(_CANARY)
    return shared_tab


def nothing_ran(tab: LogPage) -> None:
    """Assert that hostile markup has not run, and that the page has no element through which it could.

    The links and images of the page must also be harmless.
    """
    assert tab.state("typeof window.canary") == "function"
    assert tab.state("window.sung") is None
    led = tab.state("[...document.querySelectorAll('a[href]')].map((link) => link.protocol)")
    assert set(led) <= {"http:", "https:", "mailto:"}
    shown = tab.state("[...document.querySelectorAll('img')].map((image) => image.src.slice(0, 24))")
    assert all(re.match(r"data:image/(png|jpeg|gif|webp)", source) for source in shown), shown
    assert tab.state("document.querySelectorAll('iframe, object, embed, #root script, #root form[action]').length") == 0
    assert (
        tab.state(
            "[...document.querySelectorAll('#root *, [data-portal] *')].filter((one) => "
            "[...one.attributes].some((each) => each.name.startsWith('on'))).length"
        )
        == 0
    )


def unfold(tab: LogPage, within: Locator) -> None:
    """Open all collapsed parts, including nested parts."""
    folded = within.locator("details:not([open]) > summary, [aria-expanded=false]")
    for _ in range(80):
        if folded.count() == 0:
            return
        folded.first.click()
    raise AssertionError("too many nested collapsed parts")


def test_markup_in_every_field_is_text_in_the_log(shared_tab: LogPage, log: dict[str, str]) -> None:
    tab = shared_tab.show_log()
    for request_id in log.values():
        expect(tab.row(request_id)).to_be_visible()
    expect(tab.row(log["error"])).to_contain_text("<script>canary()</script>")
    nothing_ran(tab)


def test_markup_in_the_menu_of_a_value_is_text(shared_tab: LogPage, log: dict[str, str]) -> None:
    tab = shared_tab.show_log()
    for field in ("namespace", "property.", "model"):
        link = tab.page.locator(f'[data-log] a[data-field^="{field}"][data-value*=canary]').first
        link.focus()
        tab.press("m")
        expect(tab.page.get_by_role("menu")).to_contain_text("request")
        tab.wait_for_focus_in_menu()
        nothing_ran(tab)
        tab.press("Escape")
        expect(tab.page.get_by_role("menu")).to_have_count(0)


def test_a_filter_with_markup_works_like_any_other(shared_tab: LogPage, log: dict[str, str]) -> None:
    tab = shared_tab.show_log()
    tab.row(log["answer"]).locator("a[data-field=namespace]").click()
    tab.wait_for_query(("namespace", MARKUP))
    tab.wait_for_rows(len(CALLS))
    expect(tab.filter_bar).to_contain_text(MARKUP)
    nothing_ran(tab)
    tab.page.reload()
    tab.wait_for_rows(len(CALLS))
    nothing_ran(tab)


@pytest.mark.parametrize("kind", sampled(CALLS, 3))
def test_markup_in_a_request_is_text_in_the_drawer(tab: LogPage, log: dict[str, str], kind: str) -> None:
    tab.open_log()
    drawer = tab.open_request(log[kind])
    unfold(tab, drawer)
    for side in ("request", "response"):
        drawer.get_by_role("button", name=f"View the {side}").click()
        expect(drawer.get_by_role("textbox", name=f"Body of the {side}")).to_contain_text("canary()")
    nothing_ran(tab)
    for view in ("Text", "All fields", "Rendered"):
        button = drawer.get_by_role("button", name=view, exact=True)
        if button.count():
            button.click()
            nothing_ran(tab)


def test_links_in_a_response_lead_only_to_web_pages_and_images_are_not_loaded(
    tab: LogPage, log: dict[str, str]
) -> None:
    tab.open_log()
    response = tab.open_request(log["answer"]).get_by_role("article", name="response")
    expect(response).to_contain_text("a link")
    for words in ("a link", "another", "a third", "a fourth", "a fifth", "a sixth"):
        expect(response.get_by_role("link", name=words, exact=True)).to_have_count(0)
        response.get_by_text(words, exact=True).first.click()
    picture = response.get_by_role("link", name=re.compile("image at pictures.example"))
    expect(picture).to_have_attribute("rel", re.compile("noreferrer"))
    expect(response.locator("img")).to_have_count(0)
    nothing_ran(tab)


def test_markup_in_names_is_text_in_lists_and_suggestions(
    shared_tab: LogPage, world: World, log: dict[str, str]
) -> None:
    world.log(Call(namespace=f"{MARKUP}@123"))
    tab = shared_tab.show_log()
    tab.page.get_by_role("button", name=re.compile("All namespaces")).click()
    expect(tab.page.get_by_role("dialog", name="All namespaces").get_by_role("link").first).to_be_visible()
    nothing_ran(tab)
    tab.press("Escape")
    box = tab.page.get_by_role("combobox", name="Filter the log")
    for typed in ("property.", "namespace:", "model:", "user:", "<script>canary()</script>"):
        box.fill("")
        box.press_sequentially(typed)
        expect(box).to_have_value(typed)
        nothing_ran(tab)
    box.press("Enter")
    expect(tab.filter_bar).to_contain_text("<script>canary()</script>")
    nothing_ran(tab)


def test_markup_in_the_address_is_text_in_empty_results_and_errors(tab: LogPage, log: dict[str, str]) -> None:
    tab.guard.expect("status of 40[04]")
    markup = quote(MARKUP, safe="")
    for address, words in (
        (f"/requests?namespace={markup}&model=none", "No requests where"),
        (f"/requests?{markup}={markup}", "is not a known parameter"),
        (f"/requests?from={markup}", "from is "),
        (f"/requests/none{markup}", "No request in this log"),
        (f"/{markup.replace('.', '')}", "There is no page at"),
    ):
        tab.open(address)
        expect(tab.page.get_by_text(words).filter(visible=True).first, address).to_be_visible()
        nothing_ran(tab)
