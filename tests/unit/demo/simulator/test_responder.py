"""Test how a response plan is made from a request."""

from relaybook_demo.simulator.incoming import Request
from relaybook_demo.simulator.replies import Header
from relaybook_demo.simulator.responder import Responder
from relaybook_demo.simulator.scripts import Script
from relaybook_demo.simulator.settings import SimulatorSettings


def request(*headers: Header, target: bytes = b"/v1/echo", body: bytes = b"") -> Request:
    result = Request("POST", target, list(headers), is_complete=True)
    result.begin_body()
    result.add_body(body)
    return result


def wire(responder: Responder, incoming: Request) -> bytes:
    plan = responder.plan(incoming)
    return plan.head + b"".join(plan.parts)


def test_an_unknown_directive_is_rejected_by_name() -> None:
    response = wire(Responder(SimulatorSettings()), request((b"Sim-Brake", b"head")))
    assert response.startswith(b"HTTP/1.1 400 ")
    assert b"Sim-Brake is not a directive" in response


def test_raw_and_script_replace_the_response() -> None:
    responder = Responder(SimulatorSettings())
    responder.controls.scripts["s"] = Script(status_line="S", framing="raw")
    assert wire(responder, request((b"sim-raw", b"YWJj"))) == b"abc"
    assert wire(responder, request((b"sim-script", b"s"))) == b"S\r\n\r\n"
    assert b"Script 'other' does not exist" in wire(responder, request((b"sim-script", b"other")))


def test_metadata_can_contain_directives() -> None:
    body = b'{"metadata": {"sim_status": "503"}}'
    assert wire(Responder(SimulatorSettings()), request(body=body)).startswith(b"HTTP/1.1 503 ")


def test_control_requests_need_no_key_and_ignore_directives() -> None:
    incoming = Request("GET", b"/__sim/ledger", [(b"sim-status", b"500")], is_complete=True)
    assert wire(Responder(SimulatorSettings()), incoming).startswith(b"HTTP/1.1 200 ")


def test_a_refusal_applies_once() -> None:
    responder = Responder(SimulatorSettings())
    responder.controls.refusals.append("hang")
    assert [responder.next_refusal(), responder.next_refusal()] == ["hang", None]


def test_request_ids_are_unique() -> None:
    responder = Responder(SimulatorSettings())
    heads = [responder.plan(request()).head for _ in range(3)]
    assert len({head.partition(b"x-request-id: ")[2].split()[0] for head in heads}) == 3
