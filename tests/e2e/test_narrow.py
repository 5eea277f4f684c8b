"""Phones, zoom, forced colors and reduced motion: everything is still available and works."""

import re
from itertools import pairwise
from typing import Any, Final

import pytest
from playwright.sync_api import FloatRect, Route, ViewportSize
from playwright.sync_api import TimeoutError as PlaywrightTimeoutError
from tests.e2e.conftest import OpenTab
from tests.e2e.log_page import LogPage
from tests.e2e.world import Call, World, as_directive
from tests.support.axe import check_accessibility
from tests.support.browser import expect, needs_chromium
from tests.support.long import sampled

pytestmark = needs_chromium

PHONE = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "has_touch": True, "is_mobile": True}
LAPTOP = {"viewport": {"width": 1280, "height": 800}}
#: A narrow window at a zoom of 200 %.
MAGNIFIED = {"viewport": {"width": 640, "height": 450}, "device_scale_factor": 2}
#: Space between the edge and the text of a button without a border, in pixels.
LINK_PADDING = 8
FITS = "document.scrollingElement.scrollWidth <= document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def log(world: World) -> list[str]:
    """Return request ids, latest first: a failed request, two of user namespaces, one of a label."""
    return world.log(
        Call(namespace="production", text="How long is the river Rhine, and where does it begin?"),
        Call(namespace="user-8f3a41c9d2e7b6a5", properties={"channel": "iOS"}),
        Call(namespace="user-5c1e7f20", directives={"Text": as_directive("word " * 200)}),
        Call(namespace="staging", text="Summarise this, please", directives={"Status": "429"}),
    )[::-1]


def box(tab: LogPage, selector: str) -> FloatRect:
    found = tab.page.locator(selector).first.bounding_box()
    assert found is not None
    return found


def test_at_390_pixels_a_row_has_two_lines_and_nothing_scrolls_sideways(
    open_tab: OpenTab, world: World, log: list[str]
) -> None:
    tab = open_tab(world.dashboard, **PHONE).open_log()
    assert tab.state(FITS)
    row = f'tr[data-request="{log[0]}"]'
    time, namespace, result, text = (box(tab, f"{row} > td:nth-child({n})") for n in _cells(tab))
    for cell in (namespace, result):
        assert cell["y"] == pytest.approx(time["y"], abs=6)
    assert text["y"] >= time["y"] + time["height"] - 6
    assert result["x"] + result["width"] <= 390
    expect(tab.page.get_by_role("slider", name="Requests over time")).to_be_visible()
    expect(tab.row(log[0])).to_contain_text("✗ 429 rate limited")
    expect(tab.row(log[0])).to_contain_text("Summarise this")


@pytest.mark.parametrize("view", [PHONE, LAPTOP], ids=["phone", "laptop"])
def test_the_buttons_beside_a_long_filter_are_on_the_screen(
    open_tab: OpenTab, world: World, log: list[str], view: dict[str, Any]
) -> None:
    address = "/requests?namespace=production&status=200&outcome=complete&kind=chat&not.user=somebody"
    tab = open_tab(world.dashboard, **view).open_log(address)
    for name in ("Clear all", "Save filter…", "Export…", "More actions"):
        expect(tab.page.get_by_role("button", name=name, exact=True)).to_be_in_viewport(ratio=1)
    expect(tab.page.get_by_text("1 request", exact=True)).to_be_in_viewport(ratio=1)


def test_at_1024_pixels_two_values_of_the_filter_are_visible(open_tab: OpenTab, world: World, log: list[str]) -> None:
    tab = open_tab(world.dashboard, viewport={"width": 1024, "height": 768})
    tab.open_log("/requests?namespace=production&status=200")
    expect(tab.page.get_by_text("1 request", exact=True)).to_be_visible()
    for name in ("namespace is production", "status is 200"):
        expect(tab.page.get_by_role("button", name=f"Remove {name}")).to_be_in_viewport(ratio=1)
    expect(tab.page.get_by_role("slider", name="Requests over time")).to_be_visible()


@pytest.mark.parametrize("width", [1440, 1280, 1024, 390])
def test_every_value_of_the_filter_can_be_removed(open_tab: OpenTab, world: World, log: list[str], width: int) -> None:
    tab = open_tab(world.dashboard, viewport={"width": width, "height": 844})
    names = ["production", "staging", "a-namespace-with-a-long-name-1", "a-namespace-with-a-long-name-2", "web", "iOS"]
    for shown in (names[:2], names):
        tab.open_log("/requests?" + "&".join(f"namespace={name}" for name in shown))
        for name in shown:
            button = tab.page.get_by_role("button", name=f"Remove namespace is {name}")
            expect(button).to_be_in_viewport(ratio=1)
            button.click(trial=True)
        assert tab.state(FITS)


