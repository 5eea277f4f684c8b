"""Declare the commands of ``relaybook`` and turn their errors into one line and an exit code.

The exit code is 0 for success or a clean stop, 2 for bad settings or arguments, 130 for Ctrl+C, and 1 for any other
error. Modules that import slowly (server, store, rich) are imported by the commands that need them, so that all other
commands start fast.
"""

import os
import re
import signal
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from cyclopts import App, CycloptsError, Parameter
from cyclopts.exceptions import MissingArgumentError, UnknownCommandError, UnknownOptionError, UnusedCliTokensError

from relaybook import __version__, program
from relaybook.cli.failure import FAILED, INTERRUPTED, BadArgument, CommandFailed
from relaybook.cli.flags import takes_settings
from relaybook.cli.output import escape
from relaybook.settings import BAD_SETTINGS, BadSetting
from relaybook.settings.configuration import FIELDS, FLAGS, Configuration, flag_of, resolve, variable_of
from relaybook.settings.definitions import Settings, is_utf8
from relaybook.settings.typed_values import format_value
from relaybook.system.process import disable_core_dumps, open_standard_streams

USAGE: Final = f"""\
Relaybook {__version__} is a proxy that relays and logs LLM requests.
  relaybook demo                  try Relaybook with a simulated upstream, no API key and no network
  relaybook serve --upstream URL  relay to an upstream (default: https://api.openai.com/v1)
  relaybook tail namespace=ios    print the latest requests; relaybook show ID prints one request
  relaybook --help                list the commands; relaybook config prints all settings"""

PLATFORM: Final = os.name
#: Options that other programs have, and their equivalents in Relaybook.
_EQUIVALENTS: Final = {"--port": "--listen HOST:PORT", "--host": "--listen HOST:PORT", "--limit": "-n N"}
#: The error message for a missing argument, by its name.
_MISSING: Final = {
    "--any-id": "The id of the request is missing. Write relaybook show ID. To list ids, run relaybook tail --ids.",
    "--first": "The ids of the requests are missing. Write relaybook diff ID ID, or relaybook diff ID --last-good.",
    "--directory": "The directory is missing. Write relaybook backup DIRECTORY.",
}
#: The file that the argument "-" stands for, by command. cyclopts would parse "-" as an option.
_STREAMS: Final = {"import": "/dev/stdin", "export": "/dev/stdout"}
#: Settings that the demo sets itself.
_DEMO_SETTINGS: Final = (
    *("upstream", "routes", "upstream_ca_file", "upstream_cert", "upstream_key", "upstream_proxy"),
    *("relay_url", "price_as"),
)
#: Settings that select the log to read.
_LOG_SETTINGS: Final = ("data", "dashboard", "dashboard_url")
#: Settings of the command ``dashboard``.
_DASHBOARD_SETTINGS: Final = (
    *("store", "relay_url", "data", "dashboard", "dashboard_url", "trusted_proxies"),
    *("keep_bodies_days", "keep_days", "keep_aggregates_days", "default_namespace", "header_prefix", "upstream"),
)
#: Commands whose arguments are filters.
_FILTERED: Final = ("tail", "export", "replay", "delete", "reread")

app = App(
    name="relaybook",
    help="Relay and log LLM requests.",
    version=f"{__version__} ({program()})",
    result_action="return_value",
)


@app.command
@takes_settings()
def serve(**flags: Any) -> int:
    """Relay and log requests until stopped."""
    settings = _server_settings(flags)
    from relaybook.server.program import serve

    return serve(settings)


@app.command
@takes_settings(_DASHBOARD_SETTINGS)
def dashboard(**flags: Any) -> int:
    """Serve only the dashboard of a log in ClickHouse. Servers on other machines write this log."""
    # This command does not use ``listen``. Set ``listen`` to a value that differs from ``dashboard``, because equal
    # values are rejected.
    settings = _server_settings({**flags, "listen": "127.0.0.1:0"})
    from relaybook.server.program import dashboard

    return dashboard(settings)


@app.command
@takes_settings([name for name in FLAGS if name not in _DEMO_SETTINGS])
def demo(**flags: Any) -> int:
    """Run with a simulated upstream and sample traffic. The demo needs no API key or network, and logs to DATA/demo."""
    configuration = _resolve(flags, for_server=True)
    from relaybook.server.program import demo

    return demo(configuration.settings)


