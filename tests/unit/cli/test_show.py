"""Test that ``show`` prints one request."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.support.api_log import record_of
from tests.support.rows import detail

from relaybook.cli import show as module
from relaybook.cli.cache_text import cache_line, cache_text
from relaybook.cli.failure import CommandFailed
from relaybook.cli.show import transcript
from relaybook.log.descriptions import COST_REASONS
from relaybook.log.formats.prompt_change import PromptChange
from relaybook.log.prompt_cache import CacheReport, SentSection, not_stored
from relaybook.log.record import Feedback, Note
from relaybook.settings.configuration import Configuration, resolve


def report() -> CacheReport:
    found = not_stored(record_of(1))
    found.compared_with, found.seconds_between, found.state = "b", 12.0, "broken"
    found.text = "The system prompt changed at character 1,204: a date or time."
    found.sent_again_tokens, found.cached_tokens, found.missed_tokens, found.missed_usd = 11_204, 0, 11_204, 0.0125
    found.change = PromptChange(
        kind="date",
        what="a date or time",
        where="the system prompt, character 1,204",
        section="system",
        message=0,
        character=1204,
        leading="Today is 2026-11-2",
        before="8",
        after="9",
        trailing=".\x1b",
    )
    found.sent = [SentSection(section="tools", items=3, characters=9, equal_characters=9, tokens=None, breakpoints=0)]
    return found


class OneDetail:
    """A fake log that contains only a request with the id ``known``."""

    def find(self, text: str) -> dict[str, Any] | None:
        return detail(namespace="ios") if text == "known" else None

    def cache(self, record_id: str) -> dict[str, Any]:
        assert record_id == detail()["id"]
        found: dict[str, Any] = msgspec.to_builtins(report())
        return found

    def lag_seconds(self) -> float:
        return 0.0


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Configuration:
    monkeypatch.setattr(module, "open_log", lambda _: OneDetail())
    return resolve({"data": "log"}, {}, tmp_path)


def test_the_request_is_printed(settings: Configuration, capsys: pytest.CaptureFixture[str]) -> None:
    assert module.show(settings, "known") == 0
    assert "namespace   ios\n" in capsys.readouterr().out


def test_json_output_is_the_whole_detail(settings: Configuration, capsys: pytest.CaptureFixture[str]) -> None:
    module.show(settings, "known", as_json=True)
    assert json.loads(capsys.readouterr().out) == detail(namespace="ios")


def test_a_break_of_the_cache_is_one_line_of_a_request(
    settings: Configuration, capsys: pytest.CaptureFixture[str]
) -> None:
    module.show(settings, "known")
    line = "cache       same start as an earlier request: ≈11,204 tokens, none cached. The system prompt changed at "
    assert line + "character 1,204: a date or time. ≈11,204 tokens were not cached, about $0.0125 more.\n" in (
        capsys.readouterr().out
    )


def test_all_about_the_cache_is_printed_without_control_characters(
    settings: Configuration, capsys: pytest.CaptureFixture[str]
) -> None:
    module.show(settings, "known", only_cache=True)
    printed = capsys.readouterr().out
    assert "before      b, 12.0 s earlier\n" in printed
    assert " after      …Today is 2026-11-2⟨9⟩.\\x1b…\n" in printed
    assert "tools       3×, 9 characters, 9 characters equal\n" in printed
    module.show(settings, "known", only_cache=True, as_json=True)
    assert json.loads(capsys.readouterr().out)["missed_usd"] == 0.0125


def test_unknown_counts_of_tokens_are_omitted() -> None:
    found = report()
    found.sent_again_tokens = found.cached_tokens = found.missed_tokens = None
    found.equal_characters = 352
    values = msgspec.to_builtins(found)
    assert cache_line(values) == "The system prompt changed at character 1,204: a date or time."
    assert "equal       352 characters from the start\n" in cache_text(values)


def test_an_unknown_id_is_a_failure(settings: Configuration) -> None:
    with pytest.raises(CommandFailed, match=r"has the id no\\x1b\."):
        module.show(settings, "no\x1b")


def test_invalid_utf_8_is_not_an_id(settings: Configuration, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OneDetail, "find", lambda _, text: text.encode())
    with pytest.raises(CommandFailed, match=r"has the id caf\\udce9\."):
        module.show(settings, "caf\udce9")


def lines(**fields: Any) -> list[str]:
    return transcript(detail(**fields)).split("\n")


def shown_parts(*parts: dict[str, Any]) -> list[str]:
    """Return the lines of a response with these parts."""
    response = {"outputs": [{"index": 0, "parts": parts}]}
    text = "\n".join(lines(response=response)).partition("── response\n")[2]
    return [line.removeprefix("   ") for line in text.split("\n")]


def test_fields_come_first_and_empty_ones_are_omitted() -> None:
    fields = {"model": "gpt-4o", "response_model": "gpt-4o-2024", "session": "ses_1"}
    shown = lines(namespace="ios", properties={"tool": "x"}, **fields)
    assert shown[0] == "result      ✓ 200"
    assert "namespace   ios" in shown
    assert "properties  tool=x" in shown
    assert "model       gpt-4o → gpt-4o-2024" in shown
    assert "session     ses_1" in shown
    assert not [line for line in shown if line.startswith("key")]


def test_the_route_is_shown_if_it_is_not_the_default_route() -> None:
    assert "route       anthropic" in lines(route="anthropic")
    assert not [line for line in lines() if line.startswith("route")]


def test_feedback_is_one_line_per_source() -> None:
    feedback = [
        Feedback(source="judge", score=-0.25, label="rude", at=1),
        Feedback(source="users", comment="no\x1b\nthanks", at=2),
    ]
    shown = lines(feedback=feedback)
    assert [line for line in shown if line.startswith("feedback")] == [
        "feedback    judge: score -0.25, rude",
        r"feedback    users: no\x1b\x0athanks",
    ]


def test_the_error_follows_the_result() -> None:
    shown = lines(status=429, failed=True, error_code="rate_limit_exceeded", error_message="Slow down")
    assert shown[0] == "result      ✗ 429 rate limited, rate_limit_exceeded: Slow down"


def test_the_reason_is_shown_only_for_failures() -> None:
    assert lines(reason="OK")[0] == "result      ✓ 200"
    assert "OK" not in lines(outcome="open", duration_ms=None, reason="OK")[0]
    assert lines(outcome="client_closed", reason="OK")[0] == "result      ◌ Client disconnected"
    cut = lines(outcome="upstream_failed", failed=True, error_code="upstream_reset", reason="It closed.")
    assert cut[0] == "result      ✗ Connection closed by upstream, upstream_reset: It closed."
    killed = lines(outcome="interrupted", failed=True, reason="The relay ended.")
    assert killed[0] == "result      ✗ Relay stopped: The relay ended."


def test_every_id_has_a_label_that_fits() -> None:
    shown = lines(provider_request_id="req_1", completion_id="chatcmpl-1", client_request_id="c1", trace_id="t1")
    assert {"provider id req_1", "completion  chatcmpl-1", "client id   c1", "trace       t1"} <= set(shown)


@pytest.mark.parametrize(
    ("stream_ended", "text"),
    [
        (None, ", streamed"),
        ("done", ", streamed"),
        ("no_done", ", streamed, without its end marker"),
        ("cut", ", streamed, interrupted"),
    ],
)
def test_the_end_of_a_stream_is_shown_if_it_has_no_end_marker(stream_ended: str | None, text: str) -> None:
    assert f"response    90 bytes{text}" in lines(stream=True, stream_ended=stream_ended, response_bytes=90)


def test_warnings_notes_and_other_requests_with_the_id_are_listed() -> None:
    shown = lines(
        warnings=[Note(code="namespace_cut", message="It was long")],
        notes=[Note(code="not_json", message="It is HTML")],
        also=[{"id": "other", "started_at": "2026-11-21T10:00:00.000000Z"}],
    )
    assert "warning     namespace_cut: It was long" in shown
    assert "note        not_json: It is HTML" in shown
    assert [line for line in shown if line.startswith("also        other, ")]


def test_messages_and_response_are_printed() -> None:
    text = transcript(
        detail(
            messages=[
                {"role": "system", "parts": [{"kind": "text", "text": "Be\nbrief"}]},
                {
                    "role": "user",
                    "parts": [
                        {"kind": "text", "text": "Look", "other": {"cache_control": {}}},
                        {"kind": "image", "media": {"type": "image/png", "bytes": 34_000}},
                    ],
                },
                {"role": "tool", "parts": [{"kind": "tool_result", "id": "c1", "text": "21 °C"}]},
                {"role": "tool", "parts": [{"kind": "tool_result", "name": "ls", "text": "no", "failed": True}]},
            ],
            response={
                "outputs": [
                    {
                        "index": 0,
                        "parts": [{"kind": "reasoning", "text": "Hm"}, {"kind": "text", "text": "Hello"}],
                        "finish_reason": "stop",
                    },
                    {"index": 1, "parts": [{"kind": "text", "text": "Bye"}], "finish_reason": "length"},
                ]
            },
        ),
    )
    assert "── system\n   Be\n   brief\n\n── user\n   Look\n   [image png 34 kB]\n\n── tool\n   21 °C\n\n" in text
    assert "── ls → result ✗ error\n   no\n" in text
    assert "── response 1 of 2 (stop)\n   (reasoning) Hm\n   Hello\n" in text
    assert text.endswith("── response 2 of 2 (length)\n   Bye")


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ({"kind": "reasoning", "other": {"encrypted_content": "gAAA"}}, "[reasoning]"),
        ({"kind": "refusal", "text": "I cannot."}, "(refusal) I cannot."),
        ({"kind": "tool_call", "name": "f", "arguments": '{"city":"Rome"}'}, 'ƒ f({"city":"Rome"})'),
        ({"kind": "tool_call"}, "ƒ –()"),
        ({"kind": "image"}, "[image]"),
        ({"kind": "other", "text": "3 vectors of 1,536 numbers"}, "3 vectors of 1,536 numbers"),
        ({"kind": "other", "type": "web_search_call", "other": {"id": "ws_1"}}, "[web_search_call] id=ws_1"),
        ({"kind": "other"}, "[other]"),
        ({"kind": "text", "text": ""}, ""),
    ],
)
def test_every_kind_of_part_is_one_line(part: dict[str, Any], text: str) -> None:
    assert shown_parts(part, {"kind": "text", "text": "end"}) == [*filter(None, [text]), "end"]


def test_a_sentence_of_the_model_that_citations_split_is_one_line() -> None:
    parts: list[dict[str, Any]] = [
        {"kind": "text", "text": text, "other": {"citations": []}} for text in ("21 °C", ".")
    ]
    assert shown_parts(*parts) == ["21 °C."]
    messages = [{"role": role, "parts": parts} for role in ("user", "assistant")]
    assert lines(messages=messages)[-6:] == ["── user", "   21 °C", "   .", "", "── assistant", "   21 °C."]


def test_the_transcript_of_audio_follows_its_label() -> None:
    audio = {"kind": "audio", "text": "Hello.", "media": {"type": "audio/wav"}}
    assert shown_parts(audio) == ["[audio wav]", "Hello."]


def test_items_that_are_not_messages_are_shown() -> None:
    item = {"kind": "other", "type": "shell_call", "other": {"call_id": "c", "action": {"commands": ["ls"]}}}
    messages = [{"role": None, "parts": [part]} for part in (item, {"kind": "other", "other": {"note": 1}})]
    assert lines(messages=messages)[-5:] == [
        "── shell_call",
        '   call_id=c  action={"commands": ["ls"]}',
        "",
        "── –",
        "   note=1",
    ]


@pytest.mark.parametrize(
    ("fields", "response", "title"),
    [
        ({}, {}, "response"),
        ({}, {"ending": "done"}, "response"),
        ({}, {"ending": "no_done"}, "response (not finished)"),
        ({}, {"ending": "cut"}, "response (not finished)"),
        ({"outcome": "open", "duration_ms": None}, {}, "response (not finished)"),
    ],
)
def test_an_output_is_not_called_unfinished_if_its_api_has_no_finish_reason(
    fields: dict[str, Any], response: dict[str, Any], title: str
) -> None:
    outputs = [{"index": 0, "parts": [{"kind": "other", "text": "1 vector of 3 numbers"}]}]
    assert lines(response={"outputs": outputs, **response}, **fields)[-2] == f"── {title}"


def test_it_says_if_bodies_are_not_stored() -> None:
    assert lines(body_state="no_bodies")[-1].startswith("Not stored")
    assert lines(body_state="expired")[-1].startswith("No longer stored")


def test_it_says_if_the_content_is_damaged() -> None:
    assert lines(damage="x.pack is damaged at byte 0.", messages=None)[-1] == (
        "The content cannot be read: x.pack is damaged at byte 0."
    )


def test_text_of_clients_and_models_cannot_move_the_cursor() -> None:
    nasty = "a\x1b[2J\rb"
    text = transcript(
        detail(
            namespace=nasty,
            user_agent=nasty,
            parameters={"x": nasty},
            messages=[
                {"role": nasty, "parts": [{"kind": "text", "text": nasty}]},
                {"role": None, "parts": [{"kind": "other", "type": nasty, "other": {nasty: nasty}}]},
            ],
            response={
                "outputs": [
                    {
                        "index": 0,
                        "parts": [
                            {"kind": "tool_call", "name": nasty, "arguments": nasty},
                            {"kind": "file", "media": {"name": nasty}},
                        ],
                        "finish_reason": nasty,
                    }
                ]
            },
        ),
    )
    assert text.replace("\n", "").isprintable()


def test_an_unknown_cost_is_printed_with_its_reason() -> None:
    text = transcript(detail(cost_usd=None, cost_reason="no_price"))
    assert f"cost        – (no_price: {COST_REASONS['no_price']})" in text.splitlines()
