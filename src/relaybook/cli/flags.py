"""Gives a command one flag per setting, derived from the settings' declarations."""

import inspect
from collections.abc import Callable, Iterable
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

from cyclopts import Parameter

from relaybook.settings.configuration import FIELDS, FLAGS, TYPES, default_of
from relaybook.settings.typed_values import required_type

_Command = TypeVar("_Command", bound=Callable[..., int])


def takes_settings(names: Iterable[str] = FLAGS) -> Callable[[_Command], _Command]:
    """Replaces the command's ``**flags`` by ``--config`` and a flag for each of ``names``; not given ones stay away."""

    def give(command: _Command) -> _Command:
        own = inspect.signature(command).parameters.values()
        given = [_config_parameter(), *map(_parameter, names)]
        kept = [parameter for parameter in own if parameter.kind is not inspect.Parameter.VAR_KEYWORD]
        annotations = {parameter.name: parameter.annotation for parameter in (*kept, *given)}
        command.__annotations__ = annotations | {"return": int}
        command.__signature__ = inspect.Signature([*kept, *given])  # type: ignore[attr-defined]  # a function has it
        return command

    return give


def _config_parameter() -> inspect.Parameter:
    return _keyword("config", str | None, "A file of settings instead of ./relaybook.toml")


def _parameter(name: str) -> inspect.Parameter:
    kind = required_type(TYPES[name])
    hint: Any = bool | None if kind is bool else list[str] | None if get_origin(kind) is list else str | None
    return _keyword(name, hint, f"{FIELDS[name].metadata['help']}{_choices_and_default(name, kind)}")


def _choices_and_default(name: str, kind: Any) -> str:
    default = default_of(name)
    known = [] if default == "–" else [f"default: {default}"]
    if get_origin(kind) is Literal:
        known.insert(0, " or ".join(get_args(kind)))
    return f" ({'; '.join(known)})" if known else ""


def _keyword(name: str, hint: Any, text: str) -> inspect.Parameter:
    negative = None if hint == bool | None else ()
    annotation = Annotated[hint, Parameter(help=text, show_default=False, negative=negative)]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
