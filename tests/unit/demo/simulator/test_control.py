"""Test control requests."""

from relaybook_demo.simulator.control import Controls, control
from relaybook_demo.simulator.incoming import Request
from relaybook_demo.simulator.ledger import Ledger
from relaybook_demo.simulator.replies import Reply
from relaybook_demo.simulator.scripts import Raw, Script, read_script


def send_control(controls: Controls, method: str, target: bytes, body: bytes = b"") -> Reply:
    request = Request(method, target)
    request.begin_body()
    request.add_body(body)
    return control(request, controls)


def test_scripts_are_put_replaced_and_deleted() -> None:
    controls = Controls(Ledger())
    assert send_control(controls, "PUT", b"/__sim/scripts/a%20b", b'{"body": "YQ=="}').status == 204
    assert controls.scripts["a b"].body == b"a"
    assert send_control(controls, "DELETE", b"/__sim/scripts/a%20b").status == 204
    assert send_control(controls, "DELETE", b"/__sim/scripts/a%20b").status == 404


def test_a_script_is_returned_as_it_was_stored() -> None:
    controls = Controls(Ledger())
    path = b"/__sim/scripts/a"
    assert send_control(controls, "GET", path).status == 404
    assert send_control(controls, "PUT", path, b'{"status_line": {"base64": "/w=="}, "body": "YQ=="}').status == 204
    reply = send_control(controls, "GET", path)
    assert reply.status == 200
    assert read_script(reply.body) == Script(status_line=Raw(base64=b"\xff"), body=b"a")
    assert send_control(controls, "POST", path).status == 404


def test_the_ledger_is_read_from_a_number_and_cleared() -> None:
    controls = Controls(Ledger())
    controls.ledger.log_event("first_byte", 1, 1)
    controls.ledger.log_event("first_byte", 1, 2)
    assert send_control(controls, "GET", b"/__sim/ledger").body.count(b"\n") == 2
    assert send_control(controls, "GET", b"/__sim/ledger?since=2").body.count(b"\n") == 1
    assert send_control(controls, "DELETE", b"/__sim/ledger").status == 204
    assert not controls.ledger.entries


def test_refusals_apply_to_the_next_connections() -> None:
    controls = Controls(Ledger())
    assert send_control(controls, "PUT", b"/__sim/refusals", b'{"how": "rst", "count": 2}').status == 204
    assert list(controls.refusals) == ["rst", "rst"]


def test_invalid_control_requests_get_400() -> None:
    controls = Controls(Ledger())
    for method, target, body in [
        ("PUT", b"/__sim/scripts/a", b'{"boody": ""}'),
        ("PUT", b"/__sim/refusals", b'{"how": "loudly"}'),
        ("GET", b"/__sim/ledger?since=x", b""),
    ]:
        reply = send_control(controls, method, target, body)
        assert (reply.status, b"/__sim/" in reply.body) == (400, True)
    assert send_control(controls, "GET", b"/__sim/else").status == 404
