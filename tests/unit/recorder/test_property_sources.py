"""Test which headers and fields of requests become properties."""

from typing import Any

import pytest
from tests.support.frames import Script

from relaybook.ids import new_id
from relaybook.log.prices import Prices
from relaybook.log.record import Record
from relaybook.recorder.entry_builder import EntryBuilder
from relaybook.recorder.fold import Fold
from relaybook.recorder.property_sources import PropertySources
from relaybook.settings.definitions import Settings
from relaybook.settings.routes import RouteSettings

SETTINGS = Settings(
    headers_as_properties={"X-Team": "Team_Name"},
    fields_as_properties={"metadata.trace.name": "trace-name", "user": "customer", "n": "choices"},
    routes={
        "webui": RouteSettings(
            upstream="http://a.example/v1",
            headers_as_properties={"X-OpenWebUI-Chat-Id": "chat"},
            fields_as_properties={"client.version": "version"},
        )
    },
)
BODY = (
    b'{"model": "m", "messages": [], "user": "ann", "n": 2, "metadata": {"trace": {"name": "checkout"}}, '
    b'"client": {"version": true}}'
)
HEAD = b"x-team: search\r\nX-Team: ignored\r\nx-openwebui-chat-id: 7"


def record_of(head: bytes, body: bytes, route: str = "default", **opened: Any) -> Record:
    id_ = new_id()
    script = Script().open(id_, head=head, route=route, **opened).request(id_, body).respond(id_, b"{}").close(id_)
    (exchange,) = Fold().feed(script.frames)
    builder = EntryBuilder(Prices(), lambda ref: b"", PropertySources.of(SETTINGS))
    return builder.entry(exchange, builder.bodies(exchange)).record


def test_headers_and_fields_of_the_settings_become_properties() -> None:
    expected = {"team-name": "search", "trace-name": "checkout", "customer": "ann", "choices": "2"}
    found = record_of(HEAD, BODY)
    assert {name: found.properties[name] for name in expected} == expected
    assert not {"chat", "version"} & set(found.properties)


def test_a_route_adds_its_own() -> None:
    found = record_of(HEAD, BODY, "webui").properties
    assert (found["team-name"], found["chat"], found["version"]) == ("search", "7", "true")


def test_a_tag_wins() -> None:
    assert record_of(HEAD, BODY, properties={"customer": "tag"}).properties["customer"] == "tag"


@pytest.mark.parametrize(
    "body", [b"", b"[]", b'{"user": null, "metadata": 5, "n": []}', b'{"user": "", "n": {"a": 1}}']
)
def test_fields_without_a_text_are_not_properties(body: bytes) -> None:
    assert record_of(b"", body).properties == {}


def test_a_route_that_the_settings_no_longer_have_has_none() -> None:
    assert "team-name" not in record_of(HEAD, BODY, "removed").properties
