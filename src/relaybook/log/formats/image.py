"""Read OpenAI's Images API: ``images/generations``, ``images/edits`` and ``images/variations``.

A request is JSON or a form with images. A stream has partial images, each of which replaces the one before, and is
complete at ``image_generation.completed`` or ``image_edit.completed``. Source: the types of OpenAI's SDK, version 3.
"""

from typing import Any, Final

from relaybook.apis import Match
from relaybook.log.formats import multipart
from relaybook.log.formats.content import content_parts
from relaybook.log.formats.conversation import Message, Output, Part, Request, Response
from relaybook.log.formats.lenient import is_object, text_or_none
from relaybook.log.formats.media import media_part
from relaybook.log.formats.stream import BaseStream

#: The fields of a request with images.
_IMAGES: Final = ("image", "images", "mask")
_READ: Final = frozenset({"id", "model", "data", "usage", "error", "output_format"})
#: The fields of an event that are those of its image.
_OF_IMAGE: Final = ("b64_json", "partial_image_index")


def read_request(body: dict[str, Any], match: Match) -> Request:
    """Return the prompt and the images of a request as one message."""
    read = set()
    parts: list[Part] = []
    if isinstance(prompt := body.get("prompt"), str):
        parts += content_parts(prompt)
        read.add("prompt")
    for name in _IMAGES:
        value = body.get(name)
        images = [_image_of_request(item) for item in (value if isinstance(value, list) else [value])]
        found = [image for image in images if image is not None]
        if found and len(found) == len(images):
            parts += found
            read.add(name)
    return Request(
        messages=[Message("user", parts)] if parts else [],
        parameters={name: value for name, value in body.items() if name not in read},
    )


def _image_of_request(value: object) -> Part | None:
    if (part := multipart.file_part("image", value)) is not None:
        return part
    if isinstance(value, str) and value:
        return media_part("image", value, {})
    if is_object(value) and (value.get("image_url") or value.get("file_id")):
        return media_part(
            "image", value.get("image_url"), {key: each for key, each in value.items() if key != "image_url"}
        )
    return None


class Stream(BaseStream):
    """The events of a streamed response so far, or a whole response."""

    def __init__(self) -> None:
        super().__init__()
        self._partial: dict[str, Any] | None = None
        self._images: list[dict[str, Any]] = []
        self._fields: dict[str, Any] = {}

    def add(self, event: dict[str, Any], name: str = "") -> None:
        """Add an event, or a whole response."""
        kind = text_or_none(event.get("type")) or name
        fields = event
        if kind.endswith((".partial_image", ".completed")):
            image: dict[str, Any] = {key: event[key] for key in _OF_IMAGE if key in event}
            fields = {key: value for key, value in event.items() if key != "type" and key not in _OF_IMAGE}
            if kind.endswith(".completed"):
                self.has_end_mark = True
                self._images.append({key: value for key, value in image.items() if key == "b64_json"})
            else:
                self._partial = image
        elif isinstance(data := event.get("data"), list):
            self._images += filter(is_object, data)
        if self._partial or self._images or isinstance(event.get("data"), list):
            self.is_known = True
        self.has_token = bool(self._partial or self._images)
        self._fields |= {key: value for key, value in fields.items() if value is not None}
        self.add_error(event, kind)

    def response(self) -> Response:
        """Return the response with everything added so far."""
        fields = self._fields
        images = self._images or ([self._partial] if self._partial else [])
        format_ = text_or_none(fields.get("output_format"))
        media_type = {"media_type": f"image/{format_}"} if format_ else {}
        parts = [media_part("image", media_type | image, {}) for image in images]
        usage = fields.get("usage")
        return Response(
            id=text_or_none(fields.get("id")),
            model=text_or_none(fields.get("model")),
            outputs=[Output(0, parts)] if parts else [],
            usage=usage if isinstance(usage, dict) else None,
            error=self._error,
            other={name: value for name, value in fields.items() if name not in _READ},
        )
