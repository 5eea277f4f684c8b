"""Test the precedence, validation and messages of settings from flags, environment variables and a file."""

from pathlib import Path

import pytest

from relaybook.settings import BadSetting
from relaybook.settings.configuration import FIELDS, FLAGS, default_data, flag_of, resolve, variable_of
from relaybook.settings.definitions import Days, Dollars, NamespaceSettings, PriceSettings


def test_every_setting_has_a_default(tmp_path: Path) -> None:
    resolved = resolve({}, {"HOME": "/home/ada"}, tmp_path)
    assert resolved.settings.listen == "127.0.0.1:4100"
    assert set(resolved.sources.values()) == {"default"}
    assert (resolved.warnings, resolved.server_warnings) == ([], [])


def test_flags_override_environment_file_and_defaults(tmp_path: Path) -> None:
    (tmp_path / "relaybook.toml").write_text('log = "no-bodies"\nworkers = 2\nidle_timeout = "2min"\n')
    environ = {"HOME": "/h", "RELAYBOOK_WORKERS": "3", "RELAYBOOK_IDLE_TIMEOUT": "4min"}
    resolved = resolve({"idle_timeout": "5min"}, environ, tmp_path)
    assert (resolved.settings.log, resolved.settings.workers, resolved.settings.idle_timeout) == ("no-bodies", 3, 300.0)
    assert resolved.sources["log"] == "relaybook.toml"
    assert resolved.sources["workers"] == "environment RELAYBOOK_WORKERS"
    assert resolved.sources["idle_timeout"] == "flag"
    assert resolved.sources["listen"] == "default"


def test_a_named_file_replaces_the_default_file(tmp_path: Path) -> None:
    (tmp_path / "relaybook.toml").write_text("workers = 2\n")
    (tmp_path / "a.toml").write_text("workers = 3\n")
    (tmp_path / "b.toml").write_text("workers = 4\n")
    environ = {"HOME": "/h", "RELAYBOOK_CONFIG": "a.toml"}
    assert resolve({}, environ, tmp_path).settings.workers == 3
    resolved = resolve({}, environ, tmp_path, "b.toml")
    assert (resolved.settings.workers, resolved.sources["workers"]) == (4, "b.toml")


def test_an_empty_variable_counts_as_not_set(tmp_path: Path) -> None:
    assert resolve({}, {"HOME": "/h", "RELAYBOOK_UPSTREAM": ""}, tmp_path).sources["upstream"] == "default"
    assert resolve({}, {"HOME": "/h", "RELAYBOOK_CONFIG": ""}, tmp_path).settings.workers == 1


def error_of(tmp_path: Path, flags: dict[str, object], environ: dict[str, str], toml: str | None = None) -> str:
    if toml is not None:
        (tmp_path / "relaybook.toml").write_text(toml)
    with pytest.raises(BadSetting) as caught:
        resolve(flags, {"HOME": "/h", **environ}, tmp_path)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_a_wrong_value_names_the_flag(tmp_path: Path) -> None:
    message = error_of(tmp_path, {"idle_timeout": "soon"}, {})
    assert message == "--idle-timeout is 'soon': expected seconds or a duration such as 500ms, 15min or 2h."


def test_a_wrong_value_names_the_variable(tmp_path: Path) -> None:
    assert "RELAYBOOK_LOG is 'some': expected full or no-bodies." in error_of(tmp_path, {}, {"RELAYBOOK_LOG": "some"})


def test_a_wrong_value_names_file_and_key(tmp_path: Path) -> None:
    message = error_of(tmp_path, {}, {}, "workers = true\n")
    assert message.startswith("workers in relaybook.toml is True: expected a whole number")


def test_an_error_of_the_validation_names_the_source(tmp_path: Path) -> None:
    message = error_of(tmp_path, {}, {"RELAYBOOK_LISTEN": "here"})
    assert message == (
        "listen is 'here': expected host:port, such as 127.0.0.1:4100. The value comes from RELAYBOOK_LISTEN."
    )


def test_an_unknown_key_is_rejected_with_a_suggestion(tmp_path: Path) -> None:
    message = error_of(tmp_path, {}, {}, "idle-timout = 3\n")
    assert message == "relaybook.toml has an unknown key: 'idle-timout'. Did you mean idle_timeout?"


@pytest.mark.parametrize("toml", ["workers = ", "workers = 1\nworkers = 2", "[["])
def test_a_file_that_is_not_toml_is_rejected(tmp_path: Path, toml: str) -> None:
    assert error_of(tmp_path, {}, {}, toml).startswith("relaybook.toml is not valid TOML: ")