def _cells(tab: LogPage) -> tuple[int, int, int, int]:
    """Return the column numbers of time, namespace, result and text."""
    titles = tab.page.locator("[data-log] thead th").all_text_contents()
    place = {title.strip(): number for number, title in enumerate(titles, 1)}
    return place["Started"], place["Namespace"], place["Result"], place["Prompt → response"]


def test_at_390_pixels_the_result_is_at_the_right_edge_of_a_sorted_row(
    open_tab: OpenTab, world: World, log: list[str]
) -> None:
    tab = open_tab(world.dashboard, **PHONE).open_log("/requests?sort=cost_usd")
    row = tab.row(log[1])
    result = row.get_by_role("link", name="Filter by result").bounding_box()
    assert result is not None
    assert result["x"] + result["width"] == pytest.approx(382, abs=1)


def test_at_390_pixels_a_row_stays_in_place_when_its_namespace_is_selected(
    open_tab: OpenTab, world: World, log: list[str]
) -> None:
    tab = open_tab(world.dashboard, **PHONE).open_log()
    before = tab.top_of(log[0])
    tab.chip(log[0], "namespace staging").tap()
    tab.wait_for_query(("namespace", "staging"))
    tab.wait_for_rows(1)
    tab.wait_for_top(log[0], before)
    assert tab.state(FITS)


def test_the_ends_of_a_scrolling_namespace_bar_fade_out(open_tab: OpenTab, world: World, log: list[str]) -> None:
    tab = open_tab(world.dashboard, viewport={"width": 320, "height": 700}).open_log()
    last = tab.label("staging")
    expect(last).to_be_visible()
    labels = tab.page.get_by_role("navigation", name="Namespaces").locator("div").first
    assert labels.evaluate("(box) => box.scrollWidth > box.clientWidth")
    faded = labels.evaluate("(box) => parseFloat(/([0-9.]+)px\\)[^p]*$/.exec(getComputedStyle(box).maskImage)?.[1])")
    assert faded > 10
    gap = labels.evaluate(
        "(box) => { box.scrollLeft = box.scrollWidth; return box.getBoundingClientRect().right"
        " - box.querySelector(':scope > div:last-child > :last-child').getBoundingClientRect().right; }"
    )
    assert gap >= faded


def test_at_390_pixels_a_request_fills_the_screen_and_fits(open_tab: OpenTab, world: World, log: list[str]) -> None:
    tab = open_tab(world.dashboard, **PHONE).open_log()
    tab.row(log[1]).locator("td").nth(_cells(tab)[3] - 1).tap()
    expect(tab.drawer).to_contain_text("word word")
    expect(tab.page.locator("[role=dialog]")).to_have_css("width", "390px")
    assert tab.state(FITS)
    assert tab.state(
        "(() => { const frame = document.querySelector('[role=dialog] [data-request]');"
        " return frame.scrollWidth <= frame.clientWidth; })()"
    )
    link = tab.drawer.get_by_role("button", name="Conversation").bounding_box()
    heading = tab.drawer.get_by_role("heading", name="Timing").bounding_box()
    assert link is not None
    assert heading is not None
    assert link["x"] + LINK_PADDING == pytest.approx(heading["x"], abs=1)
    tab.drawer.get_by_role("button", name="Close the request").tap()
    expect(tab.drawer).to_have_count(0)


def test_at_390_pixels_the_bar_of_the_selected_rows_has_a_margin(
    open_tab: OpenTab, world: World, log: list[str]
) -> None:
    tab = open_tab(world.dashboard, **PHONE).open_log()
    tab.page.get_by_role("button", name="Select rows").tap()
    tab.row(log[0]).get_by_role("checkbox").tap()
    bar = tab.page.get_by_role("region", name="Selected requests").bounding_box()
    assert bar is not None
    assert bar["x"] >= 8
    assert bar["x"] + bar["width"] <= 390 - 8


