"""Progress of long work: a bar on stderr for people, nothing for programs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[str, int, int], None]
"""Called by long work with the stage, how much of it is done and its total (0 if it is not known)."""


def no_progress(stage: str, done: int, total: int) -> None:
    """Report nothing."""


@contextmanager
def progress_bar(is_quiet: bool = False) -> Iterator[Progress]:
    """Yield a Progress that draws one bar a stage on stderr; it reports nothing unless stderr is a terminal."""
    if is_quiet or not sys.stderr.isatty():
        yield no_progress
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as RichProgress

    columns = (TextColumn("{task.description:10}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    stages: dict[str, TaskID] = {}
    with RichProgress(*columns, console=Console(stderr=True)) as bars:

        def update_bar(stage: str, done: int, total: int) -> None:
            if stage not in stages:
                stages[stage] = bars.add_task(stage, total=total or None)
            bars.update(stages[stage], completed=done, total=total or None)

        yield update_bar
