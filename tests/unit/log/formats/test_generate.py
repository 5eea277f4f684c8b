"""Test how requests and responses of Gemini's API are read. The bytes are those of Google's documentation."""

from typing import Any

import pytest
from tests.golden.generate_exchanges import RATINGS, USAGE, array, body, candidate, event_stream, events
from tests.support.bodies import brief, data_of, output_of, reading_of

from relaybook.apis import match
from relaybook.log.finish_reasons import finish_of
from relaybook.log.formats import Reading, read_request
from relaybook.log.formats.conversation import Media, Message, Part, Request
from relaybook.log.formats.preview import finish_reason
from relaybook.log.formats.provider_errors import read_error
from relaybook.log.formats.usage import Tokens, counts_of

HI = {"role": "user", "parts": [{"text": "Hi"}]}


def request_of(sent: Any, operation: str = "generateContent", model: str = "gemini-2.5-flash") -> Request:
    return read_request(data_of(sent), match("POST", f"/v1beta/models/{model}:{operation}"))


def parts_of(*parts: Any) -> list[Part]:
    (message,) = request_of({"contents": [{"role": "model", "parts": list(parts)}]}).messages
    return message.parts


def stream_of(values: list[Any], *, is_array: bool = False, complete: bool = True) -> Reading:
    data = b"".join(array(values) if is_array else event_stream(values))
    return reading_of(data, "generate", streamed=not is_array, complete=complete)


# Requests


def test_contents_are_messages_and_the_model_is_the_assistant() -> None:
    sent = {
        "systemInstruction": {"role": "user", "parts": [{"text": "Be brief."}]},
        "contents": [HI, {"role": "model", "parts": [{"text": "Hello"}]}, {"parts": [{"text": "Bye"}]}],
        "generationConfig": {"temperature": 0},
    }
    request = request_of(sent)
    assert [(each.role, brief(each.parts)) for each in request.messages] == [
        ("system", [("text", "Be brief.")]),
        ("user", [("text", "Hi")]),
        ("assistant", [("text", "Hello")]),
        ("user", [("text", "Bye")]),
    ]
    assert request.messages[0].other == {"role": "user"}
    assert (request.model, request.parameters) == ("gemini-2.5-flash", {"generationConfig": {"temperature": 0}})
    assert request.is_conversation


@pytest.mark.parametrize(
    "contents",
    ["Hi", ["Hi"], HI, {"parts": [{"text": "Hi"}]}, {"parts": {"text": "Hi"}}, {"parts": "Hi"}, [{"text": "Hi"}]],
)
def test_contents_need_no_lists(contents: Any) -> None:
    assert request_of({"contents": contents}).messages == [Message("user", [Part("text", text="Hi")])]


def test_both_spellings_of_names_are_read() -> None:
    camel = {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {"parts": [{"inlineData": {"mimeType": "image/png", "data": "AAAA", "displayName": "a.png"}}]},
            {"parts": [{"fileData": {"mimeType": "application/pdf", "fileUri": "gs://b/a.pdf"}}]},
            {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"a_b": 1}}}]},
            {"parts": [{"functionResponse": {"name": "f", "response": {"c_d": 2}}}]},
        ],
    }
    snake = {
        "system_instruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {"parts": [{"inline_data": {"mime_type": "image/png", "data": "AAAA", "display_name": "a.png"}}]},
            {"parts": [{"file_data": {"mime_type": "application/pdf", "file_uri": "gs://b/a.pdf"}}]},
            {"role": "model", "parts": [{"function_call": {"name": "f", "args": {"a_b": 1}}}]},
            {"parts": [{"function_response": {"name": "f", "response": {"c_d": 2}}}]},
        ],
    }
    request = request_of(camel)
    assert request == request_of(snake)
    assert [part.media for part in request.messages[1].parts] == [
        Media("image/png", 3, "a.png", "data:image/png;base64,AAAA")
    ]
    assert [part.media for part in request.messages[2].parts] == [Media("application/pdf", None, None, "gs://b/a.pdf")]
    assert request.messages[3].parts == [Part("tool_call", name="f", arguments='{"a_b":1}')]
    assert request.messages[4] == Message("tool", [Part("tool_result", name="f", text='{"c_d":2}')])


