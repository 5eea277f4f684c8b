"""Measure the CPU time and duration of large requests through every proxy, one at a time."""

import http.client
import json
import statistics
import time
from typing import Any

from benchmarks.comparison.field import Field, rest, spent
from benchmarks.comparison.provider import completion, words
from benchmarks.peers.peer import Peer
from benchmarks.traffic.messages import FIVE, REQUEST_BODY

MIB = 1 << 20
#: Sizes of the request and of the response in bytes.
SIZES = ((MIB, 0), (8 * MIB, MIB))
_ROUNDS = 2
_SECONDS = 1.0
_LEAST = 2
_UNTIL_S = 400
_TIMEOUT_S = 60.0


def measure_large(field: Field) -> None:
    """Measure both sizes, alternating between the proxies."""
    for sent, received in SIZES:
        field.provider.events(1, 1, received)
        body, length = _prompt(sent), len(completion(received))
        for number in field.rounds(_ROUNDS, _UNTIL_S):
            for name, peer in field.turns():
                same = {"what": "large", "sent": sent, "proxy": name, "round": number}
                found = _round(peer, body, length, 0.2 if field.bench.quick else _SECONDS)
                field.result.rounds.append(same | found)
        _summarise(field, sent, received)


def _prompt(length: int) -> bytes:
    request = json.loads(REQUEST_BODY)
    request["messages"][1]["content"] = words(length - len(REQUEST_BODY), 1)
    return json.dumps(request, separators=(",", ":")).encode()


def _round(peer: Peer, body: bytes, length: int, seconds: float) -> dict[str, Any]:
    """Send one request at a time for ``seconds``. The CPU time includes the time for logging that finishes later."""
    headers = FIVE.request | dict(peer.headers)
    connection = http.client.HTTPConnection("127.0.0.1", peer.port, timeout=_TIMEOUT_S)
    took: list[float] = []
    before, until = spent(peer), time.monotonic() + seconds
    try:
        while time.monotonic() < until or len(took) < _LEAST:
            began = time.perf_counter()
            connection.request("POST", "/v1/chat/completions", body, headers)
            answer = connection.getresponse()
            data = answer.read()
            took.append((time.perf_counter() - began) * 1e3)
            if answer.status != 200 or len(data) < length // 2:
                return {"failed": f"status {answer.status}, {len(data):,} bytes"}
    except (OSError, http.client.HTTPException) as error:
        return {"failed": repr(error)[:100]}
    finally:
        connection.close()
    rest(peer)
    after = spent(peer)
    found: dict[str, Any] = {"requests": len(took), "ms": statistics.median(took)}
    if peer.pids():
        found["cpu_ms"] = (after.whole - before.whole) / len(took) * 1e3
        for role in after.roles:
            found[f"{role}_cpu_ms"] = (after.roles[role] - before.roles[role]) / len(took) * 1e3
    return found


def _summarise(field: Field, sent: int, received: int) -> None:
    result = field.result
    size = f"{sent // MIB} MiB sent" + (f", {received // MIB} MiB received" if received else "")
    rows = {"cpu_ms": f"CPU per request, {size}"}
    rows |= {f"{role}_cpu_ms": f"– {role} only, {size}" for role in ("relay", "recorder")}
    rows |= {"ms": f"response time, {size}"}
    for key, row in rows.items():
        for name in field.peers:
            same: dict[str, Any] = {"what": "large", "sent": sent, "proxy": name}
            if result.found("failed", **same):
                bad = [each for each in result.rounds if "failed" in each and same.items() <= each.items()]
                result.note(row, name, f"failed: {bad[0]['failed']}")
            elif result.found(key, **same):
                result.cell(row, name, result.median(key, **same), "ms")
