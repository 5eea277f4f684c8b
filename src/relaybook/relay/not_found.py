"""Explain why no route serves a path, so that the reader can correct the base URL of the client."""

from relaybook.relay.context import RelayContext
from relaybook.settings.presets import BY_NAME, PRESETS, Preset
from relaybook.settings.routes import root_url

_MAX_SHOWN = 80
#: Number of base URLs in a message.
_MAX_ROUTES = 6


def not_found_message(relay: RelayContext, target: bytes) -> str:
    """Return the message for a request target that no route has. ``target`` has no namespace before the mount."""
    path = target.partition(b"?")[0].decode("latin-1")
    shown = path[:_MAX_SHOWN]
    preset = _preset_of(path)
    first = path.split("/")[1] if path.startswith("/") else ""
    if preset is not None:
        return (
            f"{shown} is a path of {preset.label}, which this relay does not serve here. {_advice(relay, preset, '')}"
        )
    if first in BY_NAME and first != "openai":  # /openai is more often a wrong base URL than the name of a preset
        return f"{shown} is not a path of the relay. {_advice(relay, BY_NAME[first], BY_NAME[first].base_path)}"
    if path.startswith(("/api", "/requests")):
        return f"{shown} is not a path of the relay. The log is at {relay.dashboard_url}."
    prefix, v1, _ = path.partition("/v1/")
    if path.startswith("/openai/v1/"):
        return (
            f"The path begins with /openai, but the relay expects /v1. Groq's SDKs send such paths: "
            f"{_advice(relay, BY_NAME['groq'], '')} With other clients, remove /openai from the base URL, or start the "
            "relay with --routes openai."
        )
    if v1:
        return (
            f"The path begins with {prefix[:_MAX_SHOWN]}, but the relay expects /v1. Remove {prefix[:_MAX_SHOWN]} from "
            f"the base URL, or let the reverse proxy remove {prefix[:_MAX_SHOWN]}{_other_routes(relay) or '.'}"
        )
    return (
        f"The path is not a path of the relay. Your base URL probably lacks /v1. Use {relay.base_url}"
        f"{_other_routes(relay)}"
    )


def _preset_of(path: str) -> Preset | None:
    """Return the preset whose clients alone send paths like this one."""
    return next(
        (
            preset
            for preset in PRESETS
            for known in preset.paths
            if path == known or (known.endswith("/") and path.startswith(known))
        ),
        None,
    )


def _advice(relay: RelayContext, preset: Preset, base_path: str) -> str:
    """Return what to do to use a provider. ``base_path`` is what the client's base URL has after the mount."""
    mount = next((route.mount for route in relay.resolved if route.preset == preset.name), None)
    if mount is not None:
        return f"Use the base URL {root_url(relay.base_url)}{mount}{base_path}."
    start = f"--routes {preset.name}" if preset.upstream else f"a table [routes.{preset.name}] in relaybook.toml"
    return f"Start the relay with {start}, and use the base URL {root_url(relay.base_url)}/{preset.name}{base_path}."


def _other_routes(relay: RelayContext) -> str:
    """Return the base URLs of all routes if there are several, as a sentence."""
    if len(relay.resolved) < 2:
        return ""
    urls = [route.base_url(relay.base_url) for route in relay.resolved]
    more = ", …" if len(urls) > _MAX_ROUTES else ""
    return f". All base URLs of this relay: {', '.join(urls[:_MAX_ROUTES])}{more}"
