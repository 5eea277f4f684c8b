"""Parse the parameters of an export."""

from collections.abc import Mapping
from typing import Final

from relaybook.log.export.export import FILE_FORMATS, ExportQuery, file_format_of
from relaybook.log.query.filters import BadFilter, Filter
from relaybook.log.query.parameters import parse_flag

#: The parameters besides those of the filter.
PARAMETERS: Final = ("format", "bodies", "end")


def parse_export_query(values: Mapping[str, str], filter_: Filter) -> ExportQuery:
    """Return the export query for a filter and the values of PARAMETERS. Raises BadFilter if a value is invalid."""
    if "format" not in values:
        raise BadFilter("format", f"format is missing: expected one of {', '.join(FILE_FORMATS)}.")
    file_format = file_format_of(values["format"])
    return ExportQuery(
        file_format=file_format,
        filter_=filter_,
        bodies=parse_flag("bodies", values.get("bodies"), default=False),
        end=file_format.is_text and parse_flag("end", values.get("end"), default=file_format.name == "jsonl"),
    )
