"""Restore requests from the lines that ``json_lines`` writes."""

import binascii
from datetime import datetime
from typing import Any, Final

import msgspec

from relaybook import clock
from relaybook.ids import parse_id
from relaybook.log.export.export import EndLine
from relaybook.log.export.json_lines import VERSION
from relaybook.log.formats.message_chain import build_chain
from relaybook.log.namespaces import LabelChange
from relaybook.log.record import FIELDS, TIMESTAMPS, Detail, Record, encode_chain
from relaybook.log.request_view import RequestView
from relaybook.log.store.entry import Body, Entry
from relaybook.log.store.errors import BatchRejected
from relaybook.log.store.port import Batch, reject_unstorable

#: 9000-01-01T00:00:00Z in microseconds. Later times are rejected, because a time computed from them, such as the end of
#: a retention period, could be after the year 9999 and could not be formatted.
_END_US: Final = 221_845_392_000_000_000
_decode: Final = msgspec.json.Decoder().decode


class BadLine(ValueError):
    """The line is neither a request in the export format nor an EndLine. The message says why."""


def read_line(line: bytes) -> Entry | EndLine:
    """Return the request in a line, or the EndLine of a file.

    The ``seq`` of the request is `None`, and the message chain is computed from the bodies. Unknown fields are ignored.
    Raises BadLine.
    """
    try:
        value = _decode(line)
    except (ValueError, RecursionError) as error:
        raise BadLine(f"not valid JSON: {error}") from None
    if not isinstance(value, dict):
        raise BadLine("not a JSON object")
    if value.get("end") is True:
        return _end_line(value)
    if "export" not in value:
        raise BadLine("not from an export in the format jsonl, because the field export is missing")
    if value["export"] != VERSION:
        raise BadLine(f"the format version (export) is {value['export']!r}, but this Relaybook reads {VERSION}")
    return _entry(value)


def _end_line(value: dict[str, Any]) -> EndLine:
    labels = value.get("labels")
    if isinstance(labels, list):
        value["labels"] = [_known(label) if isinstance(label, dict) else label for label in labels]
    end: EndLine = _convert(value, EndLine)
    return end


def _known(label: dict[str, Any]) -> dict[str, Any]:
    return {name: label[name] for name in LabelChange.__struct_fields__ if name in label}


def _entry(value: dict[str, Any]) -> Entry:
    fields = {name: value[name] for name in FIELDS if name in value}
    fields["seq"] = None
    for name in TIMESTAMPS:
        if fields.get(name) is not None:
            fields[name] = _timestamp(fields[name], name)
    if "feedback" in fields:
        fields["feedback"] = _feedback(fields["feedback"])
    record = _convert(fields, Record)
    if parse_id(record.id) is None or record.id != record.id.lower():
        raise BadLine("id is not a Relaybook id")
    if record.outcome == "open" or record.ended_at is None:
        raise BadLine("the request was still running")
    if _has_nul(fields):
        raise BadLine("a text contains a NUL character")
    request, response = (_body(value.get(side), side) for side in ("request", "response"))
    if record.body_state == "stored" and "request" not in value:
        record.body_state = "expired"
    detail = _detail(value.get("detail"))
    entry = Entry(record=record, detail=detail, request=request, response=response)
    try:
        reject_unstorable(Batch(entries=[entry]))
    except BatchRejected as error:
        raise BadLine(str(error)) from None
    entry.chain = _chain(entry)
    return entry


def _feedback(value: Any) -> list[Any]:
    """Return the feedback with times in microseconds since the epoch, as in a record."""
    if not (isinstance(value, list) and all(isinstance(each, dict) for each in value)):
        raise BadLine("feedback is not a list of objects")
    return [each | {"at": _timestamp(each.get("at"), "feedback.at")} for each in value]


def _has_nul(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_has_nul, value.items()))
    if isinstance(value, list | tuple):
        return any(map(_has_nul, value))
    return isinstance(value, str) and "\0" in value


def _convert(value: Any, kind: Any) -> Any:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise BadLine(str(error)) from None


def _timestamp(text: object, name: str) -> int:
    try:
        at = datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        at = None
    if at is None or at.tzinfo is None:
        raise BadLine(f"{name} is not a timestamp such as {clock.format_timestamp(0)}")
    at_us = int(at.replace(microsecond=0).timestamp()) * 1_000_000 + at.microsecond
    if not 0 <= at_us < _END_US:
        raise BadLine(f"{name} is not between the years 1970 and 9000")
    return at_us


def _detail(value: Any) -> Detail | None:
    if value is None:
        return None
    if not isinstance(value, dict):
        raise BadLine("detail is not an object")
    try:
        fields = {
            name: item.encode("latin-1") if name.endswith("_head") and isinstance(item, str) else item
            for name, item in value.items()
            if name in Detail.__struct_fields__
        }
    except UnicodeEncodeError:
        raise BadLine("detail has headers with characters above U+00FF") from None
    # Detail is declared as ``array_like``, so ``_convert`` expects a list of all fields in their order.
    return _convert([fields.get(name, getattr(Detail(), name)) for name in Detail.__struct_fields__], Detail)  # type: ignore[no-any-return]


def _body(value: Any, side: str) -> Body | None:
    if value is None:
        return None
    text, encoded = (value.get("text"), value.get("base64")) if isinstance(value, dict) else (None, None)
    try:
        if isinstance(encoded, str):
            return Body(rest=[binascii.a2b_base64(encoded, strict_mode=True)])
        if isinstance(text, str):
            return Body(rest=[text.encode()])
    except (ValueError, UnicodeEncodeError):
        pass
    raise BadLine(f"{side} has neither text nor valid base64")


def _chain(entry: Entry) -> bytes | None:
    view = RequestView.of_entry(entry)
    request = view.request()
    chain = None if request is None else build_chain(request, view.response())
    return None if chain is None else encode_chain(chain)
