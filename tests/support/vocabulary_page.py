"""Generate the page's vocabulary from the descriptions of fields and codes. A test compares the two."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from relaybook.log.descriptions import FIELDS, GAP_REASONS, REFUSALS

PAGE: Final = Path(__file__).parents[2] / "dashboard" / "src" / "generated" / "vocabulary.ts"
_HEAD: Final = """\
// Generated from relaybook/log/descriptions.py by `make docs`; a test compares the two.

import type { LogGap, Row } from "./api-types";
"""


def vocabulary_page() -> str:
    """Return the whole file."""
    labels = {name: field.label for name, field in FIELDS.items() if field.label != name}
    numbers = [name for name, field in FIELDS.items() if field.bounds]
    return _HEAD + "".join(
        (
            _table("FIELD_LABELS", "Labels of fields, if they differ from the name.", labels),
            "\n/** Fields that are compared with a number. */\n",
            f"export const NUMBER_FIELDS: readonly string[] = {json.dumps(numbers)};\n",
            _table(
                "GAP_REASONS", "What happened to the requests of a gap. Follows their number.", GAP_REASONS, _REASON
            ),
            _table("NOTES", "What could not be read, by the code of the note.", FIELDS["note"].choices),
            _table("STREAM_ENDS", "How a stream ended.", FIELDS["stream_ended"].choices, _STREAM_END),
            _table("START_TIMES", "Labels of relative start times.", FIELDS["from"].choices),
            _table("REFUSALS", "Why requests were not admitted, by error code.", REFUSALS),
        )
    )


#: The TypeScript types of keys that the API declares.
_REASON: Final = 'LogGap["reason"]'
_STREAM_END: Final = 'NonNullable<Row["stream_ended"]>'


def _table(name: str, meaning: str, texts: Mapping[str, str], key_type: str = "string") -> str:
    rows = "".join(
        f"  {key if key.isidentifier() else json.dumps(key)}: {json.dumps(text, ensure_ascii=False)},\n"
        for key, text in texts.items()
    )
    return f"\n/** {meaning} */\nexport const {name}: Readonly<Record<{key_type}, string>> = {{\n{rows}}};\n"


if __name__ == "__main__":
    PAGE.write_text(vocabulary_page(), "utf-8")