def test_a_long_press_opens_the_menu_of_a_value(open_tab: OpenTab, world: World, log: list[str]) -> None:
    tab = open_tab(world.dashboard, **PHONE).open_log()
    chip = tab.chip(log[0], "namespace staging").bounding_box()
    assert chip is not None
    touch = [{"x": chip["x"] + chip["width"] / 2, "y": chip["y"] + chip["height"] / 2}]
    session = tab.page.context.new_cdp_session(tab.page)
    session.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": touch})
    menu = tab.page.get_by_role("menu")
    expect(menu).to_contain_text("1 request")
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    menu.get_by_role("menuitem", name="Exclude").tap()
    tab.wait_for_query(("not.namespace", "staging"))
    assert tab.state(FITS)


def test_the_selected_namespace_is_visible_in_the_namespace_bar_and_covers_no_other_entry(
    open_tab: OpenTab, world: World, log: list[str]
) -> None:
    tab = open_tab(world.dashboard)
    bar = tab.page.get_by_role("navigation", name="Namespaces")
    labels = [{"namespace": f"label-{number:02}", "pinned": True, "position": number} for number in range(20)]
    tab.page.route(re.compile("/api/namespaces.*pinned=true"), lambda route: fill_in(route, labels))
    for name in ("label-00", "label-13", "user-5c1e7f20"):
        tab.show(f"/requests/{log[1]}?namespace={name}")
        for width in (1440, 390):
            tab.page.set_viewport_size({"width": width, "height": 844})
            chip = bar.get_by_role("link", name=f"Filter by namespace {name}", exact=True)
            expect(chip).to_be_in_viewport(ratio=0.9)
            edges = bar.locator("div").first.evaluate(_EDGES)
            assert len(edges) >= len(labels)
            assert all(end <= start for (_, end), (start, _) in pairwise(edges)), edges


#: The left and right edges of the entries of the namespace bar, in order.
_EDGES: Final = """
(bar) => [...bar.querySelectorAll("a[data-field]")].map((link) => {
  const { left, right } = link.parentElement.getBoundingClientRect();
  return [left, right];
})
"""


def fill_in(route: Route, labels: list[dict[str, Any]]) -> None:
    """Answer with these pinned namespaces. All other fields are those of the first namespace of the response."""
    answer = route.fetch().json()
    first = answer["data"][0]
    route.fulfill(json={**answer, "data": [{**first, **label} for label in labels]})


@pytest.mark.parametrize("width", [640, 720])
def test_at_200_percent_everything_is_available_and_nothing_scrolls_sideways(
    open_tab: OpenTab, world: World, log: list[str], width: int
) -> None:
    tab = open_tab(world.dashboard, viewport={"width": width, "height": 450}, device_scale_factor=2).open_log()
    assert tab.state(FITS)
    assert len(tab.on_screen()) >= 2
    expect(tab.page.get_by_role("combobox", name="Filter the log")).to_be_in_viewport()
    for name in ("Use the dark theme", "Keys"):
        expect(tab.page.get_by_role("button", name=name)).to_be_in_viewport()
    tab.chip(log[0], "namespace staging").click()
    tab.wait_for_query(("namespace", "staging"))
    expect(tab.filter_bar.get_by_role("button", name="Clear all")).to_be_in_viewport()
    tab.row(log[0]).get_by_role("link", name="Open the request").click()
    expect(tab.drawer).to_contain_text("The upstream returned")
    assert tab.state(FITS)


def test_with_forced_colors_labels_results_and_the_selected_row_are_distinguishable(
    open_tab: OpenTab, world: World, log: list[str]
) -> None:
    tab = open_tab(world.dashboard, forced_colors="active").open_log()
    expect(tab.row(log[0])).to_contain_text("✗ 429 rate limited")
    tab.press("j")
    tab.expect_selected(log[0])
    outline, other = (tab.row(each).evaluate("(row) => getComputedStyle(row).outlineStyle") for each in log[:2])
    assert (outline, other) == ("solid", "none")
    for chip in (tab.chip(log[0], "namespace staging"), tab.chip(log[1], "namespace user-5c1e7f20")):
        border = chip.evaluate("(link) => getComputedStyle(link).borderTopStyle + getComputedStyle(link).outlineStyle")
        assert "solid" in border or "dashed" in border


def test_with_reduced_motion_nothing_moves(open_tab: OpenTab, world: World, log: list[str]) -> None:
    options: dict[str, Any] = {"reduced_motion": "reduce"}
    tab = open_tab(world.dashboard, **options).open_log()
    stream = world.stream(Call(directives={"Answer-Tokens": "200", "Tokens-Per-Second": "20"}))
    expect(tab.row(stream.id)).to_contain_text("Running")
    tab.chip(log[0], "namespace staging").hover()
    expect(tab.page.get_by_role("menu")).to_be_visible()
    moving = """
      document.getAnimations()
        .filter((one) => one.playState === "running" && one.effect.getComputedTiming().duration > 10)
        .map((one) => `${one.animationName ?? one.transitionProperty} on ${one.effect.target?.className}`)
    """
    assert tab.state(moving) == []
    tab.open_request(stream.id)
    assert tab.state(moving) == []
    stream.abandon()


