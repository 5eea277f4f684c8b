"""With several routes, the page says which route a request took, and how a client is connected to each route."""

from collections.abc import Iterator

import pytest
from tests.e2e.conftest import OpenTab
from tests.e2e.world import Call, World
from tests.support.axe import check_accessibility
from tests.support.browser import expect, needs_chromium
from tests.support.server import Server, SimulatedProvider

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    directory = tmp_path_factory.mktemp("routes")
    with SimulatedProvider() as provider:
        settings = directory / "relaybook.toml"
        settings.write_text(f'[routes.anthropic]\nupstream = "{provider.url.removesuffix("/v1")}"\n')
        with Server(directory, provider.url, "--config", str(settings)) as server:
            world = World(server)
            yield world
            world.client.close()


@pytest.fixture(scope="module")
def log(world: World) -> list[str]:
    """Return the ids of a request to each route: default, anthropic."""
    first = world.send(Call(namespace="shop"))
    root = world.server.base_url.removesuffix("/v1")
    own = world.client
    world.client = own.with_options(base_url=f"{root}/anthropic/v1")
    second = world.send(Call(namespace="agent"))
    world.client = own
    world.wait_for([first, second])
    return [first, second]


def test_the_route_of_a_request_is_a_column_and_filters_the_log(
    world: World, log: list[str], open_tab: OpenTab
) -> None:
    tab = open_tab(world.dashboard).open_log()
    expect(tab.page.get_by_role("columnheader", name="Route")).to_be_visible()
    tab.row(log[1]).get_by_role("link", name="Filter by route anthropic").click()
    tab.wait_for_query(("route", "anthropic"))
    tab.wait_for_rows(1)


def test_the_search_box_suggests_the_routes_of_the_log(world: World, log: list[str], open_tab: OpenTab) -> None:
    tab = open_tab(world.dashboard).open_log()
    tab.page.keyboard.press("/")
    tab.page.keyboard.type("route:")
    expect(tab.page.get_by_role("option", name="anthropic")).to_be_visible()
    expect(tab.page.get_by_role("option", name="default")).to_be_visible()


def test_the_overview_is_grouped_by_route(world: World, log: list[str], open_tab: OpenTab) -> None:
    tab = open_tab(world.dashboard).open("/overview")
    tab.page.get_by_label("Group by:").select_option("route")
    table = tab.page.get_by_role("table", name="Requests by route")
    expect(table.get_by_role("link", name="Filter by route anthropic")).to_be_visible()


@pytest.mark.parametrize("width", [1280, 390])
def test_a_client_is_set_up_for_the_chosen_route(world: World, log: list[str], open_tab: OpenTab, width: int) -> None:
    root = world.server.base_url.removesuffix("/v1")
    tab = open_tab(world.dashboard, viewport={"width": width, "height": 900}).open("/connect")
    main = tab.page.get_by_role("main")
    main.get_by_label("Route").select_option("anthropic")
    expect(main).to_contain_text(f"export ANTHROPIC_BASE_URL={root}/anthropic")
    main.get_by_role("tab", name="Codex").click()
    expect(main.get_by_role("tabpanel")).to_contain_text(f'base_url = "{root}/v1"')
    main.get_by_role("tab", name="Gemini CLI").click()
    expect(main.get_by_role("tabpanel")).to_contain_text("Start Relaybook with --routes gemini")
    expect(main.get_by_role("tabpanel")).to_contain_text(f"GOOGLE_GEMINI_BASE_URL={root}/gemini")
    check_accessibility(tab.page)
    assert tab.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_status_dialog_lists_the_routes_on_a_phone(world: World, log: list[str], open_tab: OpenTab) -> None:
    tab = open_tab(world.dashboard, viewport={"width": 390, "height": 844}).open_log()
    tab.page.get_by_role("button", name="logging").click()
    dialog = tab.page.get_by_role("dialog", name="Status of Relaybook")
    table = dialog.get_by_role("table").filter(has_text="base URL and upstream")
    expect(table.get_by_role("row", name="anthropic")).to_be_visible()
    assert table.evaluate("table => table.scrollWidth <= table.parentElement.clientWidth")
    check_accessibility(tab.page)