def test_unknown_fields_are_kept_as_sent() -> None:
    part = {"text": "Hi", "thought_signature": "x", "video_metadata": {"fps": 2}, "thought": False}
    file = {
        "file_data": {"mime_type": "video/mp4", "file_uri": "u", "new_field": 1},
        "mediaResolution": {"level": "LOW"},
    }
    new = {"newKind": {"a": 1}, "thought": True}
    sent = {"contents": [{"parts": [part, file, new, 7], "new_field": 1}], "safety_settings": [], "labels": {"a": "b"}}
    request = request_of(sent)
    (message,) = request.messages
    assert message.other == {"new_field": 1}
    text, video, other, number = message.parts
    assert text.other == {"thought_signature": "x", "video_metadata": {"fps": 2}, "thought": False}
    assert video.other == {"mediaResolution": {"level": "LOW"}, "fileData": {"new_field": 1}}
    assert (other.kind, other.type, other.other) == ("other", "newKind", new)
    assert (number.kind, number.text) == ("other", "7")
    assert request.parameters == {"safety_settings": [], "labels": {"a": "b"}}


@pytest.mark.parametrize(
    ("part", "kind"),
    [("image/png", "image"), ("audio/wav", "audio"), ("video/mp4", "video"), ("text/plain", "file"), ("", "file")],
)
def test_the_media_type_tells_the_kind_of_a_file(part: str, kind: str) -> None:
    (found,) = parts_of({"inlineData": {"mimeType": part, "data": "AAAA"}})
    assert (found.kind, found.media and found.media.bytes) == (kind, 3)


def test_base64_for_urls_becomes_base64_for_data_urls() -> None:
    (part,) = parts_of({"inlineData": {"mimeType": "image/png", "data": "-_8="}})
    assert part.media == Media("image/png", 2, None, "data:image/png;base64,+/8=")


def test_results_of_functions_are_messages_of_tools_before_the_other_parts() -> None:
    image = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}
    result = {"id": "c1", "name": "f", "response": {"result": "ok"}, "parts": [image], "willContinue": False}
    content = {"role": "user", "parts": [{"text": "Look."}, {"functionResponse": result}, {"functionResponse": {}}]}
    first, second, user = request_of({"contents": [content]}).messages
    assert first.role == second.role == "tool"
    assert first.parts[0] == Part("tool_result", name="f", id="c1", text='{"result":"ok"}')
    assert first.parts[1].media == Media("image/png", 3, None, "data:image/png;base64,AAAA")
    assert first.other == {"functionResponse": {"willContinue": False}}
    assert second.parts == [Part("tool_result")]
    assert user == Message("user", [Part("text", text="Look.")])


def test_code_and_googles_tools_are_calls_and_results_of_the_assistant() -> None:
    parts = parts_of(
        {"executableCode": {"id": "e1", "language": "PYTHON", "code": "print(1)"}},
        {"codeExecutionResult": {"id": "e1", "outcome": "OUTCOME_OK", "output": "1\n"}},
        {"toolCall": {"id": "t1", "toolType": "GOOGLE_SEARCH_WEB", "args": {"queries": ["x"]}}},
        {"toolResponse": {"id": "t1", "toolType": "GOOGLE_SEARCH_WEB", "response": {"y": 1}}},
        {"audioTranscription": {"text": "Hello", "languageCode": "en"}},
    )
    language, outcome = {"executableCode": {"language": "PYTHON"}}, {"codeExecutionResult": {"outcome": "OUTCOME_OK"}}
    search = "GOOGLE_SEARCH_WEB"
    assert parts == [
        Part("tool_call", name="code_execution", id="e1", arguments="print(1)", type="executableCode", other=language),
        Part("tool_result", id="e1", text="1\n", type="codeExecutionResult", other=outcome),
        Part("tool_call", name=search, id="t1", arguments='{"queries":["x"]}', type="toolCall"),
        Part("tool_result", name=search, id="t1", text='{"y":1}', type="toolResponse"),
        Part("audio", text="Hello", other={"audioTranscription": {"languageCode": "en"}}),
    ]


