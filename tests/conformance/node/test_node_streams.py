"""The official Node SDK reads answers and streams as without a relay, and a broken stream raises."""

import pytest
from tests.conformance.node.node_sdk import Call, make
from tests.conformance.sdk.calls import World, unique
from tests.conformance.sdk.cut_streams import WORDS, cut_everywhere, last_event_ends


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_an_answer_is_the_providers_own_and_its_record_tells_it(world: World, streamed: bool) -> None:
    namespace = unique("node")
    asked = {"stream": streamed}
    relayed, direct = make(
        Call(world.server.base_url, {"Service-Namespace": namespace}, asked), Call(world.provider.url, {}, asked)
    )
    assert relayed == direct
    assert relayed["text"]
    (row,) = world.recorded(namespace)
    record = world.server.record(row["id"])
    assert (record["outcome"], record["stream"], record["failed"]) == ("complete", streamed, False)
    assert record["answer"]["choices"][0]["text"] == relayed["text"]
    assert record["user_agent"].startswith("OpenAI/JS")


@pytest.mark.parametrize("how", ["", " rst"])
def test_a_stream_broken_between_two_events_raises_with_our_code(world: World, how: str) -> None:
    namespace = unique("node")
    headers = {"Service-Namespace": namespace, "Sim-Break": f"event:3{how}", "Sim-Event-Interval-Ms": "2"}
    (said,) = make(Call(world.server.base_url, headers, {"stream": True}))
    assert (said["error"]["class"], said["error"]["code"]) == ("APIError", "upstream_stream_interrupted")
    assert said["chunks"] == 3
    (record,) = world.recorded(namespace)
    assert (record["outcome"], record["error_code"]) == ("upstream_failed", "upstream_stream_interrupted")


@pytest.mark.parametrize("manner", ["close", "rst"])
def test_a_stream_cut_at_any_byte_raises(world: World, manner: str) -> None:
    asked = list(cut_everywhere("chunked", manner))
    found = make(*(Call(world.server.base_url, each["extra_headers"], {"stream": True}) for each in asked))
    ends = last_event_ends("chunked")
    assert [size for size in range(ends) if "error" not in found[size]] == []
    assert [size for size, said in enumerate(found) if "error" not in said and said["text"] != "".join(WORDS)] == []
    if manner == "close":  # a reset may overtake what was sent before it
        assert "error" not in found[-1]
