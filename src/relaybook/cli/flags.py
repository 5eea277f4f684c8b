"""Add one flag per setting to a command, derived from the declarations of the settings."""

import inspect
from collections.abc import Callable, Iterable
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

from cyclopts import Parameter

from relaybook.settings.configuration import FIELDS, FLAGS, TYPES, default_of
from relaybook.settings.typed_values import required_type

_Command = TypeVar("_Command", bound=Callable[..., int])


def takes_settings(names: Iterable[str] = FLAGS) -> Callable[[_Command], _Command]:
    """Replace ``**flags`` of a command with ``--config`` and a flag for each setting in ``names``.

    If a flag is not used, the command gets `None` for it.
    """

    def decorate(command: _Command) -> _Command:
        parameters = inspect.signature(command).parameters.values()
        added = [_config_parameter(), *map(_parameter, names)]
        others = [parameter for parameter in parameters if parameter.kind is not inspect.Parameter.VAR_KEYWORD]
        annotations = {parameter.name: parameter.annotation for parameter in (*others, *added)}
        command.__annotations__ = annotations | {"return": int}
        command.__signature__ = inspect.Signature([*others, *added])  # type: ignore[attr-defined]  # a function has it
        return command

    return decorate


def _config_parameter() -> inspect.Parameter:
    return _keyword("config", str | None, "Settings file to read instead of ./relaybook.toml")


def _parameter(name: str) -> inspect.Parameter:
    kind = required_type(TYPES[name])
    hint: Any = bool | None if kind is bool else list[str] | None if get_origin(kind) is list else str | None
    return _keyword(name, hint, f"{FIELDS[name].metadata['help']}{_choices_and_default(name, kind)}")


def _choices_and_default(name: str, kind: Any) -> str:
    default = default_of(name)
    notes = [] if default == "–" else [f"default: {default}"]
    if get_origin(kind) is Literal:
        notes.insert(0, " or ".join(get_args(kind)))
    return f" ({'; '.join(notes)})" if notes else ""


def _keyword(name: str, hint: Any, text: str) -> inspect.Parameter:
    negative = None if hint == bool | None else ()
    annotation = Annotated[hint, Parameter(help=text, show_default=False, negative=negative)]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
