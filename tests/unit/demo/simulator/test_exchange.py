"""Test that an exchange logs each event once."""

from relaybook_demo.simulator.exchange import Exchange
from relaybook_demo.simulator.incoming import Request
from relaybook_demo.simulator.ledger import Ledger


def test_events_are_logged_once_and_in_order() -> None:
    ledger = Ledger()
    exchange = Exchange(7, 3, ledger, is_control=False)
    exchange.request = Request()
    exchange.request.begin_body()
    exchange.log_head()
    exchange.log_head()
    exchange.request.is_complete = True
    exchange.log_head()
    exchange.log_request()
    exchange.count(b"ab")
    exchange.end("sent")
    exchange.end("client_gone")
    assert [entry.event for entry in ledger.entries] == ["first_byte", "head", "request", "sent"]
    assert (ledger.entries[-1].outcome, ledger.entries[-1].sent_bytes) == ("sent", 2)


def test_control_requests_are_not_logged() -> None:
    ledger = Ledger()
    exchange = Exchange(7, 3, ledger, is_control=True)
    exchange.request = Request(is_complete=True)
    exchange.log_request()
    exchange.count(b"ab")
    exchange.end("sent")
    assert not ledger.entries
    assert exchange.is_ended
