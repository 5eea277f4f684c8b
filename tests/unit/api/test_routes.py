"""Test that routes accept only the methods that they declare."""

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Router
from tests.support.asgi import Client

from relaybook.api import openapi
from relaybook.api.routes import Routes
from relaybook.api.schemas import SignIn
from relaybook.api.status_schemas import Health


def declared() -> Routes:
    routes = Routes("things")

    @routes.get("/things/{id:path}", openapi.describe(Health), accepts_head=True)
    @routes.get("/things", openapi.describe(Health, [openapi.limit(5)]))
    @routes.post("/things", openapi.describe(None, body=SignIn))
    @routes.undocumented("/hidden", ["GET", "DELETE"])
    async def ask_things(request: Request) -> Response:
        """Respond with the method."""
        return Response(request.method)

    return routes


def status(method: str, path: str) -> int:
    return Client(Router(declared().declared)).request(method, path).status


def test_a_path_segment_may_contain_a_newline() -> None:
    assert status("GET", "/things/a%0Ab") == 200


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("/things/a/part", "part a"),
        ("/things/a%2Fpart", "thing a/part"),
        ("/things/a%2fpart/part", "part a/part"),
        ("/things/a/part%2Fpart", "thing a/part/part"),
        ("/things/a/part%0A", "thing a/part\n"),
        ("/things/part", "thing part"),
        ("/things/%2Fpart", "thing /part"),
        ("/things/a%252Fpart/part", "part a%2Fpart"),
        ("/things/%3F%23%20%E4%BD%A0%2F%E4%BD", "thing ?# 你/\ufffd"),
    ],
)
def test_an_encoded_slash_belongs_to_the_parameter(path: str, found: str) -> None:
    routes = Routes()

    @routes.undocumented("/things/{id:path}/part", ["GET"])
    async def get_part(request: Request) -> Response:
        return Response(f"part {request.path_params['id']}")

    @routes.undocumented("/things/{id:path}", ["GET"])
    async def get_thing(request: Request) -> Response:
        return Response(f"thing {request.path_params['id']}")

    assert Client(Router(routes.declared)).get(path).body.decode() == found


def test_head_is_accepted_only_where_it_is_declared() -> None:
    assert status("GET", "/things") == status("GET", "/things/1") == status("HEAD", "/things/1") == 200
    assert status("HEAD", "/things") == status("HEAD", "/hidden") == 405


def test_other_methods_are_rejected() -> None:
    assert status("POST", "/things") == status("DELETE", "/hidden") == 200
    assert status("PUT", "/things") == status("POST", "/hidden") == status("OPTIONS", "/things") == 405


def test_the_document_lists_the_documented_routes_under_their_tag() -> None:
    paths = openapi.build(declared().declared, "1.2.3")["paths"]
    assert {path: sorted(operations) for path, operations in paths.items()} == {
        "/things": ["get", "post"],
        "/things/{id}": ["get"],
    }
    listed, created = paths["/things"]["get"], paths["/things"]["post"]
    assert (listed["tags"], listed["operationId"], listed["summary"]) == (["things"], "ask_things", "Ask Things")
    assert listed["description"] == "Respond with the method."
    assert [parameter["name"] for parameter in listed["parameters"]] == ["limit"]
    assert "requestBody" not in listed
    reference = {"$ref": "#/components/schemas/SignIn"}
    assert created["requestBody"] == {"required": True, "content": {"application/json": {"schema": reference}}}
    assert created["responses"]["200"]["content"] == {"application/json": {"schema": {"type": "string"}}}