@app.command
def simulate(
    *,
    listen: Annotated[
        str, Parameter(help="Address to listen on, host:port. Port 0 picks a free port")
    ] = "127.0.0.1:4199",
    first_token_ms: Annotated[float, Parameter(help="Time to the first token, in milliseconds")] = 0.0,
    tokens_per_second: Annotated[
        float, Parameter(help="Speed of the response, in tokens per second. 0 means unlimited")
    ] = 0.0,
    ledger: Annotated[
        Path | None,
        Parameter(help="Append one JSON line to this file for each event, such as the end of a response"),
    ] = None,
) -> int:
    """Run only the simulated upstream."""
    from relaybook.cli.simulate import simulate

    return simulate(listen, first_token_ms, tokens_per_second, ledger)


@app.command
@takes_settings(_LOG_SETTINGS)
def tail(
    *filters: Annotated[
        str, Parameter(help="Filters, such as namespace=staging, from=-15m, refund, 'duration:>2s', -- -model:gpt*")
    ],
    lines: Annotated[
        int,
        Parameter(name=("--lines", "-n"), help="Number of requests, from 1 to 500. With --follow, 0 is also allowed"),
    ] = 20,
    follow: Annotated[
        bool, Parameter(name=("--follow", "-f"), negative=(), help="Continue with new requests as they appear")
    ] = False,
    sort: Annotated[
        str | None,
        Parameter(
            help="Print the requests with the highest values of this field, highest first. The field is cost_usd, "
            "duration_ms, first_token_ms, tokens_per_second, input_tokens, output_tokens, cached_tokens, cached_share, "
            "reasoning_tokens, request_bytes, response_bytes, relay_ms, chunks or started_at"
        ),
    ] = None,
    order: Annotated[str, Parameter(help="With --sort: desc for the highest values, asc for the lowest")] = "desc",
    ids: Annotated[bool, Parameter(negative=(), help="Print only ids, one per line")] = False,
    json: Annotated[bool, Parameter(negative=(), help="Print one JSON object per line")] = False,
    **flags: Any,
) -> int:
    """Print the latest requests, one line each, oldest first."""
    from relaybook.cli.tail import tail

    _reject_invalid_text(filters)
    if not (0 if follow else 1) <= lines <= 500:
        raise BadArgument(f"--lines is {lines}: expected a number from 1 to 500, or 0 with --follow.")
    if sort is not None and follow:
        raise BadArgument("--sort cannot be combined with --follow. Remove one of them.")
    if sort is None and order != "desc":
        raise BadArgument("--order requires --sort. Add --sort, or remove --order.")
    if ids and json:
        raise BadArgument("--ids cannot be combined with --json. Remove one of them.")
    return tail(
        _resolve(flags), filters, lines=lines, follow=follow, sort=sort, order=order, only_ids=ids, as_json=json
    )


@app.command
@takes_settings(_LOG_SETTINGS)
def export(
    *filters: Annotated[str, Parameter(help="Filters, as for tail. Default: all requests")],
    format: Annotated[  # noqa: A002 - the name of the flag
        str | None, Parameter(help="File format: jsonl, csv, chat or parquet. Default: the extension of FILE, or jsonl")
    ] = None,
    output: Annotated[
        Path | None, Parameter(name=("--output", "-o"), help="File to write, or - for standard output (the default)")
    ] = None,
    bodies: Annotated[
        bool, Parameter(negative=(), help="Include everything that is stored, such as headers, prompts and responses")
    ] = False,
    **flags: Any,
) -> int:
    """Write requests to a file, in the order in which they were recorded."""
    from relaybook.cli.export import export

    _reject_invalid_text(filters)
    output = None if output in (Path("-"), Path(_STREAMS["export"])) else output
    return export(_resolve(flags), filters, format_name=format, output=output, bodies=bodies)


@app.command(name="import")
@takes_settings(("data", "store"))
def import_requests(
    *files: Annotated[
        str,
        Parameter(
            help="Files in the format jsonl, plain or compressed (.gz, .zst). Use - for standard input. Without files, "
            "the SQLite log in the data directory is copied to --store. The SQLite files are then moved to the "
            "directory store.moved-TIME"
        ),
    ],
    **flags: Any,
) -> int:
    """Add the requests of exported files to the log."""
    configuration = _resolve_for_store(flags)
    if files:
        from relaybook.cli.import_requests import import_files

        return import_files(configuration, list(files))
    if configuration.settings.store == "sqlite":
        raise BadArgument(
            "No files were given. Run relaybook import FILE... Each FILE must come from relaybook export --bodies."
        )
    from relaybook.cli.move_log import move_log

    return move_log(configuration)


