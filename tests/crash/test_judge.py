"""The judge accepts a correct log and reports every kind of violation."""

import hashlib
from typing import Any

import msgspec
import pytest
from tests.crash.judge import Call, Logged, Served, judge
from tests.crash.plans import plan_of, request_of, response_of, tag_of

TAG = tag_of("0-1", "stream", 20)
REQUEST = request_of(plan_of(TAG))
RESPONSE = b"".join(response_of(plan_of(TAG)))
TRUNCATED = len(RESPONSE) // 2


def served(received: bytes = REQUEST, sent: bytes = RESPONSE, *, whole: bool = True) -> Served:
    return Served(TAG, len(received), hashlib.sha256(received).hexdigest(), sent, whole)


def called(received: bytes = RESPONSE, **facts: Any) -> Call:
    typical: dict[str, Any] = {"status": 200, "request_id": "id-1", "complete": received == RESPONSE}
    return Call(tag=TAG, request=REQUEST, received=bytearray(received), **{**typical, **facts})


def logged(**facts: Any) -> Logged:
    typical: dict[str, Any] = {"id": "id-1", "tag": TAG, "namespace": TAG, "outcome": "complete"}
    return Logged(**{**typical, "request": REQUEST, "response": RESPONSE, **facts})


def interrupted(**facts: Any) -> Logged:
    return logged(**{"outcome": "interrupted", "response": RESPONSE[:TRUNCATED], **facts})


WITHOUT_ID = called(b"", status=None, request_id=None)
ABORTED = called(RESPONSE[:100], complete=False)

CORRECT: dict[str, tuple[list[Served], list[Call], list[Logged]]] = {
    "complete": ([served()], [called()], [logged()]),
    "interrupted in the response": ([served(whole=False)], [ABORTED], [interrupted()]),
    "interrupted in the request": (
        [served(REQUEST[:50], b"", whole=False)],
        [WITHOUT_ID],
        [interrupted(request=REQUEST[:60], response=b"")],
    ),
    "interrupted before the upstream": ([], [WITHOUT_ID], [interrupted(request=b"", response=b"")]),
    "interrupted after the last byte": ([served()], [called()], [interrupted(response=RESPONSE)]),
    "never arrived": ([], [WITHOUT_ID], []),
    "not admitted": ([], [called(b"{}", status=503, request_id=None)], []),
    "client left": ([served(whole=False)], [called(RESPONSE[:9], left=True)], [interrupted(outcome="client_closed")]),
}

VIOLATIONS: dict[str, tuple[str, list[Served], list[Call], list[Logged]]] = {
    "no record of a request that reached the upstream": ("lost", [served()], [WITHOUT_ID], []),
    "no record with the id that the client has": ("lost", [], [called(b"", status=None, complete=False)], []),
    "no record of a response": ("lost", [], [called(request_id=None)], []),
    "a record with another id": ("lost", [served()], [called()], [logged(id="id-2")]),
    "two records of one request": ("doubled", [served()], [called()], [logged(), logged(id="id-2")]),
    "a record of nothing": ("invented", [], [], [interrupted(response=b"")]),
    "a record without its tag": ("invented", [served()], [WITHOUT_ID], [logged(), interrupted(tag=None)]),
    "less than the client has": ("short", [served(whole=False)], [ABORTED], [interrupted(response=RESPONSE[:99])]),
    "a complete response stored in part": ("short", [served()], [called()], [interrupted()]),
    "complete, response stored in part": ("short", [served()], [ABORTED], [logged(response=RESPONSE[:TRUNCATED])]),
    "complete, request stored in part": ("short", [served(REQUEST[:9])], [called()], [logged(request=REQUEST[:9])]),
    "complete, upstream not done": ("short", [served(whole=False)], [ABORTED], [logged()]),
    "less than the upstream received": ("short", [served()], [ABORTED], [interrupted(request=REQUEST[:-1])]),
    "more than the upstream sent": (
        "altered",
        [served(sent=RESPONSE[:TRUNCATED])],
        [ABORTED],
        [interrupted(response=RESPONSE)],
    ),
    "a response that no one sent": ("altered", [], [WITHOUT_ID], [interrupted()]),
    "a chunk missing": (
        "altered",
        [served(whole=False)],
        [ABORTED],
        [interrupted(response=RESPONSE[:200] + RESPONSE[300:TRUNCATED])],
    ),
    "a chunk duplicated": (
        "altered",
        [served(whole=False)],
        [ABORTED],
        [interrupted(response=RESPONSE[:200] + RESPONSE[100:TRUNCATED])],
    ),
    "another request": ("altered", [served()], [called()], [logged(request=REQUEST.replace(b"user", b"tool"))]),
    "continues after the end": ("altered", [served()], [called(RESPONSE[:-2], complete=True)], [logged()]),
    "another namespace": ("misfiled", [served()], [called()], [logged(namespace="default")]),
    "blames the client": ("misjudged", [served(whole=False)], [ABORTED], [interrupted(outcome="client_closed")]),
    "blames the upstream": ("misjudged", [served(whole=False)], [ABORTED], [interrupted(outcome="upstream_failed")]),
}


@pytest.mark.parametrize("name", CORRECT)
def test_a_correct_log_passes(name: str) -> None:
    assert judge(*CORRECT[name]) == []


@pytest.mark.parametrize("name", VIOLATIONS)
def test_every_violation_is_reported(name: str) -> None:
    fault, provider, calls, log = VIOLATIONS[name]
    assert fault in {violation.fault for violation in judge(provider, calls, log)}


def test_a_violation_is_found_among_many_correct_records() -> None:
    tags = [tag_of(str(number), "whole", 100) for number in range(500)]
    calls, provider, log = [], [], []
    for number, tag in enumerate(tags):
        plan = plan_of(tag)
        request, response = request_of(plan), b"".join(response_of(plan))
        digest = hashlib.sha256(request).hexdigest()
        calls.append(Call(tag=tag, request=request, status=200, request_id=f"id-{number}", complete=True))
        calls[-1].received += response
        provider.append(Served(tag, len(request), digest, response, True))
        log.append(logged(id=f"id-{number}", tag=tag, namespace=tag, request=request, response=response))
    assert judge(provider, calls, log) == []
    log[7], log[8] = (msgspec.structs.replace(log[7], tag=tags[8]), msgspec.structs.replace(log[8], tag=tags[7]))
    assert {violation.tag for violation in judge(provider, calls, log)} == {tags[7], tags[8]}


def test_no_two_tags_have_the_same_request_or_response() -> None:
    plans = [plan_of(tag_of(str(number), shape, 20)) for number in range(20) for shape in ("stream", "whole")]
    assert len({request_of(plan) for plan in plans}) == len(plans)
    assert len({b"".join(response_of(plan)) for plan in plans}) == len(plans)
