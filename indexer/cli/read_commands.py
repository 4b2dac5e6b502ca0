"""Commands that read an index: search, phrases, export."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

import click

from indexer.cli.engine_hints import open_engine_with_hints
from indexer.cli.options import command, engine_option, index_option
from indexer.cli.output import print_json, print_key_values, print_table

if TYPE_CHECKING:
    from indexer.engines.base import Reader
    from indexer.engines.search_types import Selection


@command("search")
@click.argument("query", nargs=-1)
@index_option
@engine_option
@click.option("--size", default=10, show_default=True, type=click.IntRange(1, 1000), help="Number of hits.")
@click.option("--facet", "facets", multiple=True, metavar="NAME=VALUE", help="Only documents with this facet value.")
@click.option("--from", "date_from", metavar="DAY", help="Only documents from this day on.")
@click.option("--to", "date_to", metavar="DAY", help="Only documents up to this day.")
@click.option(
    "--by",
    type=click.Choice(["words", "meaning", "both"]),
    default="words",
    show_default=True,
    help="What the query finds documents by. Meaning needs an index of the embedded engine, of documents without "
    "vectors.",
)
@click.option(
    "--vector",
    metavar="JSON|@FILE|-",
    help="Find the documents nearest to this vector, a JSON list of numbers, too: in place, in a file or on standard "
    "input.",
)
def search_command(
    query: tuple[str, ...],
    index: str,
    engine: str | None,
    size: int,
    facets: tuple[str, ...],
    date_from: str | None,
    date_to: str | None,
    by: str,
    vector: str | None,
    as_json: bool,
) -> int:
    """Search for documents by words, by meaning or by a vector, and show their ids.

    The hits of words and those of meaning or of a vector are merged by their ranks.
    """
    from indexer.engines.search_types import TextQuery, VectorQuery
    from indexer.settings import load_settings

    if not query and vector is None:
        raise click.UsageError("give words to search for, or --vector")
    if by != "words" and (vector is not None or not query):
        raise click.UsageError(f"--by {by} needs words, and no --vector")
    words = " ".join(query)
    nearest: TextQuery | VectorQuery | None = None if by == "words" else TextQuery(words, size)
    if vector is not None:
        nearest = VectorQuery(_read_vector(vector), size)
    with open_engine_with_hints(load_settings(engine=engine)) as opened:
        reader = opened.open_reader(index)
        selection = _make_selection(reader, "" if by == "meaning" else words, facets, date_from, date_to)
        result = reader.search(selection, size=size, vector=nearest)
    rows: list[dict[str, object]] = [
        {
            "id": hit.id,
            "title": hit.document.document.title,
            "date": hit.document.document.date or "",
            "score": hit.score,
            **({} if nearest is None else {"found_by": _name_parts(hit.found_by, vector is None)}),
        }
        for hit in result.hits
    ]
    if as_json:
        print_json({"total": result.total, "hits": rows})
    elif rows:
        values = [[", ".join(one) if isinstance(one, list) else one for one in row.values()] for row in rows]
        print_table(list(rows[0]), values, title=f"{result.total:,} document{'s' * (result.total != 1)}")
    else:
        click.echo("no document matches")
    return 0


def _name_parts(found_by: Collection[str], by_meaning: bool) -> list[str]:
    """Return the parts of a search that found a hit, words first; ``by_meaning``: the vector is that of a text."""
    names = {"words": "words", "vector": "meaning" if by_meaning else "vector"}
    return [name for part, name in names.items() if part in found_by]


def _read_vector(argument: str) -> bytes:
    """Return the vector of ``--vector``; raise UsageError if it cannot be read."""
    import orjson

    from indexer.vectors import BadVector, encode_vector

    try:
        content = _read_argument(argument)
        return encode_vector(orjson.loads(content))
    except OSError as error:
        raise click.UsageError(f"cannot read {argument.removeprefix('@')}: {error.strerror}") from None
    except orjson.JSONDecodeError:
        raise click.UsageError("--vector is not JSON: write [0.1, 0.2], @FILE or -") from None
    except BadVector as error:
        raise click.UsageError(f"--vector: {error}") from None


def _read_argument(argument: str) -> bytes:
    """Return the content of an argument: itself, that of the file after an ``@``, or standard input for ``-``."""
    if argument == "-" or argument.startswith("@"):
        with click.open_file(argument.removeprefix("@"), "rb") as stream:
            return bytes(stream.read())
    return argument.encode("utf-8", "surrogateescape")


def _make_selection(
    reader: Reader, words: str, facets: tuple[str, ...], date_from: str | None, date_to: str | None
) -> Selection:
    from indexer.engines.search_types import Selection
    from indexer.model.query_words import list_lemmas, split_query

    chosen: dict[str, list[str]] = {}
    for facet in facets:
        name, equals, value = facet.partition("=")
        if not equals or not name:
            raise click.UsageError(f"cannot read --facet {facet!r}: write NAME=VALUE")
        chosen.setdefault(name, []).append(value)
    lemmas = list_lemmas(split_query(words, reader.model)) if words else None
    return Selection(lemmas, chosen, _parse_day(date_from), _parse_day(date_to))


def _parse_day(text: str | None) -> str | None:
    from indexer.dates import normalize_date

    if text is None:
        return None
    try:
        return normalize_date(text)
    except ValueError:
        raise click.UsageError(f"cannot read the date {text!r}: write 2011-03-11") from None


_TABLE_TITLES = {  # by order of the phrases
    "documents": "{:,} of {:,} phrases, by number of documents",
    "quality": "{:,} of {:,} phrases, by quality",
    "selection": "{:,} of {:,} salient phrases, in order of selection: each adds the most to those above it",
}


@command("phrases")
@click.argument("words", nargs=-1)
@index_option
@engine_option
@click.option("--document", metavar="ID", help="Show the salient phrases of this document, in order of selection.")
@click.option("--size", default=20, show_default=True, type=click.IntRange(0), help="Number of phrases; 0 for all.")
@click.option(
    "--sort",
    type=click.Choice(["documents", "quality"]),
    default="documents",
    show_default=True,
    help="Order of the phrases of an index.",
)
def phrases_command(
    words: tuple[str, ...], index: str, engine: str | None, document: str | None, size: int, sort: str, as_json: bool
) -> int:
    """Show the phrases of an index (those that contain WORDS, if given), or of one document.

    The phrases of an index are sorted by --sort. The phrases of a document are in order of selection: each is the
    one that adds the most to those above it, so a more salient phrase may follow one that is less similar to them.
    """
    from indexer.settings import load_settings

    with open_engine_with_hints(load_settings(engine=engine)) as opened:
        reader = opened.open_reader(index)
        rows = (
            _list_document_phrases(reader, index, document)
            if document
            else _list_index_phrases(reader, " ".join(words).lower(), sort)
        )
        info = reader.info
        mined = info.settings.get("mined_documents", info.documents)
    total, rows = len(rows), rows[:size] if size else rows
    order = "selection" if document else sort
    if as_json:
        print_json({"index": index, "order": order, "mined_documents": mined, "phrases": rows})
    elif rows:
        print_table(
            list(rows[0]), [list(row.values()) for row in rows], title=_TABLE_TITLES[order].format(len(rows), total)
        )
        if mined != info.documents:
            click.echo(f"mined from {mined:,} of {info.documents:,} documents")
    else:
        click.echo("no phrase matches")
    return 0


def _list_index_phrases(reader: Reader, words: str, sort: str) -> list[dict[str, object]]:
    model = reader.model
    rows = [i for i, name in enumerate(model.phrases) if words in name or words in model.display_forms[i].lower()]
    rank = model.document_frequency if sort == "documents" else model.quality
    rows.sort(key=lambda i: (-float(rank[i]), model.phrases[i]))
    return [
        {
            "phrase": model.phrases[i],
            "display": model.display_forms[i],
            "documents": int(model.document_frequency[i]),
            "quality": round(float(model.quality[i]), 4),
        }
        for i in rows
    ]


def _list_document_phrases(reader: Reader, index: str, id: str) -> list[dict[str, object]]:
    from indexer.errors import UnknownDocument

    document = reader.fetch([id])[0]
    if document is None:
        raise UnknownDocument(index, id)
    return [
        {"phrase": salient.phrase, "salience": round(salient.salience, 4), "count": salient.count}
        for salient in document.salient
    ]


@command("export")
@index_option
@engine_option
@click.option("--output", required=True, type=click.Path(dir_okay=False, path_type=Path), help="Output file.")
@click.option(
    "--what",
    type=click.Choice(["graph", "documents"]),
    default="graph",
    show_default=True,
    help="graph: the whole phrase-document matrix (.npz); documents: JSON lines that can be indexed again.",
)
def export_command(index: str, engine: str | None, output: Path, what: str, as_json: bool) -> int:
    """Write the graph or the documents of an index to a file."""
    from indexer.indexing.export import export_documents, export_graph
    from indexer.progress import progress_bar
    from indexer.settings import load_settings

    with open_engine_with_hints(load_settings(engine=engine)) as opened, progress_bar(as_json) as progress:
        write = export_graph if what == "graph" else export_documents
        counts = write(opened.open_reader(index), output, progress)
    values: dict[str, object] = {"file": str(output), **counts}
    print_json(values) if as_json else print_key_values(values)
    return 0
