"""Define the two tools of the sample programs, with their declarations and their results."""

import json
import zlib
from typing import Any, Final

_CITIES: Final = {
    "Rome": ("sunny", 24, "a light sea breeze"),
    "Lisbon": ("partly cloudy", 21, "a fresh wind from the west"),
    "Hamburg": ("overcast", 13, "gusts along the river"),
    "Oslo": ("clear", 6, "no wind at all"),
}
_DAYS: Final = ("Monday", "Tuesday", "Wednesday")


def _declare(name: str, purpose: str, parameter: str, schema: dict[str, Any]) -> dict[str, Any]:
    parameters = {
        "type": "object",
        "properties": {parameter: {"type": "string", **schema}},
        "required": [parameter],
        "additionalProperties": False,
    }
    return {"type": "function", "function": {"name": name, "description": purpose, "parameters": parameters}}


TOOLS: Final = {
    "get_weather": _declare(
        "get_weather", "The weather in a city today.", "city", {"pattern": f"^({'|'.join(_CITIES)})$"}
    ),
    "get_refund": _declare("get_refund", "How far the refund of an order is.", "order", {"pattern": "^[0-9]{4}$"}),
}


def run(name: str, arguments: str) -> str:
    """Return the result of a tool as JSON. The same arguments always give the same result."""
    values = json.loads(arguments)
    if name == "get_weather":
        sky, celsius, wind = _CITIES.get(values.get("city", ""), ("cloudy", 15, "some wind"))
        return json.dumps({"city": values.get("city"), "sky": sky, "celsius": celsius, "wind": wind})
    order = str(values.get("order"))
    checksum = zlib.crc32(order.encode())
    amount, day = f"€{checksum % 60 + 9}.{checksum % 10}0", _DAYS[checksum % len(_DAYS)]
    return json.dumps({"order": order, "state": "sent", "sent_on": day, "amount": amount}, ensure_ascii=False)
