"""Test that the application matches its OpenAPI document and sends the default headers."""

import json
import re
import subprocess
import sys
from typing import Any

import msgspec
import pytest
from tests.support.api_log import app_of, client_of, log_of, open_of, record_of, running_of
from tests.support.asgi import Client

from relaybook.api import schemas, status_schemas
from relaybook.api.app import DEFAULT_HEADERS, SecurityHeaders
from relaybook.log.numbers import DERIVED
from relaybook.log.query.filters import NAMES
from relaybook.log.record import FIELDS, Gap
from relaybook.log.store.port import Batch

HEAD_PATHS = ("/healthz", "/readyz")


def log() -> Any:
    store = log_of(record_of(1, client_request_id="c", properties={"a": "b"}), record_of(2, client_request_id="c"))
    store.commit(Batch(running=[open_of(3)], gaps=[Gap(from_at=1, to_at=2, count=3, reason="damaged")]))
    return store


def test_interactive_docs_are_not_served() -> None:
    for path in ("/docs", "/redoc", "/docs/oauth2-redirect"):
        assert client_of().get(path).status == 404


def test_a_path_with_a_trailing_slash_is_not_found() -> None:
    assert client_of().get("/api/status/").status == 404


def test_an_unsupported_method_gets_an_error_response() -> None:
    response = client_of().request("DELETE", "/api/status")
    assert (response.status, response.json()["error"]["code"]) == (405, "method_not_allowed")


@pytest.mark.parametrize("path", ["/api/requests", "/api/status", "/metrics", "/api/live"])
def test_head_is_rejected_where_it_is_not_documented(path: str) -> None:
    assert client_of().request("HEAD", path).status == 405


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("HEAD", "/api/count", "GET"),
        ("PUT", "/api/requests", "DELETE, GET"),
        ("PUT", "/api/requests/1/feedback", "POST"),
        ("PUT", "/api/requests/1/request", "GET"),
        ("DELETE", "/api/requests/a/b/response", "GET"),
        ("POST", "/api/requests/1%2Frequest", "DELETE, GET"),
        ("PUT", "/api/requests/feedback", "DELETE, GET"),
        ("GET", "/api/session", "DELETE, POST"),
        ("DELETE", "/healthz", "GET, HEAD"),
    ],
)
def test_a_405_response_lists_all_methods_of_the_path(method: str, path: str, allowed: str) -> None:
    response = client_of().request(method, path, ("content-type", "application/json"), body=b"{}")
    assert (response.status, response.header("allow")) == (405, allowed)


@pytest.mark.parametrize(
    ("path", "documented"), [(path, set(operations)) for path, operations in app_of().openapi()["paths"].items()]
)
def test_every_path_of_the_document_allows_exactly_its_documented_methods(path: str, documented: set[str]) -> None:
    allowed = {method.upper() for method in documented} | ({"HEAD"} if path in HEAD_PATHS else set())
    target = re.sub("{.+?}", "x", path)
    for method in {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "QUERY"} - allowed:
        response = client_of().request(method, target, ("content-type", "application/json"), body=b"{}")
        assert (method, response.status, response.header("allow")) == (method, 405, ", ".join(sorted(allowed)))
    for method in allowed if path != "/api/live" else ():
        response = client_of().request(method, target, ("content-type", "text/plain"))
        assert response.status != 405, method


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/openapi.json"])
def test_head_is_accepted_by_health_checks_and_the_document(path: str) -> None:
    assert client_of().request("HEAD", path).status == 200


def test_the_dashboard_starts_without_libraries_that_only_some_requests_need() -> None:
    program = "import sys, relaybook.api.app, relaybook.api.uvicorn_server; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not {"fastapi", "genai_prices", "prometheus_client", "pydantic"} & set(done.stdout.split())


@pytest.mark.parametrize(
    ("target", "model"),
    [
        ("/api/requests", schemas.RequestPage),
        ("/api/requests?limit=1", schemas.RequestPage),
        (f"/api/requests/{record_of(1).id}", schemas.RequestDetail),
        (f"/api/requests/{running_of(3).id}", schemas.RequestDetail),
        ("/api/requests/c", schemas.RequestDetail),
        ("/api/requests/c/progress", schemas.ResponseProgress),
        ("/api/replay", schemas.ReplayablePage),
        ("/api/namespaces", schemas.NamespacePage),
        ("/api/namespaces?pinned=true&from=-1h", schemas.NamespacePage),
        ("/api/count?model=gpt-4o-mini", schemas.RequestCount),
        ("/api/stats?by=model", schemas.StatsResponse),
        ("/api/thread?namespace=a", schemas.Thread),
        ("/api/lanes?namespace=a", schemas.Lanes),
        (f"/api/requests/{record_of(1).id}/cache", schemas.CacheReport),
        ("/api/thread/cache?namespace=a", schemas.ThreadCache),
        ("/api/values?contains=gpt", schemas.FoundValueList),
        ("/api/values/model", schemas.FieldValues),
        ("/api/saved-filters", schemas.SavedFilterList),
        ("/api/status", status_schemas.Status),
        ("/healthz", status_schemas.Health),
        ("/readyz", status_schemas.Health),
        ("/api/nothing", schemas.ErrorResponse),
    ],
)
def test_responses_have_exactly_the_documented_fields(target: str, model: Any) -> None:
    body = client_of(log()).get(target).body
    assert json.loads(msgspec.json.encode(msgspec.json.decode(body, type=model))) == json.loads(body)


