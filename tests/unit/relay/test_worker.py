"""Test how the limit on open files limits the number of connections of a relay."""

import resource

import pytest

from relaybook.relay import worker
from relaybook.settings.definitions import Settings
from relaybook.system.process import raise_descriptor_limit


@pytest.mark.parametrize(("hard", "most", "limit"), [(-1, 10_240, 8_192), (4096, 4096, 4096), (256, 256, 256)])
def test_the_limit_is_raised_as_far_as_the_system_allows(
    monkeypatch: pytest.MonkeyPatch, hard: int, most: int, limit: int
) -> None:
    def set_limit(_: int, limits: tuple[int, int]) -> None:
        if limits[0] > most:
            raise ValueError("not allowed to raise maximum limit")

    monkeypatch.setattr(resource, "RLIM_INFINITY", -1)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (256, hard))
    monkeypatch.setattr(resource, "setrlimit", set_limit)
    assert raise_descriptor_limit() == limit


def test_connections_leave_descriptors_for_the_journal(caplog: pytest.LogCaptureFixture) -> None:
    settings = Settings(max_connections=10_000)
    assert worker._with_descriptors(settings, 20_064) == settings
    assert worker._with_descriptors(settings, 4096).max_connections == 2016
    assert caplog.records == []
    assert worker._with_descriptors(settings, 256).max_connections == 96
    assert [record.getMessage() for record in caplog.records] == ["few_descriptors"]


def test_the_limit_on_open_files_lowers_the_number_of_running_requests() -> None:
    """With ``on_client_gone = finish``, a request needs its upstream connection even when its client is gone."""
    lowered = worker._with_descriptors(Settings(max_connections=50, max_in_flight=10_000), 256)
    assert (lowered.max_connections, lowered.max_in_flight) == (50, 96)
