"""Test the tables of clients: their snippets are valid, and each says how to tag requests."""

import json
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from tests.support.clients_page import CLIENTS, values_for

from relaybook.settings.client_setup import PLACEHOLDER, Client, Snippet, fill
from relaybook.settings.presets import BY_NAME
from relaybook.settings.sdks import SDKS

KNOWN = {"url", "namespace_url", "root", "prefix", "key", "any_key"}
SNIPPETS = [
    pytest.param(client, snippet, id=f"{client.id}-{snippet.language}")
    for client in CLIENTS
    for snippet in client.setup
]


def test_ids_and_names_are_unique() -> None:
    assert len({client.id for client in CLIENTS}) == len({client.name for client in CLIENTS}) == len(CLIENTS)


def test_the_tested_versions_are_those_that_the_tests_install() -> None:
    root = Path(__file__).parents[3]
    locked = re.findall(r"^([\w.-]+)==(\S+)", (root / "requirements" / "dev.txt").read_text("utf-8"), re.MULTILINE)
    node = json.loads((root / "tests" / "conformance" / "node" / "package.json").read_text("utf-8"))["dependencies"]
    installed = {f"{name} {version}" for name, version in (*locked, *node.items())}
    names = {each.partition(" ")[0] for each in installed}
    tested = {client.tested for client in SDKS if client.tested and client.tested.partition(" ")[0] in names}
    assert tested
    assert tested <= installed


def test_placeholders_without_a_value_remove_their_line_but_variables_stay() -> None:
    text = "a {{url}}\nb {{any_key}}\nc {{$KEY}}"
    assert fill(text, {"url": "u"}) == "a u\nc $KEY"
    assert fill(text, {"url": "u", "any_key": "k", "$KEY": "k"}) == "a u\nb k\nc k"


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.id)
def test_placeholders_are_known(client: Client) -> None:
    texts = [client.tags, *client.notes, *(snippet.code for snippet in client.setup)]
    names = {name for text in texts for name in PLACEHOLDER.findall(text)}
    assert {name for name in names if not name.startswith("$")} <= KNOWN
    assert all("{{" not in fill(text, values_for(client) | {"any_key": "any-key"}) for text in texts)


@pytest.mark.parametrize("any_key", [{}, {"any_key": "any-key"}], ids=["real", "simulated"])
@pytest.mark.parametrize(("client", "snippet"), SNIPPETS)
def test_code_is_valid_in_its_language(client: Client, snippet: Snippet, any_key: dict[str, str]) -> None:
    code = fill(snippet.code, values_for(client) | any_key)
    match snippet.language:
        case "python":
            compile(code, client.id, "exec")
        case "json":
            json.loads(code)
        case "toml":
            tomllib.loads(code)
        case "yaml":
            assert yaml.safe_load(code)
        case "sh":
            subprocess.run(["sh", "-n"], input=code, text=True, check=True)
        case "js":
            assert code.count("{") == code.count("}")
        case "text":
            assert all(re.match(r"[A-Z][\w ]+: ", line) for line in code.splitlines())


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.id)
def test_each_client_has_the_base_url_and_a_namespace_in_its_setup(client: Client) -> None:
    code = "\n".join(fill(snippet.code, values_for(client)) for snippet in client.setup)
    assert re.search(
        r"http://127\.0\.0\.1:4100/(ns/my-app/)?" + ("v1" if client.preset == "openai" else client.preset), code
    )
    assert "Service-Namespace" in code or "/ns/my-app/" in code + fill(client.tags, values_for(client))


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.id)
def test_variables_for_the_base_url_are_those_of_the_preset(client: Client) -> None:
    variables = {preset.variable for preset in BY_NAME.values()}
    code = "\n".join(snippet.code for snippet in client.setup)
    assert {name for name in re.findall(r"export (\w+)=", code) if name in variables} <= {
        BY_NAME[client.preset].variable
    }