@app.command
@takes_settings(_LOG_SETTINGS)
def show(
    any_id: Annotated[
        str,
        Parameter(
            help="Id of the request: the Relaybook id (Service-Request-Id), the provider's id or the client's id. With "
            "--thread also session=ID, namespace=NAME or property.NAME=VALUE"
        ),
    ],
    *,
    thread: Annotated[
        bool,
        Parameter(
            negative=(), help="Print the conversation of the request, or a thread: its turns, tool calls and totals"
        ),
    ] = False,
    cache: Annotated[
        bool,
        Parameter(
            negative=(),
            help="Print how much of the prompt was read from the provider's cache, and where it differs from the "
            "prompt before",
        ),
    ] = False,
    json: Annotated[bool, Parameter(negative=(), help="Print one JSON object")] = False,
    **flags: Any,
) -> int:
    """Print one request: its result, messages and response. With --thread, print a conversation or a thread."""
    if thread:
        from relaybook.cli.show_thread import show_thread

        return show_thread(_resolve(flags), any_id, as_json=json)
    from relaybook.cli.show import show

    return show(_resolve(flags), any_id, as_json=json, only_cache=cache)


@app.command
@takes_settings(_LOG_SETTINGS)
def replay(
    *filters: Annotated[str, Parameter(help="Filters, as for tail. Default: all requests")],
    listen: Annotated[
        str, Parameter(help="Address to listen on, host:port. Port 0 picks a free port")
    ] = "127.0.0.1:4110",
    speed: Annotated[
        float, Parameter(help="1 keeps the logged pauses, 2 halves them, and 0 sends everything at once")
    ] = 1.0,
    max_wait: Annotated[
        float, Parameter(help="Longest pause in seconds, also before a response and before a connection breaks")
    ] = 600.0,
    id: Annotated[  # noqa: A002 - the name of the flag
        str | None, Parameter(help="Answer every request with the response of the request that has this id")
    ] = None,
    ignore: Annotated[
        list[str] | None,
        Parameter(
            negative=(),
            help="Field of the JSON body that may differ from the logged request, such as metadata.run_id. Can be "
            "repeated",
        ),
    ] = None,
    **flags: Any,
) -> int:
    """Serve the log as an upstream: equal requests get the logged responses again, with their pauses and breaks."""
    from relaybook.cli.replay import replay

    _reject_invalid_text(filters)
    return replay(
        _resolve(flags),
        filters,
        address=listen,
        speed=speed,
        max_wait=max_wait,
        only_id=id,
        ignore=ignore or [],
    )


@app.command
@takes_settings(_LOG_SETTINGS)
def diff(
    first: Annotated[str, Parameter(help="Id of a request, as for show")],
    second: Annotated[str | None, Parameter(help="Id of another request")] = None,
    *,
    last_good: Annotated[
        bool,
        Parameter(
            negative=(), help="Compare with the last successful request that has the same prompt, instead of SECOND"
        ),
    ] = False,
    json: Annotated[bool, Parameter(negative=(), help="Print the differences as one JSON object")] = False,
    **flags: Any,
) -> int:
    """Print what differs between two requests."""
    from relaybook.cli.diff import diff

    if (second is None) != last_good:
        raise BadArgument("Write the ids of two requests, relaybook diff ID ID, or relaybook diff ID --last-good.")
    return diff(_resolve(flags), first, second, with_last_good=last_good, as_json=json)


@app.command
@takes_settings(_LOG_SETTINGS)
def delete(
    *filters: Annotated[str, Parameter(help="Filters, as for tail. At least one is required")],
    yes: Annotated[bool, Parameter(name=("--yes", "-y"), negative=(), help="Do not ask for confirmation")] = False,
    wait: Annotated[
        bool,
        Parameter(
            negative=(), help="Wait until no file contains bytes of the deleted requests, usually within ten minutes"
        ),
    ] = False,
    **flags: Any,
) -> int:
    """Delete requests permanently, after showing how many requests match."""
    from relaybook.cli.delete import delete

    _reject_invalid_text(filters)
    return delete(_resolve(flags), filters, is_confirmed=yes, waits=wait)


@app.command
@takes_settings(_LOG_SETTINGS)
def reread(
    *filters: Annotated[str, Parameter(help="Filters, as for tail. Without filters, all requests are read again")],
    yes: Annotated[bool, Parameter(name=("--yes", "-y"), negative=(), help="Do not ask for confirmation")] = False,
    **flags: Any,
) -> int:
    """Read stored bodies again with the formats and prices of this version, and replace the results in the log."""
    from relaybook.cli.reread import reread

    _reject_invalid_text(filters)
    return reread(_resolve(flags), filters, is_confirmed=yes)


