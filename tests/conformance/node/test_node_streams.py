"""The Node SDK reads the same responses and streams with and without the relay. A broken stream raises an error."""

import pytest
from tests.conformance.node.node_sdk import Call, make
from tests.conformance.sdk.calls import World, unique
from tests.conformance.sdk.cut_streams import WORDS, cut_everywhere, last_event_ends
from tests.support.parts import text_of


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_the_response_is_the_upstreams_own_and_its_record_matches(world: World, streamed: bool) -> None:
    namespace = unique("node")
    calls = {"stream": streamed}
    relayed, direct = make(
        Call(world.server.base_url, {"Service-Namespace": namespace}, calls), Call(world.provider.url, {}, calls)
    )
    assert relayed == direct
    assert relayed["text"]
    (row,) = world.recorded(namespace)
    record = world.server.record(row["id"])
    assert (record["outcome"], record["stream"], record["failed"]) == ("complete", streamed, False)
    assert text_of(record["response"]["outputs"][0]) == relayed["text"]
    assert record["user_agent"].startswith("OpenAI/JS")


@pytest.mark.parametrize("ending", ["", " rst"])
def test_a_stream_broken_between_two_events_raises_as_without_the_relay(world: World, ending: str) -> None:
    namespace = unique("node")
    headers = {"Sim-Break": f"event:3{ending}", "Sim-Event-Interval-Ms": "2"}
    relayed, direct = make(
        Call(world.server.base_url, {"Service-Namespace": namespace, **headers}, {"stream": True}),
        Call(world.provider.url, headers, {"stream": True}),
    )
    assert relayed["error"]["class"] == direct["error"]["class"]
    assert relayed["chunks"] == 3
    (record,) = world.recorded(namespace)
    assert (record["outcome"], record["error_code"]) == ("upstream_failed", "upstream_stream_interrupted")


@pytest.mark.parametrize("manner", ["close", "rst"])
def test_a_stream_truncated_at_any_byte_raises(world: World, manner: str) -> None:
    calls = list(cut_everywhere("chunked", manner))
    found = make(*(Call(world.server.base_url, each["extra_headers"], {"stream": True}) for each in calls))
    ends = last_event_ends("chunked")
    assert [size for size in range(ends) if "error" not in found[size]] == []
    assert [
        size for size, result in enumerate(found) if "error" not in result and result["text"] != "".join(WORDS)
    ] == []
    if manner == "close":  # a reset can discard bytes that were sent earlier
        assert "error" not in found[-1]