def test_a_file_that_is_not_utf_8_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "relaybook.toml").write_bytes(b"log = \xff")
    assert error_of(tmp_path, {}, {}) == "relaybook.toml is not UTF-8 text."


def test_a_missing_named_file_is_rejected(tmp_path: Path) -> None:
    assert (
        error_of(tmp_path, {}, {"RELAYBOOK_CONFIG": "x.toml"}) == "x.toml could not be read: No such file or directory."
    )


def test_a_secret_of_the_wrong_type_is_not_shown(tmp_path: Path) -> None:
    message = error_of(tmp_path, {}, {}, "dashboard_token = 12345678\n")
    assert "not shown" in message
    assert "12345678" not in message


def test_unknown_variables_cause_one_warning(tmp_path: Path) -> None:
    unknown = {"RELAYBOOK_PORT": "8080", "RELAYBOOK_HOST": "10.0.0.1", "OTHER": "x"}
    resolved = resolve({}, {"HOME": "/h", **unknown}, tmp_path)
    assert resolved.warnings == ["Unknown settings are ignored: RELAYBOOK_HOST, RELAYBOOK_PORT."]


@pytest.mark.parametrize("service", ["RELAYBOOK", "RELAYBOOK_DASHBOARD"])
def test_variables_that_kubernetes_sets_for_our_services_are_ignored_silently(tmp_path: Path, service: str) -> None:
    links = {
        f"{service}_SERVICE_HOST": "10.0.0.1",
        f"{service}_SERVICE_PORT": "4100",
        f"{service}_SERVICE_PORT_RELAY": "4100",
        f"{service}_PORT": "tcp://10.0.0.1:4100",
        f"{service}_PORT_4100_TCP": "tcp://10.0.0.1:4100",
        f"{service}_PORT_4100_TCP_PROTO": "tcp",
        f"{service}_PORT_4100_TCP_PORT": "4100",
        f"{service}_PORT_4100_TCP_ADDR": "10.0.0.1",
    }
    resolved = resolve({}, {"HOME": "/h", **links}, tmp_path)
    assert (resolved.warnings, set(resolved.sources.values())) == ([], {"default"})


def test_one_misspelled_variable_gets_a_suggestion(tmp_path: Path) -> None:
    resolved = resolve({}, {"HOME": "/h", "RELAYBOOK_UPSTEAM": "x"}, tmp_path)
    assert resolved.warnings == ["Unknown settings are ignored: RELAYBOOK_UPSTEAM. Did you mean RELAYBOOK_UPSTREAM?"]


@pytest.mark.parametrize("upstream", ["http://127.0.0.1:9", "http://127.0.0.1:9/"])
def test_an_upstream_without_a_path_warns(tmp_path: Path, upstream: str) -> None:
    (warning,) = resolve({"upstream": upstream}, {"HOME": "/h"}, tmp_path).server_warnings
    assert warning.endswith("such as http://127.0.0.1:9/v1.")


@pytest.mark.parametrize("endpoint", ["/chat/completions", "/completions", "/messages/"])
def test_an_endpoint_as_upstream_warns(tmp_path: Path, endpoint: str) -> None:
    upstream = f"http://127.0.0.1:9/v1{endpoint}"
    (warning,) = resolve({"upstream": upstream}, {"HOME": "/h"}, tmp_path).server_warnings
    assert warning.endswith("is an endpoint. The base URL is probably http://127.0.0.1:9/v1.")


def test_relative_data_becomes_absolute(tmp_path: Path) -> None:
    assert resolve({"data": "log"}, {}, tmp_path).data == tmp_path / "log"


def test_paths_in_the_file_are_relative_to_the_file(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "r.toml").write_text('data = "log"\n')
    assert resolve({}, {}, tmp_path, "etc/r.toml").data == tmp_path / "etc" / "log"


def test_none_overrides_the_file(tmp_path: Path) -> None:
    (tmp_path / "relaybook.toml").write_text('price_as = "openai"\n')
    assert resolve({"price_as": "none"}, {"HOME": "/h"}, tmp_path).settings.price_as is None


def test_default_data_is_the_local_directory_if_it_exists(tmp_path: Path) -> None:
    (tmp_path / "relaybook-data").mkdir()
    assert default_data({"XDG_DATA_HOME": "/x"}, tmp_path) == tmp_path / "relaybook-data"


