"""Read the fields of a multipart form (RFC 7578), such as a request with files.

A text becomes a text. A file becomes an object with its name, its type and its size, because the stored body has its
bytes. Files are never copied. Only the first ``_MAX_FIELDS`` fields are read.
"""

import re
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import unquote

from relaybook.log.formats.conversation import Media, Part, PartKind
from relaybook.log.formats.lenient import is_object
from relaybook.log.formats.text import clean, clean_or_none

_MAX_FIELDS: Final = 1000
_MAX_BOUNDARY: Final = 200
_MAX_HEADERS: Final = 16 << 10
#: Longer texts are truncated.
_MAX_TEXT: Final = 1 << 20
_BLANK_LINE: Final = re.compile(rb"\r?\n\r?\n")
_NAME: Final = re.compile(r'(?i)\bname="([^"\r\n]*)"')
_FILENAME: Final = re.compile(r"""(?i)\bfilename(?:="([^"\r\n]*)"|\*=utf-8''([^;\s]*))""")
_TYPE: Final = re.compile(r"(?im)^content-type:[ \t]*([^\r\n;]+)")


def load(data: bytes) -> dict[str, Any] | None:
    """Return the fields of a form by name. `None` if the data does not begin like a form.

    The values of a repeated name, and those of a name that ends with ``[]``, are a list.
    """
    if _boundary(data) is None:
        return None
    fields: dict[str, Any] = {}
    for name, headers, start, end in _fields(data):
        value: Any = _file(headers, end - start)
        if value is None:
            value = data[start : min(end, start + _MAX_TEXT)].decode("utf-8", "replace")
        _add(fields, name, value)
    return fields


def files(data: bytes) -> Iterator[tuple[str | None, int, int]]:
    """Yield the name of each file in a form, and where its bytes begin and end."""
    for _, headers, start, end in _fields(data):
        if (file := _file(headers, end - start)) is not None:
            yield file["filename"], start, end


def _boundary(data: bytes) -> bytes | None:
    """Return the first line of a form. `None` if the data does not begin like a form."""
    end = data.find(b"\n", 0, _MAX_BOUNDARY)
    boundary = data[:end].rstrip()
    return None if end < 0 or not boundary.startswith(b"--") or len(boundary) < 3 else boundary


def _fields(data: bytes) -> Iterator[tuple[str, str, int, int]]:
    """Yield the name and the headers of each field of a form, and where its value begins and ends."""
    if (boundary := _boundary(data)) is None:
        return
    start = data.index(b"\n") + 1
    delimiter = (b"\r\n" if data[start - 2 : start - 1] == b"\r" else b"\n") + boundary
    for _ in range(_MAX_FIELDS):
        end = data.find(delimiter, start)
        last = len(data) if end < 0 else end
        separator = _BLANK_LINE.search(data, start, min(last, start + _MAX_HEADERS))
        if separator is not None:
            headers = data[start : separator.start()].decode("utf-8", "replace")
            if (found := _NAME.search(headers)) is not None:
                yield clean(found[1]), headers, separator.end(), last
        start = end + len(delimiter)
        if end < 0 or data[start : start + 2] == b"--":
            break
        start = data.find(b"\n", start) + 1 or len(data)


def _file(headers: str, size: int) -> dict[str, Any] | None:
    """Describe a file. `None` if the field is a text."""
    filename, media_type = _FILENAME.search(headers), _TYPE.search(headers)
    if filename is None and media_type is None:
        return None
    return {
        "filename": clean_or_none(filename and (filename[1] or unquote(filename[2] or ""))),
        "media_type": clean(media_type[1].strip(), 80) if media_type else None,
        "bytes": size,
    }


def _add(fields: dict[str, Any], name: str, value: object) -> None:
    if name.endswith("[]"):
        name = name.removesuffix("[]")
        fields.setdefault(name, [])
    if name not in fields:
        fields[name] = value
    elif isinstance(fields[name], list):
        fields[name].append(value)
    else:
        fields[name] = [fields[name], value]


def file_part(kind: PartKind, value: object) -> Part | None:
    """Return a file of a form as a part. `None` if the value is not a file."""
    if not is_object(value) or value.keys() != {"filename", "media_type", "bytes"}:
        return None
    return Part(kind, media=Media(type=value["media_type"], bytes=value["bytes"], name=value["filename"]))
