"""Generate the page's TypeScript types from the OpenAPI document of the API. A test compares the two."""

import json
from pathlib import Path
from typing import Any, Final

from tests.support.api_log import app_of

PAGE: Final = Path(__file__).parents[2] / "dashboard" / "src" / "generated" / "api-types.ts"
_HEAD: Final = "// Generated from the API's OpenAPI document by `make docs`; a test compares the two.\n"
_NAMES: Final = {"integer": "number", "number": "number", "string": "string", "boolean": "boolean", "null": "null"}


def types_page() -> str:
    """Return the whole file: one exported type per schema, in the document's order."""
    schemas = app_of().openapi()["components"]["schemas"]
    return _HEAD + "".join(_declared(name, schema) for name, schema in schemas.items())


def _declared(name: str, schema: dict[str, Any]) -> str:
    required = schema.get("required", ())
    fields = [
        f"{_remark(field)}  {key}{'' if key in required else '?'}: {_type(field)};\n"
        for key, field in schema["properties"].items()
    ]
    return f"\n/** {schema.get('description', name)} */\nexport type {name} = {{\n{''.join(fields)}}};\n"


def _remark(field: dict[str, Any]) -> str:
    return f"  /** {field['description']} */\n" if "description" in field else ""


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    if "anyOf" in schema:
        return " | ".join(map(_type, schema["anyOf"]))
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    match schema.get("type"):
        case "array" if "prefixItems" in schema:
            return f"[{', '.join(map(_type, schema['prefixItems']))}]"
        case "array":
            return f"({_type(schema['items'])})[]"
        case "object":
            values = schema.get("additionalProperties", {})
            return f"Record<string, {_type(values) if values else 'unknown'}>"
        case None:
            return "unknown"
        case name:
            return _NAMES[name]


if __name__ == "__main__":
    PAGE.write_text(types_page(), "utf-8")