@app.command
@takes_settings()
def check(
    *,
    salvage: Annotated[
        bool, Parameter(negative=(), help="Copy all readable records from damaged stores into the log")
    ] = False,
    requeue: Annotated[
        bool, Parameter(negative=(), help="Try again to store the records that are in the quarantine")
    ] = False,
    bodies: Annotated[
        bool, Parameter(negative=(), help="Read every stored body, instead of checking the ports and the upstream")
    ] = False,
    **flags: Any,
) -> int:
    """Check settings, data directory, journal, store, ports and upstream, or repair the log."""
    from relaybook.cli.check import check
    from relaybook.cli.repair import repair

    configuration = _resolve_for_store(flags, for_server=True)
    if salvage or requeue:
        return repair(configuration.data, configuration.settings, salvage=salvage, requeue=requeue)
    return check(configuration, bodies=bodies)


@app.command
@takes_settings(("data",))
def backup(
    directory: Annotated[
        Path,
        Parameter(help="Directory for the copy. Bodies of an earlier copy in this directory are not copied again"),
    ],
    **flags: Any,
) -> int:
    """Copy the log to a directory. The server may keep running. relaybook tail --data DIRECTORY reads the copy."""
    from relaybook.cli.backup import backup

    return backup(_resolve(flags), directory)


@app.command
@takes_settings(("data",))
def reload(**flags: Any) -> int:
    """Make the running server use the installed version and the current settings, without dropping requests."""
    from relaybook.cli.reload import reload

    return reload(_resolve(flags))


@app.command
@takes_settings([name for name in FLAGS if name not in ("listen", "dashboard", "dashboard_url", "relay_url")])
def drain(
    *,
    lost: Annotated[
        str | None,
        Parameter(
            help="Name of a server whose data directory is lost. Its journal is declared lost, and deletions in "
            "ClickHouse no longer wait for this journal"
        ),
    ] = None,
    **flags: Any,
) -> int:
    """Record the rest of the journal of a stopped or killed server. No requests are relayed."""
    from relaybook.cli.drain import drain, forget

    configuration = _resolve_for_store(flags)
    return drain(configuration) if lost is None else forget(configuration, lost)


@app.command
@takes_settings()
def config(**flags: Any) -> int:
    """Print every setting, its value and its source."""
    configuration = _resolve(flags, for_server=True)
    rows = [(name, _shown_value(configuration, name), configuration.sources[name]) for name in FIELDS]
    name_width, value_width = (max(len(row[column]) for row in rows) for column in (0, 1))
    for name, value, source in rows:
        print(f"{name.ljust(name_width)}  {value.ljust(value_width)}  {escape(source)}")
    return 0


