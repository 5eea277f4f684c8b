"""Generate the page's vocabulary from the descriptions of fields and codes. A test compares the two."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from relaybook.log.descriptions import FIELDS, GAP_REASONS, REFUSALS

PAGE: Final = Path(__file__).parents[2] / "dashboard" / "src" / "generated" / "vocabulary.ts"
_HEAD: Final = "// Generated from relaybook/log/descriptions.py by `make docs`; a test compares the two.\n"


def vocabulary_page() -> str:
    """Return the whole file."""
    labels = {name: field.label for name, field in FIELDS.items() if field.label != name}
    return _HEAD + "".join(
        (
            _table("FIELD_LABELS", "Labels of fields, if they differ from the name.", labels),
            _table("GAP_REASONS", "What happened to the requests of a gap. Follows their number.", GAP_REASONS),
            _table("REFUSALS", "Why requests were not admitted, by error code.", REFUSALS),
        )
    )


def _table(name: str, meaning: str, texts: Mapping[str, str]) -> str:
    rows = "".join(f"  {key}: {json.dumps(text, ensure_ascii=False)},\n" for key, text in texts.items())
    return f"\n/** {meaning} */\nexport const {name}: Readonly<Record<string, string>> = {{\n{rows}}};\n"


if __name__ == "__main__":
    PAGE.write_text(vocabulary_page(), "utf-8")