def test_a_call_without_arguments_has_an_empty_object() -> None:
    assert brief(parts_of({"functionCall": {"name": "f"}}, {"functionCall": {"name": "f", "args": {}}})) == [
        ("tool_call", "{}"),
        ("tool_call", "{}"),
    ]


@pytest.mark.parametrize("operation", ["countTokens", "embedContent", "batchEmbedContents"])
def test_counts_and_embeddings_belong_to_no_conversation(operation: str) -> None:
    assert not request_of({"contents": [HI]}, operation).is_conversation


def test_contents_of_the_model_in_a_row_are_one_message() -> None:
    """The chats of the SDK send each event of a stream again as a content."""
    parts: list[dict[str, Any]] = [
        {"text": "Let ", "thought": True},
        {"text": "me see.", "thought": True, "thoughtSignature": "1"},
        {"text": "Hm.", "thought": True},
        {"text": "Sun"},
        {"text": "ny.", "thoughtSignature": "2"},
        {"text": "More."},
    ]
    contents = [HI, *({"role": "model", "parts": [part]} for part in parts), HI, HI]
    user, model, *rest = request_of({"contents": contents}).messages
    assert model.role == "assistant"
    assert [(part.kind, part.text, part.other) for part in model.parts] == [
        ("reasoning", "Let me see.", {"thoughtSignature": "1"}),
        ("reasoning", "Hm.", {}),
        ("text", "Sunny.", {"thoughtSignature": "2"}),
        ("text", "More.", {}),
    ]
    assert rest == [user, user]


def test_a_request_inside_a_token_count_is_read() -> None:
    inner = {"model": "models/gemini-3-pro", "contents": [HI], "systemInstruction": "Be brief.", "tools": []}
    request = request_of({"generateContentRequest": inner}, "countTokens")
    assert [each.role for each in request.messages] == ["system", "user"]
    assert request.model == "gemini-3-pro"
    assert request.parameters == {"generateContentRequest": {"model": "models/gemini-3-pro", "tools": []}}


def test_the_contents_of_embeddings_are_messages() -> None:
    one = {"model": "models/e", "content": {"parts": [{"text": "A"}]}, "taskType": "CLUSTERING"}
    request = request_of(one, "embedContent", "e")
    assert [brief(each.parts) for each in request.messages] == [[("text", "A")]]
    assert (request.model, request.parameters) == ("e", {"model": "models/e", "taskType": "CLUSTERING"})
    request = request_of({"requests": [one, {"content": {"parts": [{"text": "B"}]}}, 1]}, "batchEmbedContents", "e")
    assert [(brief(each.parts), each.other) for each in request.messages] == [
        ([("text", "A")], {"model": "models/e", "taskType": "CLUSTERING"}),
        ([("text", "B")], {}),
        ([("other", "1")], {}),
    ]


@pytest.mark.parametrize("value", [None, 5, [], {}, "", [None], [[]], {"parts": 5}, {"role": 7, "parts": [None]}])
def test_malformed_contents_are_kept_somewhere(value: Any) -> None:
    request = request_of({"contents": value, "systemInstruction": value})
    assert request.understood
    assert request.messages or "contents" in request.parameters


# Responses


def test_a_whole_response() -> None:
    thought = {"text": "Hm", "thought": True}
    text = {"text": "It is sunny.", "thoughtSignature": "Cpw"}
    found = reading_of(body(candidate(thought, text, safetyRatings=RATINGS), createTime="t"), "generate").response
    (output,) = found.outputs
    assert output.parts == [
        Part("reasoning", text="Hm"),
        Part("text", text="It is sunny.", other={"thoughtSignature": "Cpw"}),
    ]
    assert (output.index, output.finish_reason, output.other) == (0, "STOP", {"safetyRatings": RATINGS})
    assert (found.id, found.model, found.usage) == ("mAoAad3xN7", "gemini-2.5-flash", USAGE)
    assert (found.error, found.ending, found.other) == (None, None, {"createTime": "t"})


