"""What tantivy itself holds: tokens, facets, dates, rights and the stored document."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import orjson
from tantivy import DocAddress, Document, Index, Schema, SchemaBuilder, Searcher

from indexer import date_ranges
from indexer.documents import AnalysedDocument
from indexer.engines.document_codec import from_json, to_json
from indexer.engines.embedded.query_builder import any_of
from indexer.identifiers import facet_keys


def make_schema() -> Schema:
    schema = SchemaBuilder()
    schema.add_text_field("id", stored=True, fast=True, tokenizer_name="raw", index_option="basic")
    schema.add_text_field("tokens", tokenizer_name="whitespace", index_option="freq")
    schema.add_text_field("facets", tokenizer_name="raw", index_option="basic")
    schema.add_text_field("acl", tokenizer_name="raw", index_option="basic")
    schema.add_boolean_field("open", indexed=True)
    schema.add_integer_field("date", indexed=True, fast=True)
    schema.add_boolean_field("added", indexed=True)
    schema.add_bytes_field("source", stored=True)
    return schema.build()


def create_index(folder: Path) -> Index:
    folder.mkdir()
    return Index(make_schema(), path=str(folder))


def open_index(folder: Path) -> Index:
    """Raises ValueError when tantivy cannot read it. Readers reload when told to, not by themselves."""
    index = Index.open(str(folder))
    index.config_reader("manual")
    return index


def opstamp(folder: Path) -> int:
    """Which commit the index stands at."""
    return int(orjson.loads((folder / "meta.json").read_bytes())["opstamp"])


def to_document(analysed: AnalysedDocument, *, added: bool) -> tuple[AnalysedDocument, Document]:
    """The document as it will be read back, and what tantivy takes in for it."""
    analysed, source = to_json(analysed)
    document = analysed.document
    out = Document()
    out.add_text("id", document.id)
    out.add_text("tokens", analysed.tokens)
    for key in facet_keys(document.facets):
        out.add_text("facets", key)
    for group in document.acl:
        out.add_text("acl", group)
    out.add_boolean("open", not document.acl)
    moment = date_ranges.instant(document.date)
    if moment is not None:
        out.add_integer("date", moment)
    out.add_boolean("added", added)
    out.add_bytes("source", source)
    return analysed, out


def fetch(searcher: Searcher, schema: Schema, ids: Sequence[str]) -> dict[str, AnalysedDocument]:
    if not ids:
        return {}
    found = searcher.search(any_of(schema, "id", ids), len(ids), count=False)
    documents = (stored(searcher, address) for _, address in found.hits)
    return {analysed.document.id: analysed for analysed in documents}


def stored(searcher: Searcher, address: DocAddress) -> AnalysedDocument:
    source = searcher.doc(address).get_first("source")
    assert source is not None, "every document has its source"
    return from_json(source)
