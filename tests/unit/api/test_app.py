"""The application is what its document says it is."""

import json
import subprocess
import sys
from typing import Any

import msgspec
import pytest
from tests.support.api_log import app_of, client_of, log_of, open_of, record_of, running_of

from relaybook.api import answers
from relaybook.filters import NAMES
from relaybook.records import FIELDS, Gap
from relaybook.stores.base import Batch


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
    program = "import sys, relaybook.api.app, relaybook.api.server; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not {"fastapi", "genai_prices", "prometheus_client", "pydantic"} & set(done.stdout.split())


@pytest.mark.parametrize(
    ("target", "model"),
    [
        ("/api/requests", answers.RequestPage),
        ("/api/requests?limit=1", answers.RequestPage),
        (f"/api/requests/{record_of(1).id}", answers.RequestDetail),
        (f"/api/requests/{running_of(3).id}", answers.RequestDetail),
        ("/api/requests/c", answers.RequestDetail),
        ("/api/namespaces", answers.NamespacePage),
        ("/api/namespaces?pinned=true&from=-1h", answers.NamespacePage),
        ("/api/count?model=gpt-4o-mini", answers.RequestCount),
        ("/api/stats?by=model", answers.StatsAnswer),
        ("/api/thread?namespace=a", answers.Thread),
        ("/api/values/model", answers.FieldValues),
        ("/api/status", answers.Status),
        ("/healthz", answers.Health),
        ("/readyz", answers.Health),
        ("/api/nothing", answers.ErrorAnswer),
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
