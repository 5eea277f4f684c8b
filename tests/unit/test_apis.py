"""Test how method and path determine the API of a request."""

import importlib
import inspect
from operator import attrgetter

import pytest

from relaybook.apis import APIS, SdkCall, match


@pytest.mark.parametrize(
    ("path", "kind", "model"),
    [
        ("/v1/chat/completions", "chat", None),
        ("/v1/chat/completions/", "chat", None),
        ("/v1//chat/completions", "chat", None),
        ("/v1/beta/chat/completions", "chat", None),
        ("/v1/openai/v1/chat/completions", "chat", None),
        ("/v1/v1beta/openai/chat/completions", "chat", None),
        ("/v1/openai/deployments/my-gpt4o/chat/completions", "chat", "my-gpt4o"),
        ("/v1/deployments/a%2Fb/embeddings", "embedding", "a/b"),
        ("/v1/openai/deployments/x/completions", "completion", "x"),
        ("/v1/completions", "completion", None),
        ("/v1/fim/completions", "completion", None),
        ("/v1/responses", "response", None),
        ("/v1/openai/responses", "response", None),
        ("/v1/openai/v1/responses", "response", None),
        ("/v1/responses/compact", "response", None),
        ("/v1/responses/input_tokens", "response", None),
        ("/v1/responses/resp_1/cancel", "response", None),
        ("/v1/responses/resp_1/input_items", "other", None),
        ("/v1/embeddings", "embedding", None),
        ("/v2/chat", "cohere", None),
        ("/v1/v1/chat", "cohere", None),
        ("/v2/embed", "embedding", None),
        ("/v1/embed", "embedding", None),
        ("/v2/rerank", "embedding", None),
        ("/rerank", "embedding", None),
        ("/embed", "other", None),
        ("/api/v2/chats", "other", None),
        ("/api/chat", "ollama", None),
        ("/v1/api/generate", "ollama", None),
        ("/ollama/api/embed", "ollama", None),
        ("/api/embeddings", "ollama", None),
        ("/chat", "other", None),
        ("/myapi/chat", "other", None),
        ("/v1/messages", "message", None),
        ("/v1/v1/messages", "message", None),
        ("/v1/messages/count_tokens", "message", None),
        ("/v1/messages/batches", "batch", None),
        ("/v1/threads/thread_1/messages", "other", None),
        ("/async/chat/completions", "other", None),
        ("/api/v1/chat", "other", None),
        ("/v1/agents/completions", "chat", None),
        ("/v1/chatcompletions", "other", None),
        ("/v1/audio/speech", "audio", None),
        ("/v1/openai/deployments/w/audio/transcriptions", "audio", "w"),
        ("/v1/images/edits", "image", None),
        ("/v1/openai/deployments/dall-e/images/generations", "image", "dall-e"),
        ("/v1/moderations", "moderation", None),
        ("/v1/files", "file", None),
        ("/v1/batches", "batch", None),
        ("/v1/fine_tuning/jobs", "fine_tuning", None),
        ("/v1/vector_stores/vs_1/files", "vector_store", None),
        ("/v1/vector_stores/vs_1/search", "vector_store", None),
        ("/v1/conversations/conv_1/items", "conversation", None),
        ("/v1/images", "other", None),
        ("/v1/models/gemini-3:generateContent", "generate", "gemini-3"),
        ("/v1beta/models/gemini-3:streamGenerateContent/", "generate", "gemini-3"),
        ("/v1/v1beta/models/gemini-3:countTokens", "generate", "gemini-3"),
        ("/v1/projects/p/locations/l/publishers/google/models/gemini-3:generateContent", "generate", "gemini-3"),
        ("/v1/projects/p/locations/l/endpoints/12:streamGenerateContent", "generate", "12"),
        ("/v1beta/tunedModels/mine-7:generateContent", "generate", "mine-7"),
        ("/v1beta/models/gemini-embedding-001:batchEmbedContents", "generate", "gemini-embedding-001"),
        ("/v1beta/interactions", "interaction", None),
        ("/v1beta/interactions/v1_x/cancel", "other", None),
        ("/v1/models/imagen-4:predict", "other", None),
        ("/v1/publishers/anthropic/models/claude:rawPredict", "other", None),
        ("/v1/models/gemini-3", "other", None),
        ("", "other", None),
    ],
)
def test_the_end_of_the_path_determines_the_api(path: str, kind: str, model: str | None) -> None:
    found = match("POST", path)
    assert (found.api.kind, found.model) == (kind, model)


@pytest.mark.parametrize(
    ("path", "operation"),
    [
        ("/v1beta/models/gemini-3:countTokens", "countTokens"),
        ("/v1beta/models/gemini-3:streamGenerateContent/", "streamGenerateContent"),
        ("/v1beta/interactions", ""),
        ("/v1/a:b/chat/completions", ""),
        ("/v1/openai/deployments/x/completions", ""),
    ],
)
def test_the_operation_of_googles_api_follows_a_colon(path: str, operation: str) -> None:
    assert match("POST", path).operation == operation


@pytest.mark.parametrize("path", ["/v1/models", "/v1/models/org%2Fmodel", "/v1beta/models/", "/v1/models/gemini-3"])
def test_models_are_listed_with_get(path: str) -> None:
    assert match("GET", path).api.kind == "models"


def test_a_stored_response_is_a_response() -> None:
    found = match("GET", "/v1/responses/resp_1")
    assert (found.api.kind, found.model, found.path) == ("response", None, "responses/{id}")


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/v1/files/file_1/content", "file"),
        ("/v1/batches/b_1", "batch"),
        ("/v1/messages/batches/b_1/results", "batch"),
        ("/v1/fine_tuning/jobs/j_1/events", "fine_tuning"),
        ("/v1/vector_stores/vs_1/files/f_1", "vector_store"),
        ("/v1/conversations/conv_1", "conversation"),
        ("/v1/images/generations", "other"),
    ],
)
def test_objects_are_read_with_get(path: str, kind: str) -> None:
    assert match("GET", path).api.kind == kind


@pytest.mark.parametrize(("method", "path"), [("OPTIONS", "/v1/chat/completions"), ("GET", "/v1/messages")])
def test_another_method_is_another_api(method: str, path: str) -> None:
    assert match(method, path).api.kind == "other"


@pytest.mark.parametrize("call", [api.sdk_call for api in APIS if api.sdk_call is not None], ids=lambda call: call.path)
def test_the_python_sdks_accept_the_parameters_by_name(call: SdkCall) -> None:
    package = importlib.import_module(call.sdk.python_package)
    client = getattr(package, call.sdk.client)(api_key="any")
    accepted = inspect.signature(attrgetter(call.method)(client).create).parameters
    assert call.parameters <= accepted.keys()
    required = {name for name, parameter in accepted.items() if parameter.default is inspect.Parameter.empty}
    assert required <= call.parameters


@pytest.mark.parametrize("path", ["/" * 1_000_000 + "x", "/models" * 200_000, "/" * 1_000_000 + "chat/completions/"])
def test_a_long_path_takes_linear_time(path: str) -> None:
    """With quadratic time, this test would take hours."""
    assert match("POST", path).api.kind == ("chat" if "chat" in path else "other")