@pytest.mark.parametrize("is_array", [False, True])
def test_consecutive_texts_of_a_stream_are_one_part(is_array: bool) -> None:
    reading = stream_of(events(), is_array=is_array)
    (output,) = reading.response.outputs
    assert output.parts == [
        Part("reasoning", text="**Looking it up**"),
        Part("text", text="It is sunny in Zürich.", other={"thoughtSignature": "CpwB"}),
    ]
    assert output.other == {"safetyRatings": RATINGS}
    assert (reading.is_stream, reading.response.ending, reading.response.usage) == (True, "done", USAGE)


def test_a_text_after_a_text_with_a_signature_is_another_part() -> None:
    texts = [{"text": "A"}, {"text": "B", "thoughtSignature": "1"}, {"text": "C", "thoughtSignature": "2"}]
    (output,) = stream_of([body(candidate(text, reason=None)) for text in texts]).response.outputs
    assert [(part.text, part.other) for part in output.parts] == [
        ("AB", {"thoughtSignature": "1"}),
        ("C", {"thoughtSignature": "2"}),
    ]


def test_halves_of_a_character_in_two_events_are_joined() -> None:
    data = rb'[{"candidates":[{"content":{"parts":[{"text":"\ud83d"}]}}]},'
    data += rb'{"candidates":[{"content":{"parts":[{"text":"\ude00"}]},"finishReason":"STOP"}]}]'
    assert brief(output_of_bytes(data)) == [("text", "😀")]


def output_of_bytes(data: bytes) -> list[Part]:
    (output,) = reading_of(data, "generate", streamed=False).response.outputs
    return output.parts


def test_candidates_have_their_index_or_their_position() -> None:
    def event(*texts: str, **more: Any) -> dict[str, Any]:
        return {"candidates": [{"content": {"parts": [{"text": text}]}} | more for text in texts]}

    last = {"candidates": [{"index": index, "finishReason": "STOP"} for index in (1, 0)]}
    found = stream_of([event("A", "B"), event("b", index=1), event("a", "c"), last]).response
    assert [(each.index, brief(each.parts)) for each in found.outputs] == [
        (0, [("text", "Aa")]),
        (1, [("text", "Bbc")]),
    ]


def test_a_stream_is_finished_when_every_candidate_has_a_finish_reason() -> None:
    first = body(candidate({"text": "A"}), candidate({"text": "B"}, reason=None, index=1))
    assert stream_of([first]).response.ending == "no_done"
    assert stream_of([first, body(candidate(index=1))]).response.ending == "done"


def test_a_call_has_its_arguments_as_json() -> None:
    call = {"functionCall": {"id": "c1", "name": "f", "args": {"city": "Zürich", "n": 1.0}}, "thoughtSignature": "x"}
    (part,) = output_of(body(candidate(call)), "generate").parts
    expected = '{"city":"Zürich","n":1.0}'
    assert part == Part("tool_call", name="f", id="c1", arguments=expected, other={"thoughtSignature": "x"})


def test_arguments_that_arrive_in_pieces_are_put_together() -> None:
    def piece(path: str, value: Any, kind: str = "stringValue") -> dict[str, Any]:
        return {"jsonPath": path, kind: value, "willContinue": True}

    calls: list[dict[str, Any]] = [
        {"name": "f", "id": "c1", "willContinue": True},
        {"partialArgs": [piece("$.city", "Zü"), piece("$.n", 2.5, "numberValue")], "willContinue": True},
        {"partialArgs": [piece("$.city", "rich"), piece("$.days[0].on", True, "boolValue")], "willContinue": True},
        {"partialArgs": [piece("$.days[1].on", False, "boolValue"), piece("$['a b']", None, "nullValue")]},
        {"name": "g", "id": "c2", "args": {"x": 1}},
        {"name": "f", "id": "c3", "willContinue": True},
    ]
    calls[3]["partialArgs"][1]["nullValue"] = "NULL_VALUE"
    values = [body(candidate({"functionCall": call}, reason=None)) for call in calls]
    (output,) = stream_of(values).response.outputs
    assert [(part.id, part.name, part.arguments) for part in output.parts] == [
        ("c1", "f", '{"city":"Zürich","n":2.5,"days":[{"on":true},{"on":false}],"a b":null}'),
        ("c2", "g", '{"x":1}'),
        ("c3", "f", "{}"),
    ]
    assert [part.other for part in output.parts] == [{}, {}, {}]


