"""From a request to a plan."""

from relaybook_demo.simulator.incoming import Request
from relaybook_demo.simulator.replies import Header
from relaybook_demo.simulator.responder import Responder
from relaybook_demo.simulator.scripts import Script
from relaybook_demo.simulator.settings import SimulatorSettings


def request(*headers: Header, target: bytes = b"/v1/echo", body: bytes = b"") -> Request:
    found = Request("POST", target, list(headers), is_complete=True)
    found.begin_body()
    found.add_body(body)
    return found


def wire(responder: Responder, asked: Request) -> bytes:
    plan = responder.plan(asked)
    return plan.head + b"".join(plan.parts)


def test_bad_wish_is_refused_by_name() -> None:
    answer = wire(Responder(SimulatorSettings()), request((b"Sim-Brake", b"head")))
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"Sim-Brake is no wish" in answer


def test_raw_and_script_replace_the_answer() -> None:
    responder = Responder(SimulatorSettings())
    responder.controls.scripts["s"] = Script(status_line="S", framing="raw")
    assert wire(responder, request((b"sim-raw", b"YWJj"))) == b"abc"
    assert wire(responder, request((b"sim-script", b"s"))) == b"S\r\n\r\n"
    assert b"There is no script 'other'" in wire(responder, request((b"sim-script", b"other")))


def test_metadata_can_wish_too() -> None:
    body = b'{"metadata": {"sim_status": "503"}}'
    assert wire(Responder(SimulatorSettings()), request(body=body)).startswith(b"HTTP/1.1 503 ")


def test_control_needs_no_key_and_hears_no_wish() -> None:
    asked = Request("GET", b"/__sim/ledger", [(b"sim-status", b"500")], is_complete=True)
    assert wire(Responder(SimulatorSettings()), asked).startswith(b"HTTP/1.1 200 ")


def test_refusals_are_used_up() -> None:
    responder = Responder(SimulatorSettings())
    responder.controls.refusals.append("hang")
    assert [responder.next_refusal(), responder.next_refusal()] == ["hang", None]


def test_request_ids_are_never_used_twice() -> None:
    responder = Responder(SimulatorSettings())
    heads = [responder.plan(request()).head for _ in range(3)]
    assert len({head.partition(b"x-request-id: ")[2].split()[0] for head in heads}) == 3
