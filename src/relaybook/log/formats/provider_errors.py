"""Extract the code and the message from a provider's error response."""

import re
from typing import Any, Final

from relaybook.apis import Kind
from relaybook.log.formats import lenient
from relaybook.log.formats.conversation import Error
from relaybook.log.formats.lenient import as_json, join, text_or_none
from relaybook.log.formats.text import ERROR_CHARACTERS, clean, clean_or_none, preview

#: Possessive quantifiers (``*+``) ensure that an unclosed tag is scanned only once.
_TAG: Final = re.compile(r"<(/?)(\w*+)[^<>]*+>")
_TITLE: Final = re.compile(r"(?i)<title[^<>]{0,200}>([^<]{1,1000})")
_INVISIBLE: Final = frozenset({"script", "style", "head"})
#: Maximum size of an error that is parsed as JSON. Only the beginning of a larger body is read, as text.
_MAX_JSON_BYTES: Final = 1 << 20
_MAX_TEXT_BYTES: Final = 64 << 10
_CODES: Final = ("code", "error_code", "status_code", "statusCode", "err_code", "errno")
_MESSAGES: Final = ("message", "msg", "detail", "error", "error_msg", "error_message", "errmsg", "reason")
_FAILED: Final = ("failed", "cancelled", "error", "failure")
#: What a field of an error says if there is no error.
_SUCCESS: Final = frozenset({"", "0", "200", "ok", "success", "none", "null", "false", "no error"})


def read_error(data: bytes, kind: Kind | None = None) -> Error:
    """Return code and message of the body of an error response. ``kind`` is the API.

    If the body is not JSON, the message is the first 200 characters of its visible text.

    Supported shapes: ``{"error": {"message", "type", "code"}}``, ``{"error": "text"}``, FastAPI's ``{"detail": …}``,
    ``{"message": …}``, a list of one such object (Google), HTML, and plain text.
    """
    value = lenient.load(data) if len(data) <= _MAX_JSON_BYTES else None
    if isinstance(value, list) and value:
        value = value[0]
    if isinstance(value, dict):
        for key in ("error", "detail", "errors"):
            if value.get(key):
                found = _described(value, key)
                # a short text such as "Unauthorized" beside the message that explains it
                if isinstance(value[key], str) and (more := text_or_none(value.get("message"))) and more != value[key]:
                    found.message = clean(f"{value[key]}: {more}", ERROR_CHARACTERS)
                return with_status(found) if kind in ("generate", "interaction") else found
        return describe_error(value)
    return Error(message=preview(value) if isinstance(value, str) else visible_text(data))


def find_error(body: dict[str, Any], *, has_output: bool) -> Error | None:
    """Return the error inside a response or an event with the status 200. `None` if there is no error.

    An ``error`` counts if it has a text or a code that does not mean success. Without ``has_output``, some other
    shapes count, too: ``object: "error"``, ``type: "error"``, a failed ``status``, and an object with only a code and
    a message.
    """
    if (error := body.get("error")) is not None and is_error(error):
        return _described(body, "error")
    base = body.get("base_resp")  # MiniMax
    if isinstance(base, dict) and _is_code(base.get("status_code")):
        return Error(
            _code(base.get("status_code")),
            clean_or_none(_text(base.get("status_msg")), ERROR_CHARACTERS),
            base,
        )
    if has_output:
        return None
    if body.get("object") == "error" or body.get("type") == "error":
        return describe_error(body)
    if (status := body.get("status")) in _FAILED:
        found = describe_error(body)
        if not any(body.get(name) for name in _MESSAGES):
            found.message = f"The status of the response is {status}."
        return found
    if (errors := body.get("errors")) and is_error(errors):
        return describe_error(errors[0] if isinstance(errors, list) else errors)
    code = next((body[name] for name in _CODES if body.get(name) is not None), None)
    message = next((body[name] for name in _MESSAGES if text_or_none(body.get(name))), None)
    if message is not None and (_is_code(code) or body.get("success") is False):
        return describe_error(body)
    return None


