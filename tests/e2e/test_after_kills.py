"""After every process of the server was killed under load, the page shows all requests."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.crash.service import Service
from tests.e2e.conftest import OpenTab
from tests.e2e.world import Call, World
from tests.support.browser import expect, needs_chromium
from tests.support.server import SimulatedProvider

pytestmark = needs_chromium

LONG = Call(namespace="cut", directives={"Answer-Tokens": "600", "Tokens-Per-Second": "20"})


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """Return a server that always starts with the same ports and data."""
    with SimulatedProvider() as provider, Service(tmp_path, provider.url) as started:
        yield started


def test_after_any_kill_the_page_shows_every_request_that_has_an_id(service: Service, open_tab: OpenTab) -> None:
    world = World(service.server)
    tab = open_tab(world.dashboard)
    tab.guard.expect("Failed to load resource: net::ERR_")
    known = world.log_many(Call(namespace="before") for _ in range(12))
    tab.open_log()
    tab.point_nowhere()

    interrupted = [world.stream(LONG) for _ in range(2)]
    service.kill("relay", "recorder", "dashboard")
    for stream in interrupted:
        stream.read_until_it_breaks()
    known += [stream.id for stream in interrupted]
    known += world.log_many(Call(namespace="between") for _ in range(6))
    expect(tab.row(known[-1])).to_be_visible(timeout=30_000)

    stream = world.stream(LONG)
    service.kill("relay", "recorder", "dashboard", supervisor=True)
    stream.read_until_it_breaks()
    known.append(stream.id)
    expect(tab.page.get_by_role("button", name=re.compile("^reconnecting"))).to_be_visible()
    world.client.close()
    restarted = World(service.start())
    assert restarted.dashboard == world.dashboard
    known += restarted.log_many(Call(namespace="after") for _ in range(6))
    restarted.client.close()

    expect(tab.row(known[-1])).to_be_visible(timeout=30_000)
    expect(tab.page.get_by_role("button", name=re.compile("^logging"))).to_be_visible(timeout=30_000)
    expect(tab.page.get_by_role("button", name=re.compile("^live"))).to_be_visible()
    fresh = tab.new_tab().open_log()
    assert len(set(known)) == 27
    for page in (tab, fresh):
        page.wait_for_rows(27)
        assert set(page.all_ids()) == set(known)
        for stream in interrupted:
            expect(page.row(stream.id)).to_contain_text("✗ Relay stopped")
