"""Applications can send feedback to a running server with curl and Python, using only the feedback token."""

import json
import os
import re
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from tests.support.server import Server, SimulatedProvider, wait_until
from tests.support.tree import ROOT

TOKEN, FEEDBACK_TOKEN = "the-token-that-reads", "the-token-that-only-writes"
PAGE = ROOT / "docs" / "how-to" / "collect-feedback.md"


def example(language: str, text: str, server: Server) -> str:
    """Return the page's code block in this language that contains the text, with the server's addresses inserted."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    (block,) = [block for block in blocks if text in block]
    addresses = {"http://127.0.0.1:4100/v1": server.base_url, "http://127.0.0.1:4101": server.dashboard}
    for documented, actual in addresses.items():
        block = block.replace(documented, actual)
    return str(block)


def give(server: Server, any_id: str, feedback: dict[str, Any], token: str | None = None) -> dict[str, Any]:
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    url = f"{server.dashboard}/api/requests/{any_id}/feedback"
    request = urllib.request.Request(url, json.dumps(feedback).encode(), headers)

    def given() -> dict[str, Any] | None:
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                found: dict[str, Any] = json.load(response)
        except urllib.error.HTTPError as error:
            if error.code == 503:  # the recorder has not created the store yet
                return None
            raise
        return found

    return wait_until(given, what="a store for the feedback")


def completion(server: Server) -> dict[str, Any]:
    body = {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Where is my refund?"}]}
    headers = {"Content-Type": "application/json", "Authorization": "Bearer sk-test"}
    request = urllib.request.Request(f"{server.base_url}/chat/completions", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=30) as response:
        found: dict[str, Any] = json.load(response)
    return found


def test_the_examples_of_the_documentation_work_as_written(tmp_path: Path) -> None:
    environment = {**os.environ, "RELAYBOOK_FEEDBACK_TOKEN": FEEDBACK_TOKEN, "OPENAI_API_KEY": "sk-test"}
    with SimulatedProvider() as provider, Server(tmp_path, provider.url, env=environment) as server:
        program = [sys.executable, "-c", example("python", "give_feedback", server)]
        ended = subprocess.run(program, env=environment, capture_output=True, text=True, timeout=60, check=False)
        assert (ended.returncode, ended.stderr) == (0, "")
        (row,) = wait_until(lambda: server.records("label=helpful"), what="recording the feedback")
        assert [(each["source"], each["score"]) for each in row["feedback"]] == [("users", 1)]
        if shutil.which("curl"):
            ended = subprocess.run(
                ["bash", "-ec", example("sh", "chatcmpl-9f2b", server)],
                capture_output=True,
                text=True,
                timeout=60,
                check=True,
            )
            assert json.loads(ended.stdout)["state"] == "pending"


def test_a_program_with_only_the_feedback_token_gives_feedback_and_reads_nothing(tmp_path: Path) -> None:
    environment = os.environ | {"RELAYBOOK_DASHBOARD_TOKEN": TOKEN, "RELAYBOOK_FEEDBACK_TOKEN": FEEDBACK_TOKEN}
    with SimulatedProvider() as provider, Server(tmp_path, provider.url, env=environment) as server:
        any_id = completion(server)["id"]
        assert give(server, any_id, {"score": -1}, FEEDBACK_TOKEN)["state"] in ("stored", "pending")
        for path in ("/api/requests", f"/api/requests/{any_id}", "/api/status", "/metrics", "/"):
            asked = urllib.request.Request(
                server.dashboard + path, headers={"Authorization": f"Bearer {FEEDBACK_TOKEN}"}
            )
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(asked, timeout=30)
            assert refused.value.code == 403
            assert json.load(refused.value)["error"]["code"] == "feedback_only"


def test_feedback_that_comes_before_the_request_joins_it_after_a_restart(tmp_path: Path) -> None:
    with SimulatedProvider() as provider:
        with Server(tmp_path, provider.url) as server:
            completion(server)
            wait_until(server.records, what="recording")
            early = {"score": 1, "label": "early"}
            assert give(server, "client-7", early)["state"] == "pending"
        with Server(tmp_path, provider.url) as server:
            request = urllib.request.Request(
                f"{server.base_url}/models", headers={"x-client-request-id": "client-7", "Authorization": "Bearer k"}
            )
            urllib.request.urlopen(request, timeout=30).close()
            (row,) = wait_until(lambda: server.records("feedback=any"), what="joining")
            assert (row["client_request_id"], row["feedback"][0]["label"]) == ("client-7", "early")
            assert len(server.records()) == 2
