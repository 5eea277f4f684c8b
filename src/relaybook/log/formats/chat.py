"""Reads chat answers, whole and streamed: facts for the record, and where the first token ended.

Legacy completions (``choices[].text``) and embeddings (no choices) have the same head and are read here too.
"""

from typing import Final

from relaybook.log.formats import lenient
from relaybook.log.formats.errors import describe_error
from relaybook.log.formats.facts import ResponseFacts, StreamEnded
from relaybook.log.formats.message_chain import said_by
from relaybook.log.formats.output_text import OutputText, Tool, carries_token
from relaybook.log.formats.sse import DATA, LF, Event, cut, event_ends, events_of
from relaybook.log.formats.text import clean, clean_or_none, preview
from relaybook.log.formats.usage import put_usage
from relaybook.log.formats.wire import ANSWER, Answer, Embedded

_DONE: Final = b"[DONE]"
_ERROR_EVENT: Final = "error"
#: As many as OpenAI gives at most; those beyond are not read.
_MOST_CHOICES: Final = 128


class ChatReader:
    """Folds an answer's pieces; a whole answer is one piece."""

    def __init__(self) -> None:
        self.speeches: dict[int, OutputText] = {}
        self.is_done = False
        self.has_error = False
        self.is_understood = False
        self._facts = ResponseFacts()
        self._patient = lenient.LenientDecoder(ANSWER)

    def add(self, piece: Answer) -> None:
        """Takes in a whole answer or one chunk."""
        facts = self._facts
        if piece.choices is not None or piece.usage is not None or piece.model is not None:
            self.is_understood = True
        if piece.choices:
            for choice in piece.choices:
                output_text = self.speeches.get(choice.index)
                if output_text is None:
                    if len(self.speeches) == _MOST_CHOICES:
                        continue
                    output_text = self.speeches[choice.index] = OutputText()
                output_text.add(choice)
        if piece.usage:
            facts.usage = piece.usage
        if facts.response_model is None and piece.model:
            facts.response_model = clean(piece.model)
        if facts.completion_id is None and piece.id:
            facts.completion_id = clean(piece.id)
        if piece.data:
            facts.output_preview = _embedded(piece.data)
        if piece.service_tier:
            facts.service_tier = piece.service_tier
        if piece.error:
            self.add_error(piece.error)

    def add_error(self, error: object) -> None:
        """The first error counts."""
        if not self.has_error:
            self.has_error = self.is_understood = True
            self._facts.error_code, self._facts.error_message = describe_error(error)

    def add_stream(self, data: bytes) -> None:
        """Takes in a whole stream of chunks up to ``[DONE]``, the event it broke off in included if it can be read."""
        decode, add = ANSWER.decode, self.add
        head, parts = cut(data)
        self._add_lines(head)
        for part in parts:
            if self.is_done:
                return
            if LF in part:
                self._add_lines(DATA + part)
                continue
            try:
                add(decode(part))
            except (ValueError, RecursionError):
                self._add_event(Event("", part))

    def _add_lines(self, lines: bytes) -> None:
        for event in events_of(lines, unfinished=True):
            if not self.is_done:
                self._add_event(event)

    def _add_event(self, event: Event) -> None:
        if event.data.startswith(_DONE):
            self.is_done = True
            return
        piece = self._patient.read(event.data)
        if piece is not None:
            self.add(piece)
        if event.event == _ERROR_EVENT and not self.has_error:
            self.add_error(lenient.load(event.data) or event.data.decode("utf-8", "replace"))

    def facts(self) -> ResponseFacts:
        """The facts of all that was taken in."""
        facts = self._facts
        facts.understood = self.is_understood
        facts.service_tier = clean_or_none(facts.service_tier)
        if facts.usage:
            put_usage(facts, facts.usage)
        if self.speeches:
            speeches = [self.speeches[index] for index in sorted(self.speeches)]
            facts.finish_reason = _finish_reason(speeches)
            facts.output_preview = output_preview(speeches[0])
            facts.output_characters = sum([output_text.characters() for output_text in speeches])
            facts.said = said_by(speeches)
        return facts


def read_whole(data: bytes) -> ResponseFacts | None:
    """The facts of one JSON object, or None when it is none."""
    piece = lenient.read(ANSWER, data)
    if piece is None:
        return None
    reader = ChatReader()
    reader.add(piece)
    return reader.facts()


def read_stream(data: bytes, *, complete: bool) -> ResponseFacts:
    """The facts of a stream of chunks."""
    reader = ChatReader()
    reader.add_stream(data)
    facts = reader.facts()
    facts.stream_ended = how_it_ended(is_done=reader.is_done, complete=complete)
    facts.error_in_stream = reader.has_error
    return facts


def how_it_ended(*, is_done: bool, complete: bool) -> StreamEnded:
    """``done`` once the end mark was there, whatever came of the connection afterwards."""
    if is_done:
        return "done"
    return "no_done" if complete else "cut"


def first_token_offset(data: bytes) -> int | None:
    """Where in a decoded stream the event ends that brought the first token; None when none did.

    A token is content, reasoning, refusal, transcript or a tool call; the chunk that only names the role is not one.
    """
    pieces = lenient.LenientDecoder(ANSWER)
    for payload, end in event_ends(data):
        if payload.startswith(_DONE):
            return None
        piece = pieces.read(payload)
        if piece is not None and carries_token(piece):
            return end
    return None


def _embedded(data: list[Embedded]) -> str:
    """``3 × 1,536``: how many embeddings, and of how many numbers the first is."""
    raw = bytes(data[0].embedding)
    numbers = raw.count(b",") + 1 if raw.startswith(b"[") else (len(raw) - 2) * 3 // 16
    return f"{len(data):,} × {numbers:,}"


def _finish_reason(speeches: list[OutputText]) -> str | None:
    if len(speeches) == 1:
        return clean_or_none(speeches[0].finish_reason)
    reasons = dict.fromkeys(output_text.finish_reason for output_text in speeches if output_text.finish_reason)
    return clean_or_none(",".join(reasons))


def output_preview(output_text: OutputText) -> str | None:
    """The text, else the refusal, else the tool calls, else the reasoning."""
    for pieces in (output_text.text, output_text.transcript, output_text.refusal):
        if pieces and (shown := preview("".join(pieces))):
            return shown
    if output_text.tools:
        return preview(" ".join(_call_preview(tool) for tool in output_text.tools))
    return preview("".join(output_text.reasoning))


def _call_preview(tool: Tool) -> str:
    return f"ƒ {tool.name or '?'}({preview(''.join(tool.arguments)) or ''})"