def is_error(error: object) -> bool:
    """Return whether the value of a field ``error`` means that there is an error, rather than that there is none."""
    if isinstance(error, dict):
        codes = [error[name] for name in (*_CODES, "type") if error.get(name) not in (None, "")]
        if codes and not _is_code(codes[0]):
            return False
        texts = [error[name] for name in _MESSAGES if error.get(name) not in (None, "", [], {})]
        if texts and not codes:
            return not (isinstance(texts[0], str) and texts[0].strip().lower() in _SUCCESS)
        known = {*_CODES, *_MESSAGES, "type", "param"}
        return bool(codes or texts or any(value for name, value in error.items() if name not in known))
    if isinstance(error, list):
        return any(map(is_error, error))
    return _is_code(error)


def _is_code(code: object) -> bool:
    """Return whether a code means an error: it is neither empty nor 0 or 200, and no word such as ``success``."""
    if isinstance(code, str):
        return code.strip().lower() not in _SUCCESS
    return code not in (None, False, 0, 200)


def describe_error(error: object) -> Error:
    """Return code and message of an error object, which is the value of ``error`` or of a similar field."""
    if isinstance(error, list) and error:
        error = error[0]
    if not isinstance(error, dict):
        text = error if isinstance(error, str) else as_json(error)
        return Error(message=clean_or_none(join([text]), ERROR_CHARACTERS), raw=error)
    code = next((code for name in (*_CODES, "type") if (code := _code(error.get(name)))), None)
    if code == "error" and error.get("type") == "error":  # the type of the object, not of the error
        code = None
    message = next((error[name] for name in _MESSAGES if error.get(name)), None)
    return Error(code, clean_or_none(_text(message or error), ERROR_CHARACTERS), error)


def _described(body: dict[str, Any], name: str) -> Error:
    """Return the error in a field of a body. If the field is only a text, the code is beside it (xAI, TGI)."""
    found = describe_error(body[name])
    if isinstance(body[name], str):
        found.code = next((code for key in (*_CODES, "error_type") if (code := _code(body.get(key)))), None)
    return found


def with_status(error: Error) -> Error:
    """Return an error of Google with its status as the code, such as ``INVALID_ARGUMENT``, instead of a number."""
    raw = error.raw[0] if isinstance(error.raw, list) and error.raw else error.raw
    status = _code(raw.get("status")) if isinstance(raw, dict) else None
    return Error(status or error.code, error.message, error.raw)


def _code(value: object) -> str | None:
    if isinstance(value, str):
        return clean_or_none(value)
    return str(value) if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**18 else None


def _text(value: object) -> str:
    return join([value]) if isinstance(value, str) else as_json(value)


def visible_text(data: bytes) -> str | None:
    """Return the beginning of a body as a browser would show it, for a body that is a text or HTML."""
    text = data[:_MAX_TEXT_BYTES].decode("utf-8", "replace").removeprefix("\ufeff")
    return preview(_visible_text(text) if text.lstrip().startswith("<") else text)


def describe_text(data: bytes) -> str | None:
    """Describe a body that should be JSON and is not: an HTML page by its title, any other text by its beginning."""
    shown = visible_text(data)
    start = data[:_MAX_TEXT_BYTES].decode("utf-8", "replace")
    if not start.lstrip("\ufeff \t\r\n").startswith("<"):
        return shown
    if start.lstrip("\ufeff \t\r\n").startswith("<?xml"):
        return f"XML: {shown}"
    title = _TITLE.search(start)
    name = preview(title[1]) if title is not None else None
    return f"HTML page, title {name}" if name else f"HTML page: {shown}" if shown else "HTML page"


def _visible_text(html: str) -> str:
    """Return roughly the text that a browser would show. HTML may be hostile, so it is read in a single pass."""
    visible: list[str] = []
    within: str | None = None
    start = 0
    for tag in _TAG.finditer(html):
        name = tag[2].lower()
        if within is None:
            visible.append(html[start : tag.start()])
            within = name if name in _INVISIBLE and not tag[1] else None
        elif name == within and tag[1]:
            within = None
        start = tag.end()
    if within is None:
        visible.append(html[start:])
    return " ".join(visible)
