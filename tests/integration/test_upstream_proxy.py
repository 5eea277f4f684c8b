"""An HTTP proxy between the relay and its upstream, and upstreams that ask for a client certificate."""

import json
import os
import ssl
from collections.abc import Iterator
from contextlib import ExitStack
from http.client import HTTPConnection
from pathlib import Path

import pytest
import trustme
from tests.support.connect_proxy import Behavior, ConnectProxy
from tests.support.named_upstream import NamedUpstream
from tests.support.server import Server

from relaybook.cli.main import main

CREDENTIALS = "user:p%40ss"
HEADERS = {"Authorization": "Bearer sk-test", "Content-Type": "application/json"}


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def upstream(authority: trustme.CA) -> Iterator[NamedUpstream]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    with NamedUpstream("secure", context=context) as started:
        yield started


@pytest.fixture(scope="module")
def plain() -> Iterator[NamedUpstream]:
    with NamedUpstream("plain") as started:
        yield started


def serve(directory: Path, authority: trustme.CA, toml: str, env: dict[str, str] | None = None) -> Server:
    """Start a server whose routes come from ``toml``. Their certificates are trusted."""
    authority.cert_pem.write_to_path(directory / "ca.pem")
    (directory / "relaybook.toml").write_text(f'upstream_ca_file = "ca.pem"\n{toml}')
    environ = None if env is None else os.environ | env
    return Server(directory, "http://127.0.0.1:1/v1", "--config", str(directory / "relaybook.toml"), env=environ)


def ask(server: Server, route: str) -> tuple[int, str]:
    """Return the status of a response, and the name of the upstream or the error message."""
    connection = HTTPConnection("127.0.0.1", server.port, timeout=30)
    connection.request("POST", f"/{route}/v1/chat/completions", b"{}", HEADERS)
    response = connection.getresponse()
    body = json.loads(response.read())
    connection.close()
    return response.status, body["name"] if "name" in body else body["error"]["message"]


def table(name: str, upstream: str, proxy: str) -> str:
    return f'[routes.{name}]\nupstream = "{upstream}/v1"\nupstream_proxy = "{proxy}"\n'


def secure_url(upstream: NamedUpstream) -> str:
    return f"https://localhost:{upstream.server_address[1]}"


def test_requests_go_through_the_proxy_of_their_route(
    tmp_path: Path, authority: trustme.CA, upstream: NamedUpstream, plain: NamedUpstream
) -> None:
    with ConnectProxy() as open_proxy, ConnectProxy(credentials="user:p@ss") as closed_proxy:
        toml = (
            table("tls", secure_url(upstream), open_proxy.url())
            + table("plain", plain.root, open_proxy.url())
            + table("known", secure_url(upstream), closed_proxy.url(CREDENTIALS))
            + table("stranger", secure_url(upstream), closed_proxy.url())
            + table("direct", secure_url(upstream), "none")
        )
        with serve(tmp_path, authority, toml) as server:
            assert [ask(server, name) for name in ("tls", "tls", "plain")] == [(200, "secure")] * 2 + [(200, "plain")]
            secure_target, plain_target = f"localhost:{upstream.server_address[1]}", plain.root.removeprefix("http://")
            assert open_proxy.targets == [secure_target, plain_target]  # the second request reused the connection
            assert ask(server, "known") == (200, "secure")
            status, message = ask(server, "stranger")
            assert status == 502
            assert "requires a user name and a password. Set upstream_proxy to http://USER:PASSWORD@" in message
            assert ask(server, "direct") == (200, "secure")
            assert (len(open_proxy.targets), len(closed_proxy.targets)) == (2, 2)
            shown = json.dumps(server.get("/api/status")["settings"])
            assert "p%40ss" not in shown
            assert "p@ss" not in shown


def test_check_asks_upstreams_through_their_proxies(
    tmp_path: Path, plain: NamedUpstream, capsys: pytest.CaptureFixture[str]
) -> None:
    with ConnectProxy() as open_proxy, ConnectProxy(credentials="user:p@ss") as closed_proxy:
        toml = f'upstream = "{plain.root}/v1"\n' + table("open", plain.root, open_proxy.url())
        toml += table("known", plain.root, closed_proxy.url(CREDENTIALS))
        toml += table("stranger", plain.root, closed_proxy.url())
        (tmp_path / "relaybook.toml").write_text(toml)
        main(["check", "--config", str(tmp_path / "relaybook.toml"), "--data", str(tmp_path / "data")])
        shown = capsys.readouterr().out
    assert f"{plain.root}/v1/models could not be reached: Tunnel connection failed: 407" in shown
    assert "Check the upstream of routes.stranger, upstream_proxy and the network." in shown
    assert shown.count(f"{plain.root}/v1/models returned") == 3
    target = plain.root.removeprefix("http://")
    assert (open_proxy.targets, closed_proxy.targets) == ([target], [target, target])


