"""Parse the parameters of an export."""

import re
from collections.abc import Mapping
from typing import Final

from relaybook.log.export.export import FILE_FORMATS, ExportQuery, file_format_of
from relaybook.log.query.filters import BadFilter, Filter
from relaybook.log.query.parameters import parse_flag

#: The parameters besides those of the filter.
PARAMETERS: Final = ("format", "bodies", "after", "through", "end")
_SEQ: Final = re.compile(r"\d{1,18}", re.ASCII)


def parse_export_query(values: Mapping[str, str], filter_: Filter) -> ExportQuery:
    """Return the export query for a filter and the values of PARAMETERS. Raises BadFilter if a value is invalid."""
    if "format" not in values:
        raise BadFilter("format", f"format is missing: expected one of {', '.join(FILE_FORMATS)}.")
    file_format = file_format_of(values["format"])
    return ExportQuery(
        file_format=file_format,
        filter_=filter_,
        bodies=parse_flag("bodies", values.get("bodies"), default=False),
        after=_seq(values, "after") or 0,
        through=_seq(values, "through"),
        end=file_format.is_text and parse_flag("end", values.get("end"), default=file_format.name == "jsonl"),
    )


def _seq(values: Mapping[str, str], name: str) -> int | None:
    text = values.get(name)
    if text is None:
        return None
    if not _SEQ.fullmatch(text):
        raise BadFilter(name, f"{name} is {text[:80]!r}: expected the seq of a request.")
    return int(text)
