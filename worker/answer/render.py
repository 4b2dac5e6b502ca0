"""A comparison for people: three columns on a terminal, or a Markdown page. Both take the JSON of an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from indexer.cli.options import clean, show

Json = Mapping[str, Any]
COLUMNS = (("only A", "distinct_a"), ("both", "common"), ("only B", "distinct_b"))
IMPLIED = " ~"
"""After a phrase that one of the texts lacks."""


def print_columns(answer: Json) -> None:
    """Three columns: only A, both, only B."""
    from rich.table import Table
    from rich.text import Text

    click.echo(f"A  {clean(_name(answer['a']))}\nB  {clean(_name(answer['b']))}\n")
    if answer["no_evidence"]:
        click.echo(clean(answer["no_evidence"]["detail"]))
        return
    table = Table(header_style="bold")
    for title, _ in COLUMNS:
        table.add_column(title, overflow="fold")
    lists = [answer[name] for _, name in COLUMNS]
    for row in range(max(map(len, lists))):
        table.add_row(*(Text(clean(_display(entries[row]))) if row < len(entries) else "" for entries in lists))
    show(table)
    click.echo(clean(answer["summary"]))
    if any(entry["kind"] == "implied" for entry in answer["common"]):
        click.echo(f"{IMPLIED.strip()} one of the two lacks these words; documents between them speak for it")
    for note in answer["stats"]["notes"]:
        click.echo(f"note: {clean(note)}", err=True)


def markdown(answer: Json) -> str:
    """The same as a Markdown page."""
    lines = [f"**A** {_escape(_name(answer['a']))}  ", f"**B** {_escape(_name(answer['b']))}", ""]
    if answer["no_evidence"]:
        return "\n".join([*lines, _escape(answer["no_evidence"]["detail"])])
    for title, name in COLUMNS:
        lines += [f"## {title[0].upper()}{title[1:]}", "", *_bullets(answer[name]), ""]
    return "\n".join([*lines, _escape(answer["summary"])])


def _name(side: Json) -> str:
    ids = ", ".join(side["ids"][:3]) + (f", ... ({len(side['ids'])} in all)" if len(side["ids"]) > 3 else "")
    return f"{side['title'] or side['kind']}  [{ids}]" if ids else side["title"] or side["kind"]


def _display(entry: Json) -> str:
    return str(entry["display"]) + (IMPLIED if entry["kind"] == "implied" else "")


def _bullets(entries: Sequence[Json]) -> list[str]:
    """With the near-duplicates that an entry stands for."""
    more = [[other for other in entry.get("also", ()) if not _told(entry["display"], other)] for entry in entries]
    also = [f" (also: {', '.join(others)})" if others else "" for others in more]
    return [f"- {_escape(_display(entry) + more)}" for entry, more in zip(entries, also, strict=True)] or ["- none"]


def _escape(text: str) -> str:
    """Text that Markdown shows as it is."""
    return "".join("\\" + letter if letter in "\\`*_{}[]<>#|!~" else letter for letter in clean(text))


def _told(display: str, other: str) -> bool:
    """Whether a phrase is what is displayed, by its lemmas."""
    words, lemmas = display.replace("-", " ").casefold().split(), other.split()
    return len(words) == len(lemmas) and all(word[:3] == lemma[:3] for word, lemma in zip(words, lemmas, strict=True))
