"""Generate the page's vocabulary from the table of APIs and from the descriptions of fields and codes.

A test compares the two.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from relaybook.apis import APIS, Api
from relaybook.log.descriptions import COST_REASONS, FIELDS, GAP_REASONS, REFUSALS
from relaybook.log.numbers import SORTED_NUMBERS, Number
from relaybook.log.query.filters import ANY
from relaybook.log.request_view import MAX_BODY_BYTES

PAGE: Final = Path(__file__).parents[2] / "dashboard" / "src" / "generated" / "vocabulary.ts"
_HEAD: Final = """\
// Generated from relaybook/apis.py and relaybook/log/descriptions.py by `make docs`; a test compares the two.

import type { LogGap, Row } from "./api-types";
"""


def vocabulary_page() -> str:
    """Return the whole file."""
    labels = {name: field.label for name, field in FIELDS.items() if field.label != name}
    notes = {code: text for code, text in FIELDS["note"].choices.items() if code != ANY}
    numbers = [name for name, field in FIELDS.items() if field.bounds]
    return _HEAD + "".join(
        (
            _table("FIELD_LABELS", "Labels of fields, if they differ from the name.", labels),
            "\n/** Fields that are compared with a number. */\n",
            f"export const NUMBER_FIELDS: readonly string[] = {json.dumps(numbers)};\n",
            _SORT_TYPES,
            *(f"  {number.field}: {json.dumps(_sort(number))},\n" for number in SORTED_NUMBERS),
            "};\n",
            _table(
                "GAP_REASONS", "What happened to the requests of a gap. Follows their number.", GAP_REASONS, _REASON
            ),
            _table("NOTES", "What could not be read, by the code of the note.", notes),
            _table("COST_REASONS", "Why the cost of a request is unknown.", COST_REASONS, _COST_REASON),
            _table("STREAM_ENDS", "How a stream ended.", FIELDS["stream_ended"].choices, _STREAM_END),
            _table("START_TIMES", "Labels of relative start times.", FIELDS["from"].choices),
            _table("REFUSALS", "Why requests were not admitted, by error code.", REFUSALS),
            "\n/** Larger bodies are not read. */\n",
            f"export const MAX_BODY_BYTES = {MAX_BODY_BYTES:_};\n",
            _API_TYPES,
            *(f"  {api.kind}: {json.dumps(_api(api))},\n" for api in APIS),
            "};\n",
        )
    )


#: The TypeScript types of keys that the API declares.
_REASON: Final = 'LogGap["reason"]'
_COST_REASON: Final = 'NonNullable<Row["cost_reason"]>'
_STREAM_END: Final = 'NonNullable<Row["stream_ended"]>'


_API_TYPES: Final = """
/** The call of an official SDK that sends a request of an API. The SDK appends `path` to its base URL. */
export type SdkCall = {
  python_package: string;
  node_package: string;
  /** The name of the client class in Python and in JavaScript. */
  client: string;
  /** The method, without `.create`. */
  method: string;
  path: string;
  /** The fields of the body that the Python SDK accepts by name. Other fields must be in `extra_body`. */
  parameters: readonly string[];
};

/** What is known about an API. */
export type Api = {
  /** Whether bodies are read. */
  is_read: boolean;
  /** Whether a request has the messages of a conversation, which later requests continue. */
  is_conversation: boolean;
  /** The request header with the API key, up to the key. */
  key_header: string;
  /** The environment variable from which SDKs read the API key. */
  key_variable: string;
  /** `null` if the SDKs have no such call. */
  sdk_call: SdkCall | null;
};

/** The APIs, by kind of request. */
export const APIS: Readonly<Record<Row["kind"], Api>> = {
"""

_SORT_TYPES: Final = """
/** A number by which the log can be sorted. */
export type SortField = {
  /** The name of its filter, or `null` if it has no filter of its own. */
  term: string | null;
  /** The name of the number. */
  label: string;
  /** The orders: the highest values first, the lowest values first. */
  highest: string;
  lowest: string;
};

/** The numbers by which the log can be sorted, by the names of their fields. */
export const SORT_FIELDS: Readonly<Record<string, SortField>> = {
"""


def _sort(number: Number) -> dict[str, str | None]:
    return {name: getattr(number, name) for name in ("term", "label", "highest", "lowest")}


def _api(api: Api) -> dict[str, object]:
    call = api.sdk_call
    return {
        "is_read": api.is_read,
        "is_conversation": api.is_conversation,
        "key_header": api.key_header,
        "key_variable": api.key_variable,
        "sdk_call": call
        and {
            **call.sdk._asdict(),
            "method": call.method,
            "path": call.path,
            "parameters": sorted(call.parameters),
        },
    }


def _table(name: str, meaning: str, texts: Mapping[str, str], key_type: str = "string") -> str:
    rows = "".join(
        f"  {key if key.isidentifier() else json.dumps(key)}: {json.dumps(text, ensure_ascii=False)},\n"
        for key, text in texts.items()
    )
    return f"\n/** {meaning} */\nexport const {name}: Readonly<Record<{key_type}, string>> = {{\n{rows}}};\n"


if __name__ == "__main__":
    PAGE.write_text(vocabulary_page(), "utf-8")
