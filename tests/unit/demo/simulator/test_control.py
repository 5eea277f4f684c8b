"""Requests about the simulator itself."""

from relaybook_demo.simulator.control import Controls, control
from relaybook_demo.simulator.incoming import Request
from relaybook_demo.simulator.ledger import Ledger
from relaybook_demo.simulator.replies import Reply


def ask(controls: Controls, method: str, target: bytes, body: bytes = b"") -> Reply:
    request = Request(method, target)
    request.begin_body()
    request.add_body(body)
    return control(request, controls)


def test_scripts_are_put_replaced_and_deleted() -> None:
    controls = Controls(Ledger())
    assert ask(controls, "PUT", b"/__sim/scripts/a%20b", b'{"body": "YQ=="}').status == 204
    assert controls.scripts["a b"].body == b"a"
    assert ask(controls, "DELETE", b"/__sim/scripts/a%20b").status == 204
    assert ask(controls, "DELETE", b"/__sim/scripts/a%20b").status == 404


def test_ledger_is_read_from_a_number_on_and_cleared() -> None:
    controls = Controls(Ledger())
    controls.ledger.note("first_byte", 1, 1)
    controls.ledger.note("first_byte", 1, 2)
    assert ask(controls, "GET", b"/__sim/ledger").body.count(b"\n") == 2
    assert ask(controls, "GET", b"/__sim/ledger?since=2").body.count(b"\n") == 1
    assert ask(controls, "DELETE", b"/__sim/ledger").status == 204
    assert not controls.ledger.entries


def test_next_connections_are_refused_as_told() -> None:
    controls = Controls(Ledger())
    assert ask(controls, "PUT", b"/__sim/refusals", b'{"how": "rst", "count": 2}').status == 204
    assert list(controls.refusals) == ["rst", "rst"]


def test_mistakes_are_named() -> None:
    controls = Controls(Ledger())
    for method, target, body in [
        ("PUT", b"/__sim/scripts/a", b'{"boody": ""}'),
        ("PUT", b"/__sim/refusals", b'{"how": "loudly"}'),
        ("GET", b"/__sim/ledger?since=x", b""),
    ]:
        reply = ask(controls, method, target, body)
        assert (reply.status, b"/__sim/" in reply.body) == (400, True)
    assert ask(controls, "GET", b"/__sim/else").status == 404
