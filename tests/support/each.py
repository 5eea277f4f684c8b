"""Check many cases of one claim in one test."""

from collections.abc import Callable, Collection
from typing import Final, TypeVar

Case = TypeVar("Case")
#: The number of failed cases that are shown with their tracebacks. The names of all failed cases are in the message.
_SHOWN: Final = 5


def check_each(cases: Collection[Case], check: Callable[[Case], object], name: Callable[[Case], str] = str) -> None:
    """Call ``check`` with each case. Raises one error that names all cases for which ``check`` failed."""
    assert cases, "there are no cases"
    errors: dict[str, Exception] = {}
    for case in cases:
        try:
            check(case)
        except Exception as error:
            errors[name(case)] = error
            error.add_note(f"case: {name(case)}")
    if errors:
        message = f"{len(errors)} of {len(cases)} cases failed: {'; '.join(errors)}"
        raise ExceptionGroup(message, list(errors.values())[:_SHOWN])
