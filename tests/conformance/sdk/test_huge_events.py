"""The official SDK receives an event of 64 MiB unchanged through the relay, and the log has every byte."""

import hashlib
import http.client
import json
import sys
from typing import Any, Final
from urllib.parse import urlsplit

from tests.conformance.sdk.calls import QUESTION, World, assemble, unique
from tests.support.process_usage import peak_memory

MIB: Final = 1 << 20
EVENT_BYTES: Final = 64 * MIB
#: This limit is far above the memory of an idle process. A process that held the whole event would exceed the limit.
MAX_MEMORY: Final = 120 * MIB
TIMEOUT_SECONDS: Final = 60.0
ASKED: Final[Any] = {"model": "gpt-4o-mini", "messages": QUESTION, "stream": True}


def sent(world: World, tag: str) -> dict[str, Any]:
    """Return the upstream's ledger entry for the response to the request with this tag."""
    connection = http.client.HTTPConnection(urlsplit(world.provider.url).netloc, timeout=TIMEOUT_SECONDS)
    try:
        connection.request("GET", "/__sim/ledger")
        entries = [json.loads(line) for line in connection.getresponse().read().splitlines()]
    finally:
        connection.close()
    (found,) = [entry for entry in entries if entry["event"] == "sent" and entry.get("tag") == tag]
    return dict(found)


def test_an_event_of_64_mib_reaches_the_sdk_and_the_log_completely(world: World) -> None:
    tag = unique("huge")
    directives = {"Sim-Event-Bytes": str(EVENT_BYTES), "Sim-Tag": tag}
    with world.direct_client() as direct:
        expected = assemble(
            list(direct.chat.completions.create(**ASKED, extra_headers={**directives, "Sim-Tag": "direct"}))
        )
    with world.client() as client:
        raw = client.chat.completions.with_raw_response.create(**ASKED, extra_headers=directives)
        received = assemble(list(raw.parse()))
    assert len(expected[0].text) == EVENT_BYTES
    assert received == expected
    record = world.server.record(raw.headers["service-request-id"], TIMEOUT_SECONDS)
    of_provider = sent(world, tag)
    assert (record["outcome"], record["failed"]) == ("complete", False)
    assert record["response_bytes"] == of_provider["sent_bytes"] > EVENT_BYTES
    stored = world.server.body(record["id"], "response")
    assert (len(stored), hashlib.sha256(stored).hexdigest()) == (record["response_bytes"], of_provider["sent_sha256"])
    if sys.platform == "linux":
        peaks = {role: peak_memory(world.server.pid_of(role)) for role in ("relay", "recorder")}
        assert {role: peak for role, peak in peaks.items() if peak > MAX_MEMORY} == {}
