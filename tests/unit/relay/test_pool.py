"""Test the pools of idle connections."""

from typing import Any

from tests.support.fake_peers import FakeUpstream

from relaybook.relay.pool import IdleConnections, Pool, UpstreamUrl


class Connection(FakeUpstream):
    """A connection that can be pooled."""

    def __init__(self, pool: Pool) -> None:
        super().__init__()
        self.aborted = False
        self._pool = pool

    def abort(self) -> None:
        self.aborted = True
        self._pool.discard(self)


def a_pool(all_idle: IdleConnections) -> Pool:
    dial: Any = lambda pool, exchange: None  # noqa: E731 - nothing is dialed
    return Pool(
        UpstreamUrl.parse("http://a"), None, all_idle=all_idle, connect_timeout=1.0, idle_seconds=1.0, dial=dial
    )


def test_the_connection_used_last_is_used_first() -> None:
    pool = a_pool(IdleConnections(10, lambda: 0))
    first, second = Connection(pool), Connection(pool)
    pool.put(first, 0.0)
    pool.put(second, 0.0)
    assert pool.take() is second
    assert pool.take() is first
    assert pool.take() is None


def test_before_a_dial_the_oldest_idle_connections_of_any_pool_make_room() -> None:
    running = 0
    all_idle = IdleConnections(3, lambda: running)
    one, other = a_pool(all_idle), a_pool(all_idle)
    connections = [Connection(pool) for pool in (one, other, one)]
    for connection, pool in zip(connections, (one, other, one), strict=True):
        pool.put(connection, 0.0)
    running = 1
    other.dial(None)
    assert [each.aborted for each in connections] == [True, False, False]
    running = 3
    one.dial(None)
    assert [each.aborted for each in connections] == [True, True, True]
    assert one.take() is None
    assert other.take() is None


def test_a_connection_in_use_is_not_closed() -> None:
    all_idle = IdleConnections(1, lambda: 5)
    pool = a_pool(all_idle)
    connection = Connection(pool)
    pool.put(connection, 0.0)
    assert pool.take() is connection
    pool.dial(None)
    assert not connection.aborted
