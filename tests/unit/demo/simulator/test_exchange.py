"""An exchange notes each fact once."""

from relaybook_demo.simulator.exchange import Exchange
from relaybook_demo.simulator.incoming import Request
from relaybook_demo.simulator.ledger import Ledger


def test_facts_are_noted_once_and_in_order() -> None:
    ledger = Ledger()
    exchange = Exchange(7, 3, ledger, is_control=False)
    exchange.request = Request()
    exchange.request.begin_body()
    exchange.note_head()
    exchange.note_head()
    exchange.request.is_complete = True
    exchange.note_head()
    exchange.note_request()
    exchange.count(b"ab")
    exchange.end("sent")
    exchange.end("client_gone")
    assert [entry.event for entry in ledger.entries] == ["first_byte", "head", "request", "sent"]
    assert (ledger.entries[-1].outcome, ledger.entries[-1].sent_bytes) == ("sent", 2)


def test_control_requests_are_not_noted() -> None:
    ledger = Ledger()
    exchange = Exchange(7, 3, ledger, is_control=True)
    exchange.request = Request(is_complete=True)
    exchange.note_request()
    exchange.count(b"ab")
    exchange.end("sent")
    assert not ledger.entries
    assert exchange.is_ended
