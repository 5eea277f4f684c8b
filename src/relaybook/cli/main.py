"""Declares the commands of ``relaybook`` and turns what goes wrong in them into one line and an exit code.

0 stopped cleanly, 2 bad settings or arguments, 1 anything else. What is heavy (server, store, rich) is imported inside
the command that needs it, so that the others start at once.
"""

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Final

from cyclopts import App, CycloptsError, Parameter
from cyclopts.exceptions import MissingArgumentError, UnknownOptionError, UnusedCliTokensError

from relaybook import __version__
from relaybook.cli.failure import BAD_SETTINGS, FAILED, BadArgument, CommandFailed
from relaybook.cli.flags import takes_settings
from relaybook.settings.configuration import FIELDS, FLAGS, Configuration, flag_of, resolve, variable_of
from relaybook.settings.definitions import BadSetting

FIVE_LINES: Final = f"""\
Relaybook {__version__}: a proxy that relays requests to a language model and logs each under a namespace.
  relaybook demo                  try it on a simulated provider: no key and no network needed
  relaybook serve --upstream URL  relay to a provider (https://api.openai.com/v1 if none is named)
  relaybook tail namespace=ios    the latest requests; relaybook show ID prints one of them
  relaybook --help                all commands; relaybook serve --help all settings"""

PLATFORM: Final = os.name
#: What other programs call what we call otherwise.
_OTHERWISE: Final = {"--port": "--listen HOST:PORT", "--host": "--listen HOST:PORT", "--limit": "-n"}
_WHICH: Final = "show takes the id of a request: relaybook show ID, an id of ours, of the provider or of the client."
#: What the demo sets itself.
_DEMOS_OWN: Final = ("upstream", "upstream_ca_file", "price_as")
#: What reading the log needs to know.
_WHERE: Final = ("data", "dashboard", "dashboard_url")

app = App(
    name="relaybook",
    help="Relays every request to a language-model provider faithfully and logs it under a namespace.",
    version=__version__,
    result_action="return_value",
)


@app.command
@takes_settings()
def serve(**flags: Any) -> int:
    """Relay and log requests until stopped."""
    configuration = _resolve(flags)
    from relaybook.server.program import serve

    return serve(configuration.settings)


@app.command
@takes_settings([name for name in FLAGS if name not in _DEMOS_OWN])
def demo(**flags: Any) -> int:
    """Serve a simulated provider with sample traffic: no key, no network; its log is kept apart, in DATA/demo."""
    configuration = _resolve(flags)
    from relaybook.server.program import demo

    return demo(configuration.settings)


@app.command
def simulate(
    *,
    listen: Annotated[str, Parameter(help="Where it listens, host:port; port 0 takes a free one")] = "127.0.0.1:4199",
    first_token_ms: Annotated[float, Parameter(help="Wait before an answer begins")] = 0.0,
    tokens_per_second: Annotated[float, Parameter(help="Speed of an answer; 0: as fast as it goes")] = 0.0,
    ledger: Annotated[Path | None, Parameter(help="A file that gets one line for each request it saw")] = None,
) -> int:
    """Run only the simulated provider."""
    from relaybook.cli.simulate import simulate

    return simulate(listen, first_token_ms, tokens_per_second, ledger)


@app.command
@takes_settings(_WHERE)
def tail(
    *filters: Annotated[
        str, Parameter(help="name=value, like namespace=staging, from=-15m; or words, 'duration:>2s', -- -model:gpt*")
    ],
    lines: Annotated[int, Parameter(name=("--lines", "-n"), help="How many, 1 to 500; with --follow also 0")] = 20,
    follow: Annotated[bool, Parameter(name=("--follow", "-f"), negative=(), help="Go on with those that come")] = False,
    ids: Annotated[bool, Parameter(negative=(), help="Each request's id before it, for relaybook show")] = False,
    json: Annotated[bool, Parameter(negative=(), help="One JSON object a line")] = False,
    **flags: Any,
) -> int:
    """Print the latest requests of the log, one line each."""
    from relaybook.cli.output import escape, is_text
    from relaybook.cli.tail import tail

    broken = next((one for one in filters if not is_text(one)), None)
    if broken is not None:
        raise BadArgument(f"The filter {escape(broken[:80])} is not UTF-8: write it in UTF-8.")
    if not (0 if follow else 1) <= lines <= 500:
        raise BadArgument(f"--lines is {lines}: it takes a number from 1 to 500, with --follow also 0.")
    return tail(_resolve(flags), filters, lines=lines, follow=follow, with_ids=ids, as_json=json)


@app.command
@takes_settings(_WHERE)
def show(
    any_id: Annotated[str, Parameter(help="Ours (Service-Request-Id), the provider's or the client's")],
    *,
    json: Annotated[bool, Parameter(negative=(), help="As one JSON object")] = False,
    **flags: Any,
) -> int:
    """Print one request: how it went, the messages, the answer."""
    from relaybook.cli.show import show

    return show(_resolve(flags), any_id, as_json=json)


