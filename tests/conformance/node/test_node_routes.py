"""Each official Node SDK works through the route of its provider: whole responses, streams, tool calls and errors.

Only the base URL is changed. All calls of an SDK are made by one process.
"""

import json
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import pytest
from tests.conformance.node.node_sdk import install, run
from tests.conformance.sdk.answers import Answer, Call, assert_recorded
from tests.conformance.sdk.calls import TOOLS, World, unique
from tests.support.server import Server, SimulatedProvider

KEY: Final = "node-sdk-caller-1234567890"
ASKS_FOR_WEATHER: Final = "The weather in Zürich"
QUESTION: Final = "Can I get a refund?"
_PARAMETERS: Final = TOOLS[0]["function"]["parameters"]


class Sdk(NamedTuple):
    """An SDK: its name in ``sdks.mjs``, the preset of the route, and the path of the base URL below the route.

    ``fields`` are in each request, and ``tools`` are additional fields of a request with a tool.
    """

    name: str
    route: str
    kind: str
    path: str
    model: str
    fields: dict[str, Any]
    tools: dict[str, Any]

    def request(self, question: str) -> dict[str, Any]:
        if self.name == "google":
            return {"model": self.model, "contents": question}
        return {"model": self.model, "messages": [{"role": "user", "content": question}], **self.fields}


SDKS: Final = {
    sdk.name: sdk
    for sdk in (
        Sdk("openai", "openai", "chat", "/v1", "gpt-4o-mini", {}, {"tools": TOOLS[:1]}),
        Sdk(
            *("anthropic", "anthropic", "message", "", "claude-haiku-4-5", {"max_tokens": 4096}),
            {"tools": [{"name": "weather", "input_schema": _PARAMETERS}]},
        ),
        Sdk(
            *("google", "gemini", "generate", "", "gemini-2.5-flash", {}),
            {
                "config": {
                    "tools": [{"functionDeclarations": [{"name": "weather", "parametersJsonSchema": _PARAMETERS}]}]
                }
            },
        ),
        Sdk("ollama", "ollama", "ollama", "", "llama3.2", {}, {"tools": TOOLS[:1]}),
        Sdk("cohere", "cohere", "cohere", "", "command-a-03-2025", {}, {"tools": TOOLS[:1]}),
        Sdk("mistral", "mistral", "chat", "", "mistral-small-latest", {}, {"tools": TOOLS[:1]}),
    )
}


class Case(NamedTuple):
    """A call: its name, and what it changes in the request."""

    name: str
    streamed: bool = False
    with_tools: bool = False
    model: str | None = None
    directives: dict[str, str] = {}  # noqa: RUF012  (never changed)


CASES: Final = {
    case.name: case
    for case in (
        Case("whole"),
        Case("stream", streamed=True),
        Case("tool call", with_tools=True),
        Case("streamed tool call", streamed=True, with_tools=True),
        Case("unknown model", model="nothing"),
        Case("streamed unknown model", streamed=True, model="nothing"),
        Case("broken stream", streamed=True, directives={"Sim-Break": "event:3:5", "Sim-Event-Interval-Ms": "2"}),
    )
}


class Made(NamedTuple):
    """What an SDK printed for a case, through the route and directly, and the namespace of the record."""

    relayed: dict[str, Any]
    direct: dict[str, Any]
    namespace: str


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    install()
    directory = tmp_path_factory.mktemp("node-routes")
    with SimulatedProvider() as provider:
        root = provider.url.removesuffix("/v1")
        settings = directory / "relaybook.toml"
        settings.write_text("".join(f'[routes.{sdk.route}]\nupstream = "{root}"\n' for sdk in SDKS.values()))
        with Server(directory, provider.url, "--config", str(settings)) as server:
            yield World(server, provider)


@pytest.fixture(scope="module", params=SDKS)
def sdk(request: pytest.FixtureRequest) -> Sdk:
    return SDKS[request.param]


@pytest.fixture(scope="module")
def made(world: World, sdk: Sdk) -> dict[str, Made]:
    """Make all calls of an SDK, each through the route and directly."""
    namespaces = [unique(sdk.name) for _ in CASES]
    calls = []
    for case, namespace in zip(CASES.values(), namespaces, strict=True):
        request = sdk.request(ASKS_FOR_WEATHER if case.with_tools else QUESTION)
        request |= sdk.tools if case.with_tools else {}
        request |= {"model": case.model} if case.model else {}
        call = {"request": request, "streamed": case.streamed}
        relay, upstream = f"http://127.0.0.1:{world.server.port}/{sdk.route}", world.provider.url.removesuffix("/v1")
        headers = {**case.directives, "Service-Namespace": namespace}
        calls.append({**call, "baseURL": relay + sdk.path, "headers": headers})
        calls.append({**call, "baseURL": upstream + sdk.path, "headers": case.directives})
    found = run("sdks.mjs", {"sdk": sdk.name, "apiKey": KEY, "calls": calls})
    return {
        name: Made(*found[2 * index : 2 * index + 2], namespace)
        for index, (name, namespace) in enumerate(zip(CASES, namespaces, strict=True))
    }


def answer_of(printed: dict[str, Any]) -> Answer:
    assert "error" not in printed, printed
    calls = [Call(*call) for call in printed.pop("calls")]
    return Answer(**printed, calls=calls)


def detail(world: World, made: Made) -> dict[str, Any]:
    (row,) = world.recorded(made.namespace)
    return world.server.record(row["id"])


@pytest.mark.parametrize("case", ["whole", "stream", "tool call", "streamed tool call"])
def test_the_sdk_prints_the_same_as_directly_and_the_record_has_it(
    world: World, sdk: Sdk, made: dict[str, Made], case: str
) -> None:
    answer, direct = answer_of(dict(made[case].relayed)), answer_of(dict(made[case].direct))
    assert answer.without_ids() == direct.without_ids()
    assert bool(answer.calls) == CASES[case].with_tools
    assert bool(answer.text) != CASES[case].with_tools
    assert answer.input_tokens
    assert answer.output_tokens
    record = detail(world, made[case])
    assert (record["kind"], record["route"], record["model"]) == (sdk.kind, sdk.route, sdk.model)
    assert (record["failed"], record["stream"]) == (False, CASES[case].streamed)
    assert KEY not in json.dumps(record)
    assert_recorded(record, answer)


@pytest.mark.parametrize("case", ["unknown model", "streamed unknown model"])
def test_an_error_is_the_same_as_directly_and_is_recorded(world: World, made: dict[str, Made], case: str) -> None:
    assert made[case].relayed["error"] == made[case].direct["error"]
    record = detail(world, made[case])
    assert (record["status"], record["failed"], record["model"]) == (404, True, "nothing")
    assert record["error_message"] in made[case].relayed["error"]["message"]


def test_a_stream_that_breaks_raises_the_same_error_as_directly_and_is_recorded(
    world: World, made: dict[str, Made]
) -> None:
    relayed, direct = made["broken stream"].relayed, made["broken stream"].direct
    assert relayed["error"]["class"] == direct["error"]["class"]
    record = detail(world, made["broken stream"])
    assert (record["outcome"], record["stream_ended"], record["failed"]) == ("upstream_failed", "cut", True)
