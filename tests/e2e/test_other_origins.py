"""Web pages of other origins call the relay. Only pages that the operator allows get a response.

The page in these tests is empty and on another port, so every call is cross-origin and has a preflight request.
"""

import shutil
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, Page
from tests.support.browser import CHROMIUM, FLAGS, needs_chromium
from tests.support.server import Server, SimulatedProvider, wait_until
from tests.support.simulated_upstream import Ledger

pytestmark = needs_chromium

TIMEOUT_SECONDS: Final = 60.0
QUESTION: Final = {
    "model": "gpt-4o-mini",
    "stream": True,
    "messages": [{"role": "user", "content": "Can I get a refund?"}],
}
HEADERS: Final = {
    "Authorization": "Bearer sk-a-page-1234567890",
    "Content-Type": "application/json",
    "Service-Namespace": "from-a-page",
}
#: JavaScript that calls the relay. It returns the response or the name of the exception.
_CALL: Final = """
async ([url, headers, question]) => {
  try {
    const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(question) });
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (let read = await reader.read(); !read.done; read = await reader.read()) text += read.value;
    const { status, headers: got } = answer;
    return { status, text, id: got.get("service-request-id"), error: got.get("service-error") };
  } catch (thrown) {
    return { thrown: thrown.name };
  }
}
"""


class _EmptyPage(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", "15")
        self.end_headers()
        self.wfile.write(b"<!doctype html>")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name in the base class
        """Print nothing."""


@pytest.fixture(scope="module")
def origin() -> Iterator[str]:
    """Return the origin of the page."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _EmptyPage)
    serving = threading.Thread(target=server.serve_forever)
    serving.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    serving.join()
    server.server_close()


@pytest.fixture(scope="module")
def provider() -> Iterator[SimulatedProvider]:
    with SimulatedProvider() as started:
        yield started


@pytest.fixture
def page(browser: Browser, origin: str) -> Iterator[Page]:
    with browser.new_context() as context:
        opened = context.new_page()
        opened.goto(origin)
        yield opened


def call(page: Page, server: Server, headers: dict[str, str] = HEADERS, query: str = "") -> dict[str, Any]:
    """Call the relay from the page."""
    result = page.evaluate(_CALL, [f"{server.base_url}/chat/completions{query}", headers, QUESTION])
    return dict(result)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, provider: SimulatedProvider, origin: str) -> Iterator[Server]:
    """Return a relay that allows the page's origin."""
    with Server(tmp_path_factory.mktemp("allowed"), provider.url, "--cors-origins", origin) as started:
        yield started


def test_an_allowed_page_reads_the_whole_stream_and_the_id_of_its_record(
    page: Page, server: Server, provider: SimulatedProvider
) -> None:
    """The relay responds to the preflight request itself. It neither forwards nor records this request."""
    ledger = Ledger(provider)
    result = call(page, server)
    assert result["status"] == 200
    assert result["id"], "the page cannot read the header"
    assert result["text"].endswith("data: [DONE]\n\n")
    record = server.record(result["id"], TIMEOUT_SECONDS)
    assert (record["outcome"], record["namespace"], record["method"]) == ("complete", "from-a-page", "POST")
    assert server.body(result["id"], "response").decode() == result["text"]
    assert [entry["method"] for entry in ledger.requests()] == ["POST"]
    assert {row["method"] for row in server.records()} == {"POST"}


def test_an_allowed_page_reads_errors_of_the_upstream_and_of_the_relay(page: Page, server: Server) -> None:
    of_provider = call(page, server, {**HEADERS, "Sim-Status": "429"})
    assert (of_provider["status"], of_provider["error"]) == (429, None)
    ours = call(page, server, {**HEADERS, "Sim-Break": "head rst"})
    assert (ours["status"], ours["error"]) == (502, "upstream_reset")
    assert server.record(ours["id"], TIMEOUT_SECONDS)["error_code"] == "upstream_reset"
    nowhere = page.evaluate(_CALL, [server.base_url.removesuffix("/v1") + "/chat/completions", HEADERS, QUESTION])
    assert (nowhere["status"], nowhere["error"]) == (404, "not_found")


def test_a_page_of_another_origin_gets_no_response_and_nothing_is_forwarded(
    page: Page, provider: SimulatedProvider, tmp_path: Path
) -> None:
    with Server(tmp_path, provider.url, "--cors-origins", "https://app.example") as server:
        ledger = Ledger(provider)
        assert call(page, server) == {"thrown": "TypeError"}
        assert ledger.requests() == []


def test_without_allowed_origins_the_upstream_decides(page: Page, provider: SimulatedProvider, tmp_path: Path) -> None:
    """The preflight request is forwarded like any other request. An upstream without CORS rejects it."""
    with Server(tmp_path, provider.url) as server:
        ledger = Ledger(provider)
        assert call(page, server, query="?sim_status=404") == {"thrown": "TypeError"}
        assert [entry["method"] for entry in ledger.requests()] == ["OPTIONS"]


#: JavaScript that sends requests that need no permission: a simple POST, a POST without an origin, a form, an image.
_ATTACK: Final = """
async ([url, question]) => {
  const body = JSON.stringify(question);
  const simple = { method: "POST", mode: "no-cors", headers: { "Content-Type": "text/plain" }, body };
  await fetch(url, simple).catch(() => null);
  const frame = document.createElement("iframe");
  frame.sandbox = "allow-scripts allow-forms";
  frame.srcdoc = `<script>fetch("${url}", ${JSON.stringify(simple)}).catch(() => null)
    .then(() => parent.postMessage("sent", "*"))<\\/script>`;
  const sent = new Promise((resolve) => addEventListener("message", resolve, { once: true }));
  document.body.append(frame);
  await sent;
  const image = new Image();
  const loaded = new Promise((resolve) => { image.onload = image.onerror = resolve; });
  image.src = url;
  await loaded;
  const form = document.createElement("form");
  Object.assign(form, { action: url, method: "post", enctype: "text/plain", target: "result" });
  const result = document.createElement("iframe");
  result.name = "result";
  const answered = new Promise((resolve) => { result.onload = resolve; });
  document.body.append(result, form);
  form.submit();
  await answered;
}
"""


#: Chromium itself blocks such requests since 2025. Other browsers do not.
_WITHOUT_CHECKS: Final = "--disable-features=LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests"


def test_a_page_of_another_site_spends_nothing(browser: Browser, provider: SimulatedProvider, tmp_path: Path) -> None:
    with Server(tmp_path, provider.url) as server, ExitStack() as stack:
        other = browser.browser_type.launch(executable_path=shutil.which(CHROMIUM), args=[*FLAGS, _WITHOUT_CHECKS])
        stack.callback(other.close)
        context = other.new_context()
        context.route("http://evil.example/**", lambda route: route.fulfill(body="<!doctype html><body>"))
        evil = context.new_page()
        evil.goto("http://evil.example/")
        ledger = Ledger(provider)
        evil.evaluate(_ATTACK, [f"{server.base_url}/chat/completions", QUESTION])
        assert ledger.requests() == []
        assert server.records() == []

        def refused() -> bool:
            return 'relaybook_refused_total{code="origin_not_allowed"} 4.0' in server.metrics()

        wait_until(refused, TIMEOUT_SECONDS, "the count of four refused requests")