def test_the_document_has_the_model_of_a_conversation() -> None:
    models = app_of().openapi()["components"]["schemas"]
    detail = models["RequestDetail"]["properties"]
    found = {name: json.dumps(detail[name]) for name in ("messages", "response")}
    assert '"#/components/schemas/Message"' in found["messages"]
    assert '"#/components/schemas/Response"' in found["response"]
    assert {name: models[name].get("required", []) for name in ("Message", "Output", "Part", "Media", "Response")} == {
        "Message": ["role"],
        "Output": ["index"],
        "Part": ["kind"],
        "Media": [],
        "Response": [],
    }


def test_descriptions_are_markdown() -> None:
    assert "``" not in json.dumps(app_of().openapi())


def test_the_document_lists_every_route() -> None:
    paths = app_of().openapi()["paths"]
    assert set(paths) == {
        "/api/requests",
        "/api/requests/{id}",
        "/api/requests/{id}/feedback",
        "/api/requests/{id}/last-good",
        "/api/requests/{id}/media/{side}/{at}/{place}",
        "/api/compare",
        "/api/feedback",
        "/api/requests/{id}/cache",
        "/api/requests/{id}/request",
        "/api/requests/{id}/response",
        "/api/requests/{id}/progress",
        "/api/replay",
        "/api/count",
        "/api/deletions",
        "/api/deletions/{id}",
        "/api/rereads",
        "/api/rereads/{id}",
        "/api/stats",
        "/api/thread",
        "/api/lanes",
        "/api/thread/cache",
        "/api/export",
        "/api/namespaces",
        "/api/saved-filters",
        "/api/saved-filters/{name}",
        "/api/values",
        "/api/values/{field}",
        "/api/query",
        "/api/status",
        "/api/live",
        "/api/session",
        "/healthz",
        "/readyz",
        "/metrics",
    }


@pytest.mark.parametrize(
    "path", ["/api/requests", "/api/count", "/api/feedback", "/api/stats", "/api/live", "/api/export"]
)
def test_the_document_lists_every_filter(path: str) -> None:
    named = {parameter["name"] for parameter in app_of().openapi()["paths"][path]["get"]["parameters"]}
    assert {*NAMES, "property.<name>", "begins.<name>", "not.<name>"} <= named


def test_the_row_model_describes_every_field() -> None:
    row = app_of().openapi()["components"]["schemas"]["Row"]
    assert tuple(row["properties"]) == (*FIELDS, *DERIVED, "result", "said_earlier")
    assert set(row["required"]) == {*FIELDS, *DERIVED, "result"}
    assert all(schema["description"] for schema in row["properties"].values())
    assert row["properties"]["started_at"]["format"] == "date-time"


def test_every_reference_in_the_document_resolves() -> None:
    text = client_of().get("/openapi.json").body.decode()
    schemas = json.loads(text)["components"]["schemas"]
    refs = {part.partition('"')[0] for part in text.split("#/components/schemas/")[1:]}
    assert refs <= set(schemas)


def test_every_operation_has_a_unique_id_and_a_description() -> None:
    paths = app_of().openapi()["paths"]
    operations = [operation for path in paths.values() for operation in path.values()]
    assert len({operation["operationId"] for operation in operations}) == len(operations)
    assert all(operation["description"] and operation["tags"] != [""] for operation in operations)


def test_the_document_is_built_once() -> None:
    app = app_of()
    assert app.openapi() is app.openapi()


@pytest.mark.parametrize(
    "target", ["/", "/api/requests", "/api/requests?x=1", "/nothing", "/metrics", "/healthz", "/v1"]
)
def test_all_responses_have_the_default_headers(target: str) -> None:
    for client in (client_of(), client_of(token="hunter2")):
        response = client.get(target)
        assert {name: response.header(name) for name in DEFAULT_HEADERS} == DEFAULT_HEADERS


def test_the_default_headers_are_restrictive() -> None:
    assert DEFAULT_HEADERS["X-Content-Type-Options"] == "nosniff"
    assert DEFAULT_HEADERS["Referrer-Policy"] == "no-referrer"
    assert DEFAULT_HEADERS["Cache-Control"] == "no-store"
    assert "default-src 'none'" in DEFAULT_HEADERS["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in DEFAULT_HEADERS["Content-Security-Policy"]


def test_a_response_with_its_own_policy_keeps_it() -> None:
    async def page(scope: Any, receive: Any, send: Any) -> None:
        own = [(b"content-security-policy", b"script-src 'self'")]
        await send({"type": "http.response.start", "status": 200, "headers": own})
        await send({"type": "http.response.body", "body": b""})

    response = Client(SecurityHeaders(page)).get("/")
    assert [value for name, value in response.headers if name == "content-security-policy"] == ["script-src 'self'"]
