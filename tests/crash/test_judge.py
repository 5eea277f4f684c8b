"""The judge itself: an honest log passes, and every kind of dishonesty is named."""

import hashlib
from typing import Any

import msgspec
import pytest
from tests.crash.judge import Call, Logged, Served, judge
from tests.crash.plans import answer_of, plan_of, request_of, tag_of

TAG = tag_of("0-1", "stream", 20)
REQUEST = request_of(plan_of(TAG))
ANSWER = b"".join(answer_of(plan_of(TAG)))
CUT = len(ANSWER) // 2


def served(received: bytes = REQUEST, sent: bytes = ANSWER, *, whole: bool = True) -> Served:
    return Served(TAG, len(received), hashlib.sha256(received).hexdigest(), sent, whole)


def called(received: bytes = ANSWER, **facts: Any) -> Call:
    typical: dict[str, Any] = {"status": 200, "request_id": "id-1", "complete": received == ANSWER}
    return Call(tag=TAG, request=REQUEST, received=bytearray(received), **{**typical, **facts})


def logged(**facts: Any) -> Logged:
    typical: dict[str, Any] = {"id": "id-1", "tag": TAG, "namespace": TAG, "outcome": "complete"}
    return Logged(**{**typical, "request": REQUEST, "response": ANSWER, **facts})


def interrupted(**facts: Any) -> Logged:
    return logged(**{"outcome": "interrupted", "response": ANSWER[:CUT], **facts})


UNTOLD = called(b"", status=None, request_id=None)
BROKEN_OFF = called(ANSWER[:100], complete=False)

HONEST: dict[str, tuple[list[Served], list[Call], list[Logged]]] = {
    "complete": ([served()], [called()], [logged()]),
    "cut in the answer": ([served(whole=False)], [BROKEN_OFF], [interrupted()]),
    "cut in the request": (
        [served(REQUEST[:50], b"", whole=False)],
        [UNTOLD],
        [interrupted(request=REQUEST[:60], response=b"")],
    ),
    "cut before the provider": ([], [UNTOLD], [interrupted(request=b"", response=b"")]),
    "cut after the last byte": ([served()], [called()], [interrupted(response=ANSWER)]),
    "never arrived": ([], [UNTOLD], []),
    "not admitted": ([], [called(b"{}", status=503, request_id=None)], []),
    "left": ([served(whole=False)], [called(ANSWER[:9], left=True)], [interrupted(outcome="client_closed")]),
}

DISHONEST: dict[str, tuple[str, list[Served], list[Call], list[Logged]]] = {
    "no record of what reached the provider": ("lost", [served()], [UNTOLD], []),
    "no record of the id the caller has": ("lost", [], [called(b"", status=None, complete=False)], []),
    "no record of an answer": ("lost", [], [called(request_id=None)], []),
    "another record than the caller was told": ("lost", [served()], [called()], [logged(id="id-2")]),
    "two records of one request": ("doubled", [served()], [called()], [logged(), logged(id="id-2")]),
    "a record of nothing": ("invented", [], [], [interrupted(response=b"")]),
    "a record without its tag": ("invented", [served()], [UNTOLD], [logged(), interrupted(tag=None)]),
    "less than the caller has": ("short", [served(whole=False)], [BROKEN_OFF], [interrupted(response=ANSWER[:99])]),
    "a whole answer stored cut": ("short", [served()], [called()], [interrupted()]),
    "called complete, stored cut": ("short", [served()], [BROKEN_OFF], [logged(response=ANSWER[:CUT])]),
    "called complete, request cut": ("short", [served(REQUEST[:9])], [called()], [logged(request=REQUEST[:9])]),
    "called complete, provider not done": ("short", [served(whole=False)], [BROKEN_OFF], [logged()]),
    "less than the provider has": ("short", [served()], [BROKEN_OFF], [interrupted(request=REQUEST[:-1])]),
    "more than the provider sent": (
        "altered",
        [served(sent=ANSWER[:CUT])],
        [BROKEN_OFF],
        [interrupted(response=ANSWER)],
    ),
    "an answer of nobody": ("altered", [], [UNTOLD], [interrupted()]),
    "a piece left out": (
        "altered",
        [served(whole=False)],
        [BROKEN_OFF],
        [interrupted(response=ANSWER[:200] + ANSWER[300:CUT])],
    ),
    "a piece doubled": (
        "altered",
        [served(whole=False)],
        [BROKEN_OFF],
        [interrupted(response=ANSWER[:200] + ANSWER[100:CUT])],
    ),
    "another request": ("altered", [served()], [called()], [logged(request=REQUEST.replace(b"user", b"tool"))]),
    "goes on after the end": ("altered", [served()], [called(ANSWER[:-2], complete=True)], [logged()]),
    "another namespace": ("misfiled", [served()], [called()], [logged(namespace="default")]),
    "blames the caller": ("misjudged", [served(whole=False)], [BROKEN_OFF], [interrupted(outcome="client_closed")]),
    "blames the provider": ("misjudged", [served(whole=False)], [BROKEN_OFF], [interrupted(outcome="upstream_failed")]),
}


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_log_passes(name: str) -> None:
    assert judge(*HONEST[name]) == []


@pytest.mark.parametrize("name", DISHONEST)
def test_every_dishonesty_is_named(name: str) -> None:
    fault, provider, calls, log = DISHONEST[name]
    assert fault in {violation.fault for violation in judge(provider, calls, log)}


def test_the_fault_is_found_among_many_honest_ones() -> None:
    tags = [tag_of(str(number), "whole", 100) for number in range(500)]
    calls, provider, log = [], [], []
    for number, tag in enumerate(tags):
        plan = plan_of(tag)
        request, answer = request_of(plan), b"".join(answer_of(plan))
        digest = hashlib.sha256(request).hexdigest()
        calls.append(Call(tag=tag, request=request, status=200, request_id=f"id-{number}", complete=True))
        calls[-1].received += answer
        provider.append(Served(tag, len(request), digest, answer, True))
        log.append(logged(id=f"id-{number}", tag=tag, namespace=tag, request=request, response=answer))
    assert judge(provider, calls, log) == []
    log[7], log[8] = (msgspec.structs.replace(log[7], tag=tags[8]), msgspec.structs.replace(log[8], tag=tags[7]))
    assert {violation.tag for violation in judge(provider, calls, log)} == {tags[7], tags[8]}


def test_no_two_tags_share_a_request_or_an_answer() -> None:
    plans = [plan_of(tag_of(str(number), shape, 20)) for number in range(20) for shape in ("stream", "whole")]
    assert len({request_of(plan) for plan in plans}) == len(plans)
    assert len({b"".join(answer_of(plan)) for plan in plans}) == len(plans)