def test_pieces_of_arguments_that_cannot_be_placed_are_kept() -> None:
    odd = [{"jsonPath": 5, "stringValue": "x"}, 7]
    call = {"name": "f", "partialArgs": [*odd, {"jsonPath": "$.a[9].b[x]", "stringValue": "y"}], "new": 1}
    (part,) = output_of(body(candidate({"functionCall": call})), "generate").parts
    assert part.other == {"functionCall": {"new": 1, "partialArgs": odd}}
    assert part.arguments == '{"a":[{"b":"y"}]}'


@pytest.mark.parametrize("is_array", [False, True])
@pytest.mark.parametrize("complete", [False, True])
def test_a_stream_without_finish_reason_has_not_ended(is_array: bool, complete: bool) -> None:
    reading = stream_of(events()[:3], is_array=is_array, complete=complete)
    assert reading.response.ending == ("no_done" if complete else "cut")
    assert not reading.has_end_mark


@pytest.mark.parametrize("complete", [False, True])
def test_an_array_that_is_not_closed_is_broken(complete: bool) -> None:
    data = b"".join(array(events()))[:-1]
    reading = reading_of(data, "generate", streamed=False, complete=complete)
    assert reading.response.ending == ("no_done" if complete else "cut")
    assert not reading.has_end_mark
    assert finish_reason(reading.response) == "STOP"


def test_an_array_with_too_many_values_is_not_read() -> None:
    data = b"[" + b"{}," * 1_000_001
    reading = reading_of(data, "generate", streamed=False)
    assert [note.code for note in reading.notes] == ["too_large_to_read"]


def test_the_first_token_ends_with_its_event() -> None:
    empty = body(candidate({"text": ""}, reason=None))
    for frame in (event_stream, array):
        chunks = frame([empty, *events()])
        reading = reading_of(b"".join(chunks), "generate", streamed=frame is event_stream)
        end = len(b"".join(chunks[:2])) - (frame is array)  # a line feed follows the element
        assert reading.first_token_end == end


def test_a_blocked_prompt_is_an_error() -> None:
    feedback = {"blockReason": "SAFETY", "blockReasonMessage": "No.", "safetyRatings": RATINGS}
    for reading in (reading_of({"promptFeedback": feedback}, "generate"), stream_of([{"promptFeedback": feedback}])):
        error = reading.response.error
        assert error is not None
        assert (error.code, error.message, error.raw) == ("SAFETY", "No.", feedback)
        assert (reading.response.other, reading.is_known) == ({}, True)
        assert reading.response.ending in (None, "done")


def test_feedback_without_block_reason_is_no_error() -> None:
    feedback = {"safetyRatings": RATINGS}
    found = reading_of(body(candidate({"text": "Hi"}), promptFeedback=feedback), "generate").response
    assert (found.error, found.other) == (None, {"promptFeedback": feedback})


@pytest.mark.parametrize("reason", ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE"])
def test_a_mistake_of_the_model_is_an_error(reason: str) -> None:
    found = reading_of(body(candidate(reason=reason, finishMessage="Malformed: x")), "generate").response
    assert found.error is not None
    assert (found.error.code, found.error.message) == (reason, "Malformed: x")


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("STOP", None),
        ("MAX_TOKENS", "token_limit"),
        ("SAFETY", "filtered"),
        ("RECITATION", "filtered"),
        ("OTHER", None),
    ],
)
def test_finish_reasons_have_a_meaning(reason: str, finish: str | None) -> None:
    found = reading_of(body(candidate({"text": "Hi"}, reason=reason)), "generate").response
    assert (finish_of(finish_reason(found)), found.error) == (finish, None)


ERROR = {"error": {"code": 429, "message": "Quota exceeded.", "status": "RESOURCE_EXHAUSTED", "details": []}}


@pytest.mark.parametrize("sent", [ERROR, [ERROR]])
def test_the_status_of_an_error_is_its_code(sent: Any) -> None:
    for error in (read_error(data_of(sent), "generate"), reading_of(data_of(sent), "generate").response.error):
        assert error is not None
        assert (error.code, error.message) == ("RESOURCE_EXHAUSTED", "Quota exceeded.")