@pytest.mark.parametrize("path", sampled(["/requests", "/overview", "/namespaces", "/connect"], 2))
def test_at_no_width_does_a_page_scroll_sideways(open_tab: OpenTab, world: World, log: list[str], path: str) -> None:
    tab = open_tab(world.dashboard).open(path)
    expect(tab.page.get_by_role("navigation", name="Pages")).to_be_visible()
    too_wide = []
    for width in range(320, 1100, 6):
        tab.page.set_viewport_size({"width": width, "height": 700})
        if not tab.state(FITS) and not fits_soon(tab):
            too_wide.append(width)
    assert too_wide == []


def fits_soon(tab: LogPage) -> bool:
    """Return whether the page fits its new width within two seconds."""
    try:
        tab.page.wait_for_function(f"() => {FITS}", timeout=2_000)
    except PlaywrightTimeoutError:
        return False
    return True


@pytest.mark.parametrize("size", [{"width": 720, "height": 450}, {"width": 640, "height": 360}])
def test_with_little_height_rows_keep_their_space_and_the_page_scrolls(
    open_tab: OpenTab, world: World, log: list[str], size: ViewportSize
) -> None:
    tab = open_tab(world.dashboard, viewport=size).open_log()
    assert box(tab, "[data-log]")["height"] >= 240
    tab.page.keyboard.press("End")
    assert tab.state(FITS)
    tab.page.mouse.move(300, 30)
    tab.page.mouse.wheel(0, 1000)
    expect(tab.page.get_by_text(re.compile("free$"))).to_be_in_viewport()


def test_at_390_pixels_rows_are_sorted_and_their_ids_copied(open_tab: OpenTab, world: World, log: list[str]) -> None:
    tab = open_tab(world.dashboard, **PHONE).open_log()
    tab.page.get_by_role("combobox", name="Order").select_option("Slowest first")
    tab.wait_for_query(("sort", "duration_ms"))
    expect(tab.page.get_by_role("checkbox")).to_have_count(0)
    tab.page.get_by_role("button", name="Select rows").tap()
    tab.row(log[1]).get_by_role("checkbox").tap()
    tab.row(log[3]).get_by_role("checkbox").tap()
    bar = tab.page.get_by_role("region", name="Selected requests")
    expect(bar).to_contain_text("2 selected")
    assert tab.state(FITS)
    check_accessibility(tab.page)
    bar.get_by_role("button", name="Copy ids").tap()
    expect(bar.get_by_role("button", name="Copied")).to_be_visible()
    assert set(tab.state("navigator.clipboard.readText()").split()) == {log[1], log[3]}
    tab.page.get_by_role("button", name="Done").tap()
    expect(tab.page.get_by_role("checkbox")).to_have_count(0)
    tab.page.get_by_role("combobox", name="Order").select_option("Most recent first")
    tab.wait_for_query()


def test_at_390_pixels_an_error_of_a_query_has_the_whole_line(open_tab: OpenTab, world: World, log: list[str]) -> None:
    tab = open_tab(world.dashboard, **PHONE).open_log()
    field = tab.page.get_by_role("combobox", name="Filter the log")
    field.fill("na")
    expect(tab.page.get_by_role("listbox", name="Suggestions")).to_be_visible()
    assert box(tab, "[role=listbox]")["width"] > 300
    assert tab.state(FITS)
    field.fill("foo:bar")
    tab.press("Enter")
    expect(tab.page.get_by_role("alert")).to_contain_text("'foo' is not a known name")
    assert box(tab, "[role=alert]")["width"] > 300
    assert tab.state(FITS)


def test_at_390_pixels_the_conversations_of_a_user_are_a_tap_away(open_tab: OpenTab, world: World) -> None:
    world.talk("user-talks-1", "One?", "Two?")
    tab = open_tab(world.dashboard, **PHONE).open_log("/requests?namespace=user-talks-1")
    tab.page.get_by_role("link", name="Conversation view").tap()
    tab.wait_for_path("/thread")
    expect(tab.page.get_by_role("main")).to_contain_text("Answer to Two?")
    assert tab.state(FITS)
