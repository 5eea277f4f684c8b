"""Generate docs/reference/api.md from the OpenAPI document of the API. A test compares the two."""

from pathlib import Path
from typing import Any, Final

from tests.support.api_log import app_of

from relaybook.api.openapi import filter_parameters

PAGE: Final = Path(__file__).parents[2] / "docs" / "reference" / "api.md"
#: The endpoint and the model whose parameters and fields are listed in full. Other endpoints and models refer to them.
_LIST: Final = "/api/requests"
_ROW: Final = "Row"
_HEAD: Final = """\
# Dashboard API

`make docs` generates this page from the dashboard's `/openapi.json`. A test checks that the page is up to date.

"""


def api_page() -> str:
    """Return the whole page."""
    document = app_of().openapi()
    calls = [
        _call(method, path, operation)
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    ]
    schemas = document["components"]["schemas"]
    shapes = [_shape(name, schema, schemas[_ROW]["properties"]) for name, schema in schemas.items()]
    about = document["info"]["description"]
    return "".join([_HEAD, about, "\n\n## Endpoints\n\n", *calls, "## Objects\n\n", *shapes]).rstrip("\n") + "\n"


def _call(method: str, path: str, operation: dict[str, Any]) -> str:
    lines = [f"### {method.upper()} {path}", "", operation["description"], ""]
    if "requestBody" in operation:
        [[kind, content]] = operation["requestBody"]["content"].items()
        lines += [f"Request body: {_type(content['schema'])} ({kind}).", ""]
    status, response = next(iter(operation["responses"].items()))
    [[kind, content]] = response["content"].items()
    lines += [f"Response{'' if status == '200' else f' {status}'}: {_type(content['schema'])} ({kind}).", ""]
    parameters = operation.get("parameters", [])
    if (method, path) != ("get", _LIST) and parameters[: len(filter_parameters())] == filter_parameters():
        parameters = parameters[len(filter_parameters()) :]
        lines += [f"Parameters: all filters of GET {_LIST}{', and:' if parameters else '.'}", ""]
    if parameters:
        lines += ["| parameter | type | meaning |", "|---|---|---|", *map(_parameter, parameters), ""]
    return "\n".join(lines) + "\n"


def _parameter(parameter: dict[str, Any]) -> str:
    place = {"query": "", "path": " (path)", "header": " (header)"}[parameter["in"]]
    return f"| `{parameter['name']}`{place} | {_type(parameter['schema'])} | {parameter['description']} |"


def _shape(name: str, schema: dict[str, Any], row: dict[str, Any]) -> str:
    fields = schema["properties"]
    about = schema.get("description", "")
    if name != _ROW and row.keys() <= fields.keys():
        about += f" Has all fields of [{_ROW}](#{_ROW.lower()}), and:"
        fields = {field: inner for field, inner in fields.items() if field not in row}
    lines = [f"### {name}", "", about, "", "| field | type | meaning |", "|---|---|---|"]
    for field, inner in fields.items():
        optional = "" if field in schema.get("required", []) else " (optional)"
        lines.append(f"| `{field}`{optional} | {_type(inner)} | {inner.get('description', '')} |")
    return "\n".join(lines) + "\n\n"


def _type(schema: dict[str, Any]) -> str:
    """Return the type of a schema as readable text."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"]) + _bounds(schema)
    if "anyOf" in schema:
        return " or ".join(_type(one) for one in schema["anyOf"])
    if "prefixItems" in schema:
        return "[" + ", ".join(_type(one) for one in schema["prefixItems"]) + "]"
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    if isinstance(schema.get("additionalProperties"), dict) and schema["additionalProperties"]:
        return f"object of {_type(schema['additionalProperties'])}"
    if schema.get("format") == "date-time":
        return "timestamp"
    kind = str(schema.get("type", "anything"))
    return ("text" if kind == "string" else kind) + _bounds(schema)


def _bounds(schema: dict[str, Any]) -> str:
    """Return the range and the default of a schema, such as `, 1 to 500, default 50`."""
    minimum, maximum = schema.get("minimum"), schema.get("maximum")
    text = f", {minimum} to {maximum}" if minimum is not None and maximum is not None else ""
    return text if schema.get("default") is None else f"{text}, default `{schema['default']}`"


if __name__ == "__main__":
    PAGE.write_text(api_page(), "utf-8")