def test_default_data_is_otherwise_that_of_the_platform(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    assert default_data({"XDG_DATA_HOME": "/x"}, tmp_path) == Path("/x/relaybook")
    assert default_data({"XDG_DATA_HOME": "x", "HOME": "/h"}, tmp_path) == Path("/h/.local/share/relaybook")
    monkeypatch.setattr("sys.platform", "darwin")
    assert default_data({"HOME": "/h"}, tmp_path) == Path("/h/Library/Application Support/relaybook")


def test_flags_and_variables_are_derived_from_names() -> None:
    assert flag_of("upstream_ca_file") == "--upstream-ca-file"
    assert variable_of("upstream_ca_file") == "RELAYBOOK_UPSTREAM_CA_FILE"


def test_secrets_passwords_and_tables_have_no_flag() -> None:
    secrets = {name for name, field in FIELDS.items() if field.metadata["secret"]}
    tables = {"namespaces", "prices", "headers_as_properties", "fields_as_properties"}
    with_passwords = {"upstream_proxy"}
    assert set(FIELDS) - set(FLAGS) == secrets | tables | with_passwords


def test_namespaces_have_settings_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "relaybook.toml").write_text(
        '[namespaces."dev-*"]\nkeep_days = 7\nlog = "no-bodies"\n[namespaces.audit]\nkeep_bodies_days = 0\n'
    )
    settings = resolve({}, {"HOME": "/h"}, tmp_path).settings
    assert settings.namespaces == {
        "dev-*": NamespaceSettings(keep_days=Days(7), log="no-bodies"),
        "audit": NamespaceSettings(keep_bodies_days=Days(0)),
    }
    assert settings.shown()["namespaces"] == {
        "dev-*": {"keep_days": 7, "log": "no-bodies"},
        "audit": {"keep_bodies_days": 0},
    }


def test_models_have_prices_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "relaybook.toml").write_text(
        '[prices."my-model"]\ninput_mtok = 0.5\noutput_mtok = 2\n[prices."local-*"]\ninput_mtok = 0\noutput_mtok = 0\n'
    )
    settings = resolve({}, {"HOME": "/h"}, tmp_path).settings
    assert settings.prices == {
        "my-model": PriceSettings(input_mtok=Dollars(0.5), output_mtok=Dollars(2.0)),
        "local-*": PriceSettings(input_mtok=Dollars(0.0), output_mtok=Dollars(0.0)),
    }
    assert settings.shown()["prices"]["my-model"] == {"input_mtok": 0.5, "output_mtok": 2.0}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("prices = 3", 'tables in relaybook.toml, such as [prices."my-model"]'),
        ("[prices.m]\ninput = 3", "not 'input'. Did you mean input_mtok?"),
        ("[prices.m]\ninput_mtok = 3", "the key output_mtok in the table of 'm'"),
        ("[prices.m]\ninput_mtok = -1", "a price in US dollars from 0 to 1000000 for input_mtok of 'm'"),
        ("[prices.m]\ninput_mtok = nan", "a price in US dollars from 0 to 1000000 for input_mtok of 'm'"),
        ("[prices.m]\ninput_mtok = true", "a price in US dollars from 0 to 1000000 for input_mtok of 'm'"),
        ("namespaces = 3", "tables in relaybook.toml, such as"),
        ('[namespaces]\ndev = "x"', "tables in relaybook.toml, such as"),
        ("[namespaces.dev]\nkeep_day = 3", "not 'keep_day'. Did you mean keep_days?"),
        ('[namespaces.dev]\nlog = "none"', "full or no-bodies for log of 'dev'"),
        ('[namespaces.dev]\nkeep_days = "none"', "a number of days from 0 to 36500 for keep_days of 'dev'"),
        ("[namespaces.dev]\nkeep_days = -1", "a number of days from 0 to 36500 for keep_days of 'dev'"),
        ('[namespaces."*dev"]\nkeep_days = 1', "a prefix of names followed by *, not '*dev'"),
        ("keep_days = 40000", "a number of days from 0 to 36500"),
        ('disk_budget = "much"', "auto, none or a size such as 50GiB"),
        ("max_journal = 5", "The minimum is 268435456 (four segments per worker)."),
        (r'dashboard_token = "s3cret\n"', "dashboard_token begins or ends with white space, such as a line break."),
        ("disk_budget = 5", "The minimum is 536870912 (256 MiB, plus four segments per worker)."),
    ],
)
def test_the_error_for_an_invalid_value_is_one_line(tmp_path: Path, text: str, expected: str) -> None:
    (tmp_path / "relaybook.toml").write_text(text)
    with pytest.raises(BadSetting) as raised:
        resolve({}, {"HOME": "/h"}, tmp_path)
    assert expected in str(raised.value)
    assert "?." not in str(raised.value)
    assert "\n" not in str(raised.value)


def test_no_setting_collides_with_variables_of_kubernetes() -> None:
    assert not [name for name in FIELDS if name.startswith(("service_", "port_")) or name in ("port", "config")]
