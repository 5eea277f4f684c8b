"""Test how routes are resolved from presets, tables and general settings."""

import re
from pathlib import Path

import pytest
from tests.support.tree import ROOT

from relaybook.settings import BadSetting
from relaybook.settings.configuration import resolve
from relaybook.settings.definitions import Settings
from relaybook.settings.presets import PRESETS
from relaybook.settings.routes import ResolvedRoute


def settings_of(directory: Path, toml: str = "", routes: str | None = None) -> Settings:
    (directory / "relaybook.toml").write_text(toml)
    flags = {} if routes is None else {"routes": routes}
    return resolve(flags, {"HOME": "/h"}, directory).settings


def routes_of(directory: Path, toml: str = "", routes: str | None = None) -> dict[str, ResolvedRoute]:
    return {route.name: route for route in settings_of(directory, toml, routes).resolved_routes()}


def test_without_routes_there_is_only_the_default_route(tmp_path: Path) -> None:
    (route,) = routes_of(tmp_path, 'upstream = "https://llm.example.com/v2"').values()
    assert (route.name, route.mount, route.base_path) == ("default", "/v1", "/v1")
    assert route.upstream == "https://llm.example.com/v2"


def test_each_preset_is_a_route_below_its_name(tmp_path: Path) -> None:
    ready = [preset for preset in PRESETS if preset.upstream is not None]
    routes = routes_of(tmp_path, routes=",".join(preset.name for preset in ready))
    assert list(routes) == ["default", *(preset.name for preset in ready)]
    for preset in ready:
        route = routes[preset.name]
        assert (route.mount, route.upstream, route.price_as) == (f"/{preset.name}", preset.upstream, preset.price_as)
        assert route.base_path == f"/{preset.name}{preset.base_path}"


def test_a_preset_of_customers_urls_needs_an_upstream_and_says_which(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match=r'write \[routes\.azure\] and upstream = "https://my-resource'):
        settings_of(tmp_path, routes="azure")
    route = routes_of(tmp_path, '[routes.azure]\nupstream = "https://mine.openai.azure.com"')["azure"]
    assert (route.preset, route.upstream, route.price_as) == ("azure", "https://mine.openai.azure.com", "azure")


def test_a_table_overrides_its_preset_and_the_general_settings_field_by_field(tmp_path: Path) -> None:
    toml = """
    upstream_timeout = "7s"
    idle_timeout = "8s"
    default_namespace = "all"
    price_as = "mistral"
    upstream_ca_file = "ca.pem"
    [routes.claude]
    preset = "anthropic"
    idle_timeout = "9s"
    namespace = "agents"
    properties = { Tool = "claude" }
    [routes.cursor]
    upstream = "https://openrouter.ai/api/v1"
    upstream_ca_file = "own.pem"
    """
    routes = routes_of(tmp_path, toml)
    claude, cursor = routes["claude"], routes["cursor"]
    assert (claude.mount, claude.preset, claude.price_as) == ("/claude", "anthropic", "anthropic")
    assert (claude.upstream_timeout, claude.idle_timeout) == (7.0, 9.0)
    assert (claude.namespace, claude.properties) == ("agents", {"Tool": "claude"})
    assert claude.upstream_ca_file == tmp_path / "ca.pem"
    assert (cursor.mount, cursor.namespace, cursor.price_as) == ("/cursor/v1", "all", "mistral")
    assert cursor.upstream_ca_file == tmp_path / "own.pem"


def test_a_listed_preset_is_added_to_the_tables_and_keeps_its_own_table(tmp_path: Path) -> None:
    toml = '[routes.gemini]\nnamespace = "notebook"\n[routes.own]\nupstream = "http://a.example/v1"'
    routes = routes_of(tmp_path, toml, "gemini,ollama")
    assert list(routes) == ["default", "gemini", "own", "ollama"]
    assert routes["gemini"].namespace == "notebook"


