"""Parse JSON bodies strictly. An error names the unknown or invalid field and says what is expected."""

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from relaybook.api.errors import ApiError

_Model = TypeVar("_Model", bound=msgspec.Struct)


def parse_body(
    body: bytes, model: type[_Model], expected: Mapping[str, str], example: str, required: str | None = None
) -> _Model:
    """Return the body as an instance of ``model``.

    ``expected`` maps each field of the model to a description of the accepted values. ``required`` is the name of the
    only field without a default. This field must be a string. `None` if all fields have defaults. Raises ApiError
    ``bad_body``.
    """
    try:
        fields = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ApiError("bad_body", f"The body is not valid JSON: {error}.") from None
    if not isinstance(fields, dict):
        raise ApiError("bad_body", f"Send a JSON object such as {example}.")
    others: dict[str, Any] = {} if required is None else {required: "any"}
    for name, value in fields.items():
        if name not in expected:
            message = f"{name[:80]} is not a known field. Known: {', '.join(expected)}."
            raise ApiError("bad_body", message, name[:80])
        try:
            msgspec.convert({**others, name: value}, model)
        except msgspec.ValidationError:
            shown = msgspec.json.encode(value).decode()[:80]
            raise ApiError("bad_body", f"{name} is {shown}: expected {expected[name]}.", name) from None
    if required is not None and required not in fields:
        raise ApiError("bad_body", f"{required} is missing: expected {expected[required]}.", required)
    return msgspec.convert(fields, model)