@app.command
@takes_settings()
def check(
    *,
    salvage: Annotated[bool, Parameter(negative=(), help="Copy into the log what a damaged one still holds")] = False,
    requeue: Annotated[bool, Parameter(negative=(), help="Try to log again what the store had refused")] = False,
    **flags: Any,
) -> int:
    """Look at settings, data directory, journal, store and provider."""
    from relaybook.cli.check import check
    from relaybook.cli.repair import repair

    configuration = _resolve(flags)
    if salvage or requeue:
        return repair(configuration.data, salvage=salvage, requeue=requeue)
    return check(configuration)


@app.command
@takes_settings(("data",))
def reload(**flags: Any) -> int:
    """Let the running server become the installed program with the settings of now; no request is lost or cut."""
    from relaybook.cli.reload import reload

    return reload(_resolve(flags))


@app.command
@takes_settings()
def config(**flags: Any) -> int:
    """Show every setting, its value and where it came from."""
    from relaybook.cli.config import show_config

    return show_config(_resolve(flags))


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command line (by default the process's own); the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if PLATFORM == "nt":
        return _end("Relaybook needs Linux or macOS: on Windows, run it inside WSL.", BAD_SETTINGS)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    if not given:
        print(FIVE_LINES)
        return 0
    try:
        return _run(given)
    except BrokenPipeError:
        # Whoever read our output left (`| head`); nothing more can be written, not even when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except KeyboardInterrupt:
        return 0


def _run(given: list[str]) -> int:
    try:
        return int(app(given, exit_on_error=False, print_error=False) or 0)
    except UnknownOptionError as error:
        told = _secret_flag(given) or _demos_own(given) or _excluding(given) or _meant(given)
        return _end(told or str(error), BAD_SETTINGS)
    except MissingArgumentError as error:
        is_show = given[:1] == ["show"] and len(given) == 1
        return _end(_WHICH if is_show else _excluding(given) or str(error), BAD_SETTINGS)
    except UnusedCliTokensError as error:
        return _end(f"Nothing here takes {' '.join(error.unused_tokens or [])!r}.", BAD_SETTINGS)
    except CycloptsError as error:
        return _end(_excluding(given) or str(error), BAD_SETTINGS)
    except (BadSetting, BadArgument) as error:
        return _end(str(error), BAD_SETTINGS)
    except (CommandFailed, OSError) as error:
        if isinstance(error, BrokenPipeError):
            raise
        return _end(str(error), FAILED)


def _demos_own(given: Sequence[str]) -> str | None:
    own = [flag_of(name) for name in _DEMOS_OWN]
    flag = next((name for argument in given if (name := argument.partition("=")[0]) in own), None)
    if given[0] != "demo" or flag is None:
        return None
    return f"demo takes no {flag}: it runs a simulated provider of its own. relaybook serve {flag} takes yours."


def _meant(given: Sequence[str]) -> str | None:
    from relaybook.log.query.filters import NAMES

    names = [argument.partition("=")[0] for argument in given]
    unknown = next((name for name in names if name in _OTHERWISE), None)
    if unknown:
        return f"Unknown option: {unknown}. It is {_OTHERWISE[unknown]} here."
    field = next((name for name in names if name.startswith("--") and name[2:].replace("-", "_") in NAMES), None)
    if field is None or given[0] != "tail":
        return None
    return f"Unknown option: {field}. It is a filter: write {field[2:].replace('-', '_')}=VALUE, without the dashes."


def _resolve(flags: dict[str, Any]) -> Configuration:
    config = flags.pop("config", None)
    given = {
        name: ",".join(value) if isinstance(value, list) else value
        for name, value in flags.items()
        if value is not None
    }
    configuration = resolve(given, os.environ, Path.cwd(), config)
    for warning in configuration.warnings:
        print(f"relaybook: {warning}", file=sys.stderr)
    return configuration


def _secret_flag(given: list[str]) -> str | None:
    """What to say when a secret was given as a flag, which it cannot be."""
    secrets = {flag_of(name): name for name in FIELDS if name not in FLAGS}
    name = next((secrets[word.partition("=")[0]] for word in given if word.partition("=")[0] in secrets), None)
    if name is None:
        return None
    return (
        f"{flag_of(name)} is no flag, for others could read it: set {variable_of(name)}, or {name} in relaybook.toml."
    )


def _excluding(given: list[str]) -> str | None:
    """What to say when ``tail`` was given a filter that excludes, which looks like an option."""
    word = next((word for word in given[1:] if re.fullmatch(r"-[A-Za-z][\w.]+(:.*)?", word)), None)
    if word is None or given[0] != "tail":
        return None
    return f"To leave out what is {word[1:]}, write it after --: relaybook tail -- {word}"


def _end(message: str, code: int) -> int:
    print(f"relaybook: {' '.join(message.split())}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
