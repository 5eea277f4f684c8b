"""The application is what its document says it is."""

import json
import subprocess
import sys
from typing import Any

import msgspec
import pytest
from tests.support.api_log import app_of, client_of, log_of, open_of, record_of, running_of
from tests.support.asgi import Client

from relaybook.api import schemas
from relaybook.api.app import DEFAULTS, SafeHeaders
from relaybook.log.query.filters import NAMES
from relaybook.log.record import FIELDS, Gap
from relaybook.log.store.port import Batch


def log() -> Any:
    store = log_of(record_of(1, client_request_id="c", properties={"a": "b"}), record_of(2, client_request_id="c"))
    store.commit(Batch(running=[open_of(3)], gaps=[Gap(from_at=1, to_at=2, count=3, reason="damaged")]))
    return store


def test_scripts_from_elsewhere_are_not_served() -> None:
    for path in ("/docs", "/redoc", "/docs/oauth2-redirect"):
        assert client_of().get(path).status == 404


def test_a_slash_at_the_end_is_another_path() -> None:
    assert client_of().get("/api/status/").status == 404


def test_another_method_is_refused_in_our_shape() -> None:
    answer = client_of().ask("DELETE", "/api/status")
    assert (answer.status, answer.json()["error"]["code"]) == (405, "method_not_allowed")


@pytest.mark.parametrize("path", ["/api/requests", "/api/status", "/metrics", "/api/live"])
def test_head_is_refused_where_it_is_not_documented(path: str) -> None:
    answer = client_of().ask("HEAD", path)
    assert (answer.status, answer.header("allow")) == (405, None)


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/openapi.json"])
def test_head_is_accepted_by_health_checks_and_the_document(path: str) -> None:
    assert client_of().ask("HEAD", path).status == 200


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
        ("/api/namespaces", schemas.NamespacePage),
        ("/api/namespaces?pinned=true&from=-1h", schemas.NamespacePage),
        ("/api/count?model=gpt-4o-mini", schemas.RequestCount),
        ("/api/stats?by=model", schemas.StatsResponse),
        ("/api/thread?namespace=a", schemas.Thread),
        ("/api/values/model", schemas.FieldValues),
        ("/api/status", schemas.Status),
        ("/healthz", schemas.Health),
        ("/readyz", schemas.Health),
        ("/api/nothing", schemas.ErrorResponse),
    ],
)
def test_answers_have_exactly_the_documented_fields(target: str, model: Any) -> None:
    body = client_of(log()).get(target).body
    assert json.loads(msgspec.json.encode(msgspec.json.decode(body, type=model))) == json.loads(body)


def test_the_document_names_every_route_of_the_contract() -> None:
    paths = app_of().openapi()["paths"]
    assert set(paths) == {
        "/api/requests",
        "/api/requests/{id}",
        "/api/requests/{id}/request",
        "/api/requests/{id}/response",
        "/api/count",
        "/api/stats",
        "/api/thread",
        "/api/namespaces",
        "/api/values/{field}",
        "/api/status",
        "/api/live",
        "/api/session",
        "/healthz",
        "/readyz",
        "/metrics",
    }


@pytest.mark.parametrize("path", ["/api/requests", "/api/count", "/api/stats", "/api/live"])
def test_the_document_names_every_filter(path: str) -> None:
    named = {parameter["name"] for parameter in app_of().openapi()["paths"][path]["get"]["parameters"]}
    assert {*NAMES, "property.<name>", "not.<name>"} <= named


def test_the_documents_row_has_every_field_with_its_meaning() -> None:
    row = app_of().openapi()["components"]["schemas"]["Row"]
    assert tuple(row["properties"]) == FIELDS
    assert set(row["required"]) == set(FIELDS)
    assert all(schema["description"] for schema in row["properties"].values())
    assert row["properties"]["started_at"]["format"] == "date-time"


def test_every_reference_of_the_document_leads_somewhere() -> None:
    text = client_of().get("/openapi.json").body.decode()
    schemas = json.loads(text)["components"]["schemas"]
    refs = {part.partition('"')[0] for part in text.split("#/components/schemas/")[1:]}
    assert refs <= set(schemas)


def test_every_operation_has_an_id_of_its_own_and_a_description() -> None:
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
def test_answers_and_refusals_have_them(target: str) -> None:
    for client in (client_of(), client_of(token="hunter2")):
        answer = client.get(target)
        assert {name: answer.header(name) for name in DEFAULTS} == DEFAULTS


def test_they_forbid_what_they_are_to_forbid() -> None:
    assert DEFAULTS["X-Content-Type-Options"] == "nosniff"
    assert DEFAULTS["Referrer-Policy"] == "no-referrer"
    assert DEFAULTS["Cache-Control"] == "no-store"
    assert "default-src 'none'" in DEFAULTS["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in DEFAULTS["Content-Security-Policy"]


def test_a_response_with_its_own_policy_keeps_it() -> None:
    async def page(scope: Any, receive: Any, send: Any) -> None:
        own = [(b"content-security-policy", b"script-src 'self'")]
        await send({"type": "http.response.start", "status": 200, "headers": own})
        await send({"type": "http.response.body", "body": b""})

    answer = Client(SafeHeaders(page)).get("/")
    assert [value for name, value in answer.headers if name == "content-security-policy"] == ["script-src 'self'"]
