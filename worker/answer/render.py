"""The JSON of an answer for people: three columns on a terminal, or a Markdown page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

import click

from indexer.cli.output import print_renderable, replace_control_characters
from worker.answer.comparison import NOT_IN_BOTH

Json = Mapping[str, Any]
COLUMNS = (("only A", "distinct_a"), ("both", "common"), ("only B", "distinct_b"))
IMPLIED_MARK = " ~"
"""Suffix of a phrase that one of the texts lacks."""


def print_columns(answer: Json) -> None:
    """Print three columns: only A, both, only B."""
    from rich.table import Table
    from rich.text import Text

    title_a, title_b = (replace_control_characters(_format_side(answer[side])) for side in ("a", "b"))
    click.echo(f"A  {title_a}\nB  {title_b}\n")
    if answer["no_evidence"]:
        click.echo(replace_control_characters(answer["no_evidence"]["detail"]))
        return
    for title, words in _list_query_words(answer):
        click.echo(f"{title}: {replace_control_characters(', '.join(words))}")
    if "passage" in answer:
        click.echo(replace_control_characters(_format_passage(answer["passage"])))
    table = Table(header_style="bold")
    for title, _ in COLUMNS:
        table.add_column(title, overflow="fold")
    lists = [answer[name] for _, name in COLUMNS]
    for row in zip_longest(*lists):
        table.add_row(*(Text(replace_control_characters(_format_entry(entry))) if entry else "" for entry in row))
    print_renderable(table)
    click.echo(replace_control_characters(answer["summary"]))
    if any(entry["kind"] in NOT_IN_BOTH for entry in answer["common"]):
        click.echo(
            f"{IMPLIED_MARK.strip()} implied: only one side contains it; related documents connect it to the other"
        )
    for note in answer["stats"]["notes"]:
        click.echo(f"note: {replace_control_characters(note)}", err=True)


def render_markdown(answer: Json) -> str:
    """Return the answer as a Markdown page."""
    title_a, title_b = (_escape_markdown(_format_side(answer[side])) for side in ("a", "b"))
    lines = [f"**A** {title_a}  ", f"**B** {title_b}", ""]
    if answer["no_evidence"]:
        return "\n".join([*lines, _escape_markdown(answer["no_evidence"]["detail"])])
    lines += [f"{title}: {_escape_markdown(', '.join(words))}\n" for title, words in _list_query_words(answer)]
    if "passage" in answer:
        lines += [f"{_escape_markdown(_format_passage(answer['passage']))}\n"]
    for title, name in COLUMNS:
        lines += [f"## {title[0].upper()}{title[1:]}", "", *_format_bullets(answer[name]), ""]
    return "\n".join([*lines, _escape_markdown(answer["summary"])])


def _list_query_words(answer: Json) -> list[tuple[str, list[str]]]:
    """Return titles with words of the query: those that the other side contains, and those that it lacks."""
    matched = [word["word"] for word in answer.get("matched", ())]
    return [(title, words) for title, words in (("matched", matched), ("lacks", answer.get("lacks"))) if words]


def _format_passage(passage: Json) -> str:
    """Return the sentence that is nearest to the query, on one line."""
    return f"nearest sentence: “{' '.join(passage['text'].split())}”"


def _format_side(side: Json) -> str:
    ids = ", ".join(side["ids"][:3]) + (f", ... ({len(side['ids'])} in all)" if len(side["ids"]) > 3 else "")
    return f"{side['title'] or side['kind']}  [{ids}]" if ids else side["title"] or side["kind"]


def _format_entry(entry: Json) -> str:
    return str(entry["display"]) + (IMPLIED_MARK if entry["kind"] in NOT_IN_BOTH else "")


def _format_bullets(entries: Sequence[Json]) -> list[str]:
    """Return a line for each entry with its near-duplicates."""
    bullets = []
    for entry in entries:
        others = [other for other in entry.get("also", ()) if not _shows_phrase(entry["display"], other)]
        also = f" (also: {', '.join(others)})" if others else ""
        bullets.append(f"- {_escape_markdown(_format_entry(entry) + also)}")
    return bullets or ["- none"]


def _escape_markdown(text: str) -> str:
    """Return text that Markdown shows unchanged."""
    return "".join(
        "\\" + letter if letter in "\\`*_{}[]<>#|!~" else letter for letter in replace_control_characters(text)
    )


def _shows_phrase(display: str, phrase: str) -> bool:
    """Return whether the display form shows this phrase, judged by the beginnings of its words."""
    words, lemmas = display.replace("-", " ").casefold().split(), phrase.split()
    return len(words) == len(lemmas) and all(word[:3] == lemma[:3] for word, lemma in zip(words, lemmas, strict=True))
