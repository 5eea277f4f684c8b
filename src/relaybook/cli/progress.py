"""Show the progress of long work in the terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

#: Called with the finished amount and the total, which is `None` if unknown.
OnProgress = Callable[[int, int | None], object]


@contextmanager
def progress_bar(*, is_bytes: bool = False, is_shown: bool = True) -> Iterator[OnProgress]:
    """If standard error is a terminal, show a bar with rate and remaining time while the block runs.

    The block calls the yielded function with the finished amount and the total. With ``is_bytes``, both are in bytes,
    otherwise in requests.
    """
    if not (is_shown and sys.stderr.isatty()):
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        Task,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text("" if task.speed is None else f"{task.speed:,.0f} requests/s")

    amounts = (DownloadColumn(), TransferSpeedColumn()) if is_bytes else (MofNCompleteColumn(), Rate())
    with Progress(BarColumn(), *amounts, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