def test_an_error_without_status_has_its_number_as_the_code() -> None:
    assert read_error(data_of({"error": {"code": 404, "message": "No."}}), "generate").code == "404"


def test_an_error_in_several_lines_after_events_is_read() -> None:
    data = b"".join(event_stream(events()[:2]))
    data += (
        b'{\r\n  "error": {\r\n    "code": 503,\r\n    "message": "No.",\r\n    "status": "UNAVAILABLE"\r\n  }\r\n}\r\n'
    )
    error = reading_of(data, "generate").response.error
    assert error is not None
    assert (error.code, error.message) == ("UNAVAILABLE", "No.")


def test_embeddings_and_token_counts_are_described() -> None:
    vector = {"values": [0.5, 1, 2]}
    sent: list[tuple[Any, str]] = [
        ({"embedding": vector}, "1 vector of 3 numbers"),
        ({"embeddings": [vector, vector]}, "2 vectors of 3 numbers"),
        ({"embeddings": [{}]}, "1 vector"),
        ({"totalTokens": 1031}, "1,031 input tokens"),
    ]
    for response, text in sent:
        reading = reading_of(response | {"new": 1}, "generate")
        assert reading.is_known
        assert brief(reading.response.outputs[0].parts) == [("other", text)]
        assert reading.response.other == {"new": 1}


@pytest.mark.parametrize("sent", [{}, {"a": 1}, [], [1], "x", {"choices": []}, {"candidates": []}])
def test_a_response_without_candidates_has_no_output_of_the_model(sent: Any) -> None:
    found = reading_of(data_of(sent), "generate", streamed=False).response
    assert not any(part.kind == "text" for output in found.outputs for part in output.parts)


# Usage


def tokens_of(**usage: Any) -> Tokens:
    return counts_of(usage, "generate").tokens


def test_thoughts_are_output_and_results_of_tools_are_input() -> None:
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 4, "thoughtsTokenCount": 6, "toolUsePromptTokenCount": 3}
    assert tokens_of(**usage, totalTokenCount=23) == tokens_of(**usage) == (13, 10, None, 6)


def test_thoughts_are_not_added_if_the_total_includes_them() -> None:
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 9, "thoughtsTokenCount": 6, "totalTokenCount": 19}
    assert tokens_of(**usage) == (10, 9, None, 6)


def test_a_missing_output_is_the_rest_of_the_total() -> None:
    assert tokens_of(promptTokenCount=10, totalTokenCount=15) == (10, 5, None, None)
    assert tokens_of(promptTokenCount=10, totalTokenCount=10) == (10, None, None, None)
    assert tokens_of(promptTokenCount=10, thoughtsTokenCount=4) == (10, 4, None, 4)
    assert tokens_of(promptTokenCount=10, cachedContentTokenCount=8) == (10, None, 8, None)


def test_both_spellings_of_counts_are_read() -> None:
    snake = {"prompt_token_count": 10, "candidates_token_count": "4", "cached_content_token_count": 2.0}
    assert tokens_of(**snake) == (10, 4, 2, None)


def test_modalities_are_counted_and_documents_are_images() -> None:
    def details(**counts: int) -> list[dict[str, Any]]:
        return [{"modality": name.upper(), "tokenCount": count} for name, count in counts.items()]

    usage = {
        "promptTokenCount": 100,
        "promptTokensDetails": details(text=10, audio=20, image=30, document=5, video=35),
        "toolUsePromptTokensDetails": details(audio=1),
        "cacheTokensDetails": details(text=9, audio=2),
        "candidatesTokensDetails": [*details(image=7), {"modality": 5}, 7, {"modality": "AUDIO"}],
    }
    counts = counts_of(usage, "generate")
    assert counts.others == {
        "input_audio": 21,
        "input_image": 35,
        "input_video": 35,
        "cache_audio_read": 2,
        "cache_image_read": 0,
        "cache_video_read": 0,
        "output_image": 7,
    }


def test_other_usage_is_read_as_for_other_apis() -> None:
    assert tokens_of(prompt_tokens=3, completion_tokens=4) == (3, 4, None, None)
