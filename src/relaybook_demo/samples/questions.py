"""Define questions that programs send in a single request, each with its feature, model and parameters."""

import base64
import struct
import zlib
from dataclasses import dataclass, field
from typing import Any, Final

_WIDTH, _HEIGHT = 96, 64
_SUN = (60, 22, 11)
_YELLOW, _BLUE, _LIGHT = (255, 209, 71), (36, 94, 156), (92, 148, 201)


def draw_png() -> bytes:
    """Return the sample picture as a PNG."""
    rows = b"".join(b"\0" + bytes(part for x in range(_WIDTH) for part in _pixel(x, y)) for y in range(_HEIGHT))
    head = struct.pack(">IIBBBBB", _WIDTH, _HEIGHT, 8, 2, 0, 0, 0)
    chunks = (_chunk(b"IHDR", head), _chunk(b"IDAT", zlib.compress(rows, 9)), _chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def _pixel(x: int, y: int) -> tuple[int, int, int]:
    sun_x, sun_y, radius = _SUN
    if (x - sun_x) ** 2 + (y - sun_y) ** 2 <= radius**2:
        return _YELLOW
    if y >= 40:
        return _LIGHT if (x + 3 * y) % 24 < 7 and y % 6 == 0 else _BLUE
    return 165 + 2 * y, 205 - y, 230 - 3 * y  # from light blue down to orange


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


DATA_URL: Final = "data:image/png;base64," + base64.b64encode(draw_png()).decode()


#: The response format of a request that classifies a support ticket.
_TICKET: Final = {
    "type": "json_schema",
    "json_schema": {
        "name": "ticket",
        "strict": True,
        "schema": {
            "type": "object",
            "properties": {
                "category": {"type": "string", "enum": ["question", "delivery", "refund", "damage"]},
                "urgent": {"type": "boolean"},
                "summary": {"type": "string"},
            },
            "required": ["category", "urgent", "summary"],
            "additionalProperties": False,
        },
    },
}
_CONTRACT: Final = (
    "Summarise this contract in two sentences: The supplier delivers forty kilograms of tea per calendar month, "
    "beginning on the first of May, for a term of twenty-four months. The price is fixed for the term. Either party "
    "may terminate with three months' notice to the end of a quarter. For every week of delay the supplier owes two "
    "per cent of the value of the delivery that is late, up to ten per cent."
)


@dataclass(frozen=True, slots=True)
class Question:
    """A question that a program sends in a single request.

    ``text`` is a string or the parts of a message. ``tool`` is the tool that is offered to the model.
    """

    text: str | list[dict[str, Any]]
    feature: str = ""
    model: str = "gpt-4o-mini"
    parameters: dict[str, Any] = field(default_factory=dict)
    tool: str | None = None


PICTURE: Final = Question(
    [
        {"type": "text", "text": "What is in this picture? One sentence for the alt text."},
        {"type": "image_url", "image_url": {"url": DATA_URL, "detail": "low"}},
    ],
    "search",
    "gpt-4o",
)
TICKET: Final = Question(
    "Classify this ticket: Damage in transit, the teapot arrived with a broken lid. I need another one before Friday.",
    "support",
    parameters={"response_format": _TICKET, "temperature": 0},
)
CUT: Final = Question(
    "List the five steps of a return for our help page.", "support", parameters={"max_tokens": 40, "temperature": 0.3}
)
REASONED: Final = Question(
    "Explain to the customer why the voucher AUTUMN5 was refused: minimum order 25 euros, basket 18 euros.",
    "checkout",
    "o4-mini",
    {"reasoning_effort": "low", "max_completion_tokens": 400},
)
BAKERY: Final = Question(
    "Give me a name for a bakery by the sea, with one line that explains it.",
    model="gpt-4o",
    parameters={"n": 3, "temperature": 1.1},
)
HAIKU: Final = Question("Write a haiku about rain.", parameters={"temperature": 0.9, "top_p": 0.95})
CONTRACT: Final = Question(_CONTRACT, "support", "gpt-4.1-mini")
GREEN_TEAS: Final = Question("Compare our three green teas in a table.", "search", "gpt-4o", {"temperature": 0.2})
REVIEW: Final = Question(
    "Write a short reply to this review: “Lovely tea, but the parcel took nine days.”", "support", "gpt-4.1-mini"
)
NIGHT_GARDEN: Final = Question("Write a product description for Night Garden, our evening blend.", "search", "gpt-4.1")
HAMBURG: Final = Question("What is the weather in Hamburg?", model="gpt-4o", tool="get_weather")
CHUNKS: Final = Question(
    "Write a Python function that splits a list into chunks.", model="gpt-4.1", parameters={"seed": 7}
)
SQL: Final = Question("Write a SQL query for the ten best-selling teas of last month.", model="gpt-4o")

FOR_THE_SHOP: Final = (
    TICKET,
    REASONED,
    CUT,
    PICTURE,
    CONTRACT,
    Question("Rewrite as search terms for our catalogue: tea that helps me sleep, no caffeine", "search"),
    GREEN_TEAS,
    REVIEW,
    NIGHT_GARDEN,
    Question("List the five steps of a return for our help page.", "support"),
    Question("Summarise this conversation for the agent who takes over: teapot, broken lid, order 4411.", "support"),
    Question("Is this address complete? Lindenstraße, 10969 Berlin", "checkout", parameters={"max_tokens": 60}),
    Question("绿茶用多少度的水温泡最好？", "search", "gpt-4o"),
    Question("Translate to German: The contract begins in May.", "checkout", parameters={"temperature": 0}),
)

FOR_DAYBOOK: Final = (
    HAIKU,
    BAKERY,
    Question("Plan my week around two deadlines.", model="gpt-4o"),
    Question("What can I cook with leeks and potatoes?", parameters={"temperature": 0.7}),
    HAMBURG,
    Question("Which day is best for a picnic this week?"),
    Question("Make a packing list for a weekend in Lisbon."),
    Question("Tell me a joke about teapots.", parameters={"temperature": 1.2, "presence_penalty": 0.5}),
    Question("Explain compound interest to a ten-year-old.", model="gpt-4o"),
    Question("Write a short poem about the first snow.", model="gpt-4.1"),
    Question("Why is the sky blue?", parameters={"max_tokens": 30}),
    Question("Which is the best train to Copenhagen tomorrow morning?", model="gpt-4o"),
    Question("Write a haiku about tea.", model="o4-mini", parameters={"max_completion_tokens": 300}),
)

FOR_DEVELOPERS: Final = (
    Question("Why does prices['mint'] raise a KeyError? The file says Mint;4.50", model="gpt-4.1"),
    CHUNKS,
    SQL,
    Question("A regular expression for dates like 2026-11-21, please.", model="o4-mini"),
)

#: Questions with long responses. They are asked so often that the log usually shows a running request.
LONG: Final = (
    Question("Tell me a bedtime story about a lighthouse and a lost whale.", model="gpt-4o"),
    Question("Write our complete guide to brewing tea, as a page for the website.", "content", "gpt-4.1"),
    Question("Plan three days in Lisbon for two, hour by hour, with costs.", model="gpt-4o"),
    Question("Explain to new colleagues how a parcel travels from Hamburg to Lisbon.", "content", "gpt-4.1"),
)

PRODUCTS: Final = (
    "Sencha from Kagoshima, grassy and fresh",
    "Night Garden: chamomile, lavender, honeybush",
    "Rooibos with vanilla, soft and slightly sweet",
)