REFUSALS: dict[Behavior, str] = {
    "forbid": "refused to connect, with status 403",
    "close": "closed the connection before it responded to CONNECT",
    "cut": "closed the connection before it responded to CONNECT",
    "chatter": "sent bytes after its response",
    "garbage": "sent no HTTP response",
    "silent": "it did not accept a connection within 0.5 s",
}


def test_a_proxy_that_does_not_connect_is_named_in_the_error(
    tmp_path: Path, authority: trustme.CA, upstream: NamedUpstream
) -> None:
    with ExitStack() as stack:
        proxies = {behavior: stack.enter_context(ConnectProxy(behavior)) for behavior in REFUSALS}
        toml = "".join(table(name, secure_url(upstream), proxy.url()) for name, proxy in proxies.items())
        toml += 'connect_timeout = "500ms"'  # of the last table
        server = stack.enter_context(serve(tmp_path, authority, toml))
        for behavior, words in REFUSALS.items():
            status, message = ask(server, behavior)
            assert (behavior, status) == (behavior, 502)
            assert words in message
            assert "The request was not sent" in message
            if behavior != "silent":
                proxies[behavior].behavior = "connect"
                assert ask(server, behavior) == (200, "secure")


def test_a_proxy_that_dies_only_costs_its_idle_connections(
    tmp_path: Path, authority: trustme.CA, upstream: NamedUpstream
) -> None:
    with ConnectProxy() as proxy, serve(tmp_path, authority, table("tls", secure_url(upstream), proxy.url())) as server:
        assert ask(server, "tls") == (200, "secure")
        proxy.drop_connections()
        assert ask(server, "tls") == (200, "secure")
        assert len(proxy.targets) == 2


def test_the_variables_of_the_environment_apply_only_if_the_setting_says_so(
    tmp_path: Path, authority: trustme.CA, upstream: NamedUpstream, plain: NamedUpstream
) -> None:
    with ConnectProxy() as proxy:
        toml = (
            table("asked", secure_url(upstream), "environment")
            + table("excepted", plain.root, "environment")
            + f'[routes.default-proxy]\nupstream = "{secure_url(upstream)}/v1"\n'
        )
        env = {"HTTPS_PROXY": proxy.url(), "HTTP_PROXY": proxy.url(), "NO_PROXY": "127.0.0.1,example.com"}
        with serve(tmp_path, authority, toml, env) as server:
            assert ask(server, "default-proxy") == (200, "secure")
            assert ask(server, "excepted") == (200, "plain")
            assert proxy.targets == []
            assert ask(server, "asked") == (200, "secure")
            assert len(proxy.targets) == 1


def test_a_client_certificate_is_shown_to_the_upstream(tmp_path: Path, authority: trustme.CA) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    authority.configure_trust(context)
    context.verify_mode = ssl.CERT_REQUIRED
    certificate = authority.issue_cert("relay@example.com")
    certificate.private_key_and_cert_chain_pem.write_to_path(tmp_path / "both.pem")
    certificate.private_key_pem.write_to_path(tmp_path / "key.pem")
    with (tmp_path / "cert.pem").open("wb") as file:
        for part in certificate.cert_chain_pems:
            file.write(part.bytes())
    with NamedUpstream("mutual", context=context) as mutual:
        url = f"{secure_url(mutual)}/v1"
        toml = (
            f'[routes.one-file]\nupstream = "{url}"\nupstream_cert = "both.pem"\n'
            f'[routes.two-files]\nupstream = "{url}"\nupstream_cert = "cert.pem"\nupstream_key = "key.pem"\n'
            f'[routes.nobody]\nupstream = "{url}"\n'
        )
        with serve(tmp_path, authority, toml) as server:
            assert ask(server, "one-file") == (200, "mutual")
            assert ask(server, "two-files") == (200, "mutual")
            assert ask(server, "nobody")[0] == 502


def test_a_certificate_that_cannot_be_loaded_is_a_start_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "broken.pem").write_text("no certificate")
    settings = tmp_path / "relaybook.toml"
    settings.write_text('[routes.own]\nupstream = "https://a.example/v1"\nupstream_cert = "broken.pem"\n')
    assert main(["serve", "--config", str(settings), "--data", str(tmp_path / "data")]) == 2
    assert "upstream_cert of routes.own is" in capsys.readouterr().err
