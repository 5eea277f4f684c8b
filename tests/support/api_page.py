"""Writes docs/api.md from the API's OpenAPI document; a test compares the two."""

from pathlib import Path
from typing import Any, Final

from tests.support.api_log import app_of

PAGE: Final = Path(__file__).parents[2] / "docs" / "api.md"
_HEAD: Final = """\
# The API

Generated from the dashboard's `/openapi.json` by `python -m tests.support.api_page`; a test compares the two.

"""


def api_page() -> str:
    """The whole page."""
    document = app_of().openapi()
    calls = [
        _call(method, path, operation)
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    ]
    shapes = [_shape(name, schema) for name, schema in document["components"]["schemas"].items()]
    about = document["info"]["description"]
    return "".join([_HEAD, about, "\n\n## Calls\n\n", *calls, "## Shapes\n\n", *shapes]).rstrip("\n") + "\n"


def _call(method: str, path: str, operation: dict[str, Any]) -> str:
    lines = [f"### {method.upper()} {path}", "", operation["description"], ""]
    if "requestBody" in operation:
        [[kind, content]] = operation["requestBody"]["content"].items()
        lines += [f"Takes {_type(content['schema'])} ({kind}).", ""]
    [[kind, content]] = operation["responses"]["200"]["content"].items()
    lines += [f"Answers {_type(content['schema'])} ({kind}).", ""]
    if parameters := operation.get("parameters"):
        lines += ["| parameter | takes | meaning |", "|---|---|---|", *map(_parameter, parameters), ""]
    return "\n".join(lines) + "\n"


def _parameter(parameter: dict[str, Any]) -> str:
    place = {"query": "", "path": " (in the path)", "header": " (a header)"}[parameter["in"]]
    return f"| `{parameter['name']}`{place} | {_type(parameter['schema'])} | {parameter['description']} |"


def _shape(name: str, schema: dict[str, Any]) -> str:
    lines = [f"### {name}", "", schema.get("description", ""), "", "| field | type | meaning |", "|---|---|---|"]
    for field, inner in schema["properties"].items():
        optional = "" if field in schema.get("required", []) else " (may be missing)"
        lines.append(f"| `{field}`{optional} | {_type(inner)} | {inner.get('description', '')} |")
    return "\n".join(lines) + "\n\n"


def _type(schema: dict[str, Any]) -> str:
    """A schema in words."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if "anyOf" in schema:
        return " or ".join(_type(one) for one in schema["anyOf"])
    if "prefixItems" in schema:
        return "[" + ", ".join(_type(one) for one in schema["prefixItems"]) + "]"
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    if isinstance(schema.get("additionalProperties"), dict) and schema["additionalProperties"]:
        return f"object of {_type(schema['additionalProperties'])}"
    if schema.get("format") == "date-time":
        return "moment"
    return {"string": "text", "null": "null"}.get(schema.get("type", ""), schema.get("type", "anything"))


if __name__ == "__main__":
    PAGE.write_text(api_page(), "utf-8")