def test_a_list_in_the_file_is_a_list_of_presets(tmp_path: Path) -> None:
    assert list(routes_of(tmp_path, 'routes = ["anthropic", "groq"]')) == ["default", "anthropic", "groq"]


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ('routes = ["antropic"]', r"names the preset 'antropic', which does not exist\. Did you mean anthropic\?"),
        ("routes = 3", r"routes in relaybook.toml is 3: expected a list"),
        ('[routes.own]\nnamespace = "x"', r"routes\.own has no upstream\. Add the base URL"),
        ('[routes.own]\nupstream = "http://a/v1"\nnamspace = "x"', r"not 'namspace'\. Did you mean namespace\?"),
        ('[routes.own]\nupstream = "ftp://a/v1"', r"upstream of routes\.own is 'ftp://a/v1': expected a URL"),
        ('[routes.own]\nupstream = "http://u:secret@a/v1"', r"contains a user name or password"),
        ('[routes.v1]\nupstream = "http://a/v1"', r"The names api, default, .* are reserved"),
        ('[routes.Own]\nupstream = "http://a/v1"', r"has the name 'Own'"),
        ('[routes.own]\nupstream = "http://a/v1"\nmount = "own/"', r"mount of routes\.own is 'own/'"),
        ('[routes.own]\nupstream = "http://a/v1"\nmount = "/a/../b"', r"mount of routes\.own"),
        ('[routes.own]\nupstream = "http://a/v1"\nmount = "/api/x"', r"/api/x of own is a path of the server itself"),
        ('[routes.own]\nupstream = "http://a/v1"\nmount = "/v1"', r"/v1 of the route default is below the mount /v1"),
        (
            '[routes.a]\nupstream = "http://a/v1"\nmount = "/x"\n[routes.b]\nupstream = "http://b/v1"\nmount = "/x/y"',
            r"The mount /x/y of the route b is below the mount /x of the route a",
        ),
        ('[routes.openai]\nupstream = "https://a/v1"', r"upstream of routes\.openai ends with /v1.*Remove /v1"),
        (
            '[routes.own]\nupstream = "http://a/v1"\nupstream_proxy = "ftp://u:secret@b:1"',
            r"upstream_proxy of routes",
        ),
        ('[routes.own]\nupstream = "http://a/v1"\nproperties = ["x"]', r"a table of texts"),
        ('upstream_proxy = "http://u:my secret@b:1"', r"upstream_proxy is not the URL of an HTTP proxy"),
        ('upstream_proxy = ["http://u:secret@b:1"]', r"expected text"),
        ('[routes.default]\nmount = "/v1"\nupstream = "http://[x"', r"has the name 'default'"),
        ("routes = " + "[" * 3000, r"is not valid TOML"),
        ('upstream_key = "k.pem"', r"upstream_key is set without upstream_cert"),
        ('[routes.own]\nupstream = "http://a/v1"\nidle_timeout = 0', r"idle_timeout is 0.0 \(routes\.own\)"),
    ],
)
def test_an_invalid_route_is_refused_with_what_to_change(tmp_path: Path, toml: str, message: str) -> None:
    with pytest.raises(BadSetting, match=message) as caught:
        settings_of(tmp_path, toml)
    assert "secret" not in str(caught.value)


def test_mounts_that_only_begin_with_the_same_letters_do_not_clash(tmp_path: Path) -> None:
    toml = '[routes.a]\nupstream = "http://a/v1"\nmount = "/x"\n[routes.b]\nupstream = "http://b/v1"\nmount = "/xy"'
    assert len(routes_of(tmp_path, toml)) == 3


def test_the_general_proxy_is_not_used_for_upstreams_on_this_machine(tmp_path: Path) -> None:
    toml = """
    upstream_proxy = "http://user:hunter2@proxy.example:3128"
    [routes.ollama]
    [routes.anthropic]
    [routes.direct]
    upstream = "https://inside.example/v1"
    upstream_proxy = "none"
    [routes.local]
    upstream = "http://127.0.0.1:9/v1"
    upstream_proxy = "http://127.0.0.1:3128"
    """
    proxies = {name: route.upstream_proxy for name, route in routes_of(tmp_path, toml).items()}
    through = "http://user:hunter2@proxy.example:3128"
    assert proxies == {
        "default": through,
        "ollama": None,
        "anthropic": through,
        "direct": None,
        "local": "http://127.0.0.1:3128",
    }


def test_the_password_of_a_proxy_is_not_shown(tmp_path: Path) -> None:
    toml = """
    upstream_proxy = "http://user:hunter2@proxy.example:3128"
    [routes.own]
    upstream = "http://a.example/v1"
    upstream_proxy = "http://user:hunter2@other.example:3128"
    """
    assert "hunter2" not in str(settings_of(tmp_path, toml).shown())


def test_the_certificate_of_a_route_is_not_used_with_the_general_key(tmp_path: Path) -> None:
    toml = """
    upstream_cert = "general.pem"
    upstream_key = "general.key"
    [routes.own]
    upstream = "https://a.example/v1"
    upstream_cert = "own.pem"
    """
    route = routes_of(tmp_path, toml)["own"]
    assert (route.upstream_cert, route.upstream_key) == (tmp_path / "own.pem", None)


def test_the_warning_about_an_upstream_without_a_path_names_the_route(tmp_path: Path) -> None:
    (tmp_path / "relaybook.toml").write_text('[routes.own]\nupstream = "http://a.example"')
    (warning,) = resolve({"routes": "anthropic"}, {"HOME": "/h"}, tmp_path).server_warnings
    assert warning.startswith("The upstream of own http://a.example has no path")


GUIDE = (ROOT / "docs" / "how-to" / "use-several-providers.md").read_text("utf-8")


@pytest.mark.parametrize("toml", re.findall(r"^```toml\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL))
def test_the_settings_files_in_the_guide_are_valid(tmp_path: Path, toml: str) -> None:
    assert len(routes_of(tmp_path, toml)) > 1


def test_an_empty_table_is_the_route_of_its_preset(tmp_path: Path) -> None:
    assert routes_of(tmp_path, "[routes.gemini]")["gemini"].upstream == "https://generativelanguage.googleapis.com"