@app.command
def completion(shell: Annotated[Literal["bash", "zsh", "fish"], Parameter(help="Your shell")]) -> int:
    """Print a script that lets your shell complete commands and options."""
    from cyclopts.completion import bash, fish, zsh

    generators = {"bash": bash, "zsh": zsh, "fish": fish}
    print(generators[shell].generate_completion_script(app, "relaybook"), end="")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line, by default the arguments of the process. Returns the exit code."""
    argv = list(sys.argv[1:] if arguments is None else arguments)
    if PLATFORM == "nt":
        return _end("Relaybook does not run on Windows. Use WSL.", BAD_SETTINGS)
    open_standard_streams()
    disable_core_dumps()
    if os.getpid() == 1:
        # In a container, the kernel drops a SIGTERM for process 1 that has no handler. The server sets its own handler.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        if argv:
            return _run(argv)
        print(USAGE)
        return 0
    except BrokenPipeError:
        # The program that read the output, for example `head`, has exited. Replace stdout, so that Python does not fail
        # when it flushes stdout at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except OSError as error:
        return _end(str(error), FAILED)
    except KeyboardInterrupt:
        return INTERRUPTED


def _run(argv: list[str]) -> int:
    if argv[0] in _STREAMS:
        # Replace "-" with a file: any argument of ``import``, but only the value of ``--output`` of ``export``.
        argv = [
            _STREAMS[argv[0]] if word == "-" and (argv[0] == "import" or before in ("-o", "--output")) else word
            for before, word in pairwise(["", *argv])
        ]
    try:
        return int(app(argv, exit_on_error=False, print_error=False) or 0)
    except UnknownCommandError as error:
        # cyclopts lists only the first commands.
        reason = str(error).partition(" Available commands:")[0]
        return _end(f"{reason} To list the commands, run relaybook --help.", BAD_SETTINGS)
    except UnknownOptionError as error:
        message = _missing_flag(argv) or _demo_setting(argv) or _excluding_filter(argv) or _equivalent(argv)
        return _end(message or str(error), BAD_SETTINGS)
    except MissingArgumentError as error:
        name = error.argument.name if error.argument else ""
        return _end(_MISSING.get(name) or _excluding_filter(argv) or str(error), BAD_SETTINGS)
    except UnusedCliTokensError as error:
        unexpected = " ".join(error.unused_tokens or [])
        return _end(f"Unexpected argument: {unexpected!r}. See relaybook {argv[0]} --help.", BAD_SETTINGS)
    except CycloptsError as error:
        return _end(_excluding_filter(argv) or str(error), BAD_SETTINGS)
    except (BadSetting, BadArgument) as error:
        return _end(str(error), BAD_SETTINGS)
    except CommandFailed as error:
        return _end(str(error), FAILED)


def _demo_setting(argv: Sequence[str]) -> str | None:
    own = [flag_of(name) for name in _DEMO_SETTINGS]
    flag = next((name for argument in argv if (name := argument.partition("=")[0]) in own), None)
    if argv[0] != "demo" or flag is None:
        return None
    return f"demo does not take {flag}, because the demo runs a simulated upstream. Use relaybook serve {flag}."


def _equivalent(argv: Sequence[str]) -> str | None:
    from relaybook.log.query.filters import NAMES

    names = [argument.partition("=")[0] for argument in argv]
    unknown = next((name for name in names if name in _EQUIVALENTS), None)
    if unknown:
        return f"Unknown option: {unknown}. Use {_EQUIVALENTS[unknown]}."
    field = next((name for name in names if name.startswith("--") and name[2:].replace("-", "_") in NAMES), None)
    if field is None or argv[0] not in _FILTERED:
        return None
    return f"Unknown option: {field}. Write the filter without dashes: {field[2:].replace('-', '_')}=VALUE"


def _reject_invalid_text(filters: Sequence[str]) -> None:
    invalid = next((each for each in filters if not is_utf8(each)), None)
    if invalid is not None:
        raise BadArgument(f"The filter {escape(invalid[:80])} is not valid UTF-8. Set the terminal to UTF-8.")


def _resolve(flags: dict[str, Any], *, for_server: bool = False) -> Configuration:
    config = flags.pop("config", None)
    used = {
        name: ",".join(value) if isinstance(value, list) else value
        for name, value in flags.items()
        if value is not None
    }
    configuration = resolve(used, os.environ, Path.cwd(), config)
    for warning in [*configuration.warnings, *(configuration.server_warnings if for_server else [])]:
        print(f"relaybook: {warning}", file=sys.stderr)
    return configuration


def _resolve_for_store(flags: dict[str, Any], *, for_server: bool = False) -> Configuration:
    from relaybook.cli.source import check_store_password

    configuration = _resolve(flags, for_server=for_server)
    check_store_password(configuration)
    return configuration


def _server_settings(flags: dict[str, Any]) -> Settings:
    """Return the settings of the server.

    After a reload, these are the settings that the previous program handed over.
    """
    from relaybook.server.reload import taken_over

    handed = taken_over()
    return handed.settings if handed and handed.settings else _resolve(flags, for_server=True).settings


def _shown_value(configuration: Configuration, name: str) -> str:
    """Format the value of a setting. For a secret, return "set, not shown"."""
    value = getattr(configuration.settings, name)
    return "set, not shown" if value and FIELDS[name].metadata["secret"] else escape(format_value(value))


def _missing_flag(argv: list[str]) -> str | None:
    """Return the error message if a setting that has no flag was passed as a flag."""
    without_flag = {flag_of(name): name for name in FIELDS if name not in FLAGS}
    words = (word.partition("=")[0] for word in argv)
    name = next((without_flag[word] for word in words if word in without_flag), None)
    if name is None:
        return None
    if not FIELDS[name].metadata["secret"]:
        return f"There is no flag {flag_of(name)}. Set {name} in relaybook.toml."
    return (
        f"There is no flag {flag_of(name)}, because other users of this machine could read the value in the list of "
        f"processes. Set {variable_of(name)}, or {name} in relaybook.toml."
    )


def _excluding_filter(argv: list[str]) -> str | None:
    """Return the error message if an excluding filter such as ``-model:gpt*`` was parsed as an option."""
    word = next((word for word in argv[1:] if re.fullmatch(r"-[A-Za-z][\w.]+(:.*)?", word)), None)
    if word is None or argv[0] not in _FILTERED:
        return None
    return f"To exclude {word[1:]}, write the filter after --: relaybook {argv[0]} -- {word}"


def _end(message: str, code: int) -> int:
    print(f"relaybook: {escape(' '.join(message.split()))}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
