"""Check the settings and the data before the server writes to the journal or the store."""

from contextlib import suppress

from relaybook.server.data_directory import DataDirectory
from relaybook.settings import BadSetting
from relaybook.settings.addresses import check_upstream
from relaybook.settings.definitions import Settings
from relaybook.settings.routes import DEFAULT, ResolvedRoute


class UnsupportedData(Exception):
    """A version of Relaybook with another format wrote the data. The message names it and says what to do."""


def check_settings(settings: Settings, *, relays: bool, is_demo: bool) -> None:
    """Raise BadSetting if the server cannot work with these settings."""
    for route in settings.resolved_routes():
        _check_tls_files(route)
        _check_proxy(route)
        if relays:
            check_upstream(route.upstream, settings.listen)
    own = {settings.price_as, *(route.price_as for route in settings.routes.values())} - {None}
    if not is_demo and own:
        from relaybook.log.prices import check_price_as  # the import takes time and memory

        for provider in own:
            check_price_as(provider)


def check_data(settings: Settings, data: DataDirectory, *, relays: bool) -> None:
    """Raise BadSetting or UnsupportedData if the server cannot work with the log and the journal."""
    check_log(settings, data)
    if not relays:
        _check_no_journal(data)


def _check_proxy(route: ResolvedRoute) -> None:
    """Raise BadSetting if the environment names a proxy that cannot be used."""
    if route.upstream_proxy is None:
        return
    from relaybook.relay.pool import UpstreamUrl
    from relaybook.relay.proxy import find_proxy

    upstream = UpstreamUrl.parse(route.upstream)
    find_proxy(route.upstream_proxy, upstream.host, upstream.port, tls=upstream.tls)


def _check_tls_files(route: ResolvedRoute) -> None:
    """Raise BadSetting if a file with certificates or a private key cannot be used."""
    if route.upstream_ca_file is None and route.upstream_cert is None:
        return
    from relaybook.relay.tls import client_context

    where = "" if route.name == DEFAULT else f" of routes.{route.name}"
    name, path = f"upstream_ca_file{where}", route.upstream_ca_file
    try:
        client_context(path)
        if route.upstream_cert is not None:
            if route.upstream_key is not None:
                name, path = f"upstream_key{where}", route.upstream_key
                route.upstream_key.open("rb").close()
            name, path = f"upstream_cert{where}", route.upstream_cert
            client_context(None, route.upstream_cert, route.upstream_key)
    except OSError as error:  # includes ssl.SSLError
        hint = (
            "Set upstream_ca_file to a PEM file with certificates, or omit the setting to use the system's certificates"
            if "ca_file" in name
            else "Set upstream_cert to a PEM file with a certificate, and upstream_key to its key, not encrypted"
        )
        raise BadSetting(
            name.removesuffix(where), f"{name} is {path}, which could not be loaded: {error.strerror or error}. {hint}."
        ) from error


def check_log(settings: Settings, data: DataDirectory) -> None:
    """Raise UnsupportedData if a version with another format wrote the journal or the store.

    Raises BadSetting if the store cannot be used with these settings. If the store is unavailable or damaged, the check
    raises nothing. Call this function before anything is written to the journal or the store.
    """
    if settings.store == "sqlite" and not data.has_log():
        return  # nothing to check, and importing the store would take a third of the time until the relay starts

    from relaybook.journal.reader import list_runs
    from relaybook.journal.segment import JournalDamaged, JournalTooNew, OldSegment, sequences
    from relaybook.log.store import open_store
    from relaybook.log.store.errors import StoreMisconfigured, StoreUnavailable, UnsupportedSchema

    try:
        for run in list_runs(data.journal):
            for sequence in sequences(run)[:1]:
                with suppress(JournalDamaged, OSError):  # the recorder reports damage and errors
                    OldSegment(run, sequence).close()
        open_store(data.store, settings).check()
    except (JournalTooNew, UnsupportedSchema) as error:
        raise UnsupportedData(str(error)) from error
    except StoreMisconfigured as error:
        raise BadSetting("store", str(error)) from error
    except StoreUnavailable:
        return  # the recorder retries, or sets a damaged store aside


def _check_no_journal(data: DataDirectory) -> None:
    """Raise BadSetting if the data directory has a journal, because the dashboard alone cannot record it."""
    if any(data.journal.iterdir()):
        raise BadSetting(
            "data",
            f"{data.path} has the journal of a server. relaybook dashboard cannot record this journal. Choose "
            "another directory with --data.",
        )
