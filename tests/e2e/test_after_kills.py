"""Every part of the server killed while requests run: the page that shows the log afterwards misses none of them."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.crash.service import Service
from tests.e2e.conftest import OpenTab
from tests.e2e.world import Call, World
from tests.support.browser import needs_chromium
from tests.support.server import SimulatedProvider

pytestmark = needs_chromium

LONG = Call(namespace="cut", directives={"Answer-Tokens": "600", "Tokens-Per-Second": "20"})


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """The server on the same ports and data, start after start."""
    with SimulatedProvider(tmp_path) as provider, Service(tmp_path, provider.url) as started:
        yield started


def test_after_any_kill_the_page_shows_every_request_that_a_caller_was_told_of(
    service: Service, open_tab: OpenTab
) -> None:
    world = World(service.server)
    tab = open_tab(world.dashboard)
    tab.guard.expect("Failed to load resource: net::ERR_")
    told = world.log_many(Call(namespace="before") for _ in range(12))
    tab.open_log()
    tab.point_nowhere()

    cut = [world.stream(LONG) for _ in range(2)]
    service.kill("relay", "recorder", "dashboard")
    for stream in cut:
        stream.read_until_it_breaks()
    told += [stream.id for stream in cut]
    told += world.log_many(Call(namespace="between") for _ in range(6))
    expect(tab.row(told[-1])).to_be_visible(timeout=30_000)

    stream = world.stream(LONG)
    service.kill("relay", "recorder", "dashboard", supervisor=True)
    stream.read_until_it_breaks()
    told.append(stream.id)
    world.client.close()
    again = World(service.start())
    assert again.dashboard == world.dashboard
    told += again.log_many(Call(namespace="after") for _ in range(6))
    again.client.close()

    expect(tab.row(told[-1])).to_be_visible(timeout=30_000)
    expect(tab.page.get_by_role("button", name=re.compile("^logging"))).to_be_visible(timeout=30_000)
    fresh = tab.elsewhere().open_log()
    assert len(set(told)) == 27
    for each in (tab, fresh):
        each.wait_for_rows(27)
        assert set(each.all_ids()) == set(told)
        for stream in cut:
            expect(each.row(stream.id)).to_contain_text("✗ relay stopped")
