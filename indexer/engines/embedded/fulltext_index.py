"""The tantivy index of an epoch: schema, documents in and out. Fields: tokens, facets, dates, acl, the stored JSON."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import orjson
from tantivy import DocAddress, Document, Index, Schema, SchemaBuilder, Searcher

from indexer.dates import date_to_millis
from indexer.documents import AnalysedDocument
from indexer.engines.document_codec import document_from_json, repair_and_encode_document
from indexer.engines.embedded.query_builder import build_terms_query
from indexer.identifiers import build_facet_keys


def build_schema() -> Schema:
    schema = SchemaBuilder()
    schema.add_text_field("id", stored=True, fast=True, tokenizer_name="raw", index_option="basic")
    schema.add_text_field("tokens", tokenizer_name="whitespace", index_option="freq")
    schema.add_text_field("facets", tokenizer_name="raw", index_option="basic")
    schema.add_text_field("acl", tokenizer_name="raw", index_option="basic")
    schema.add_boolean_field("open", indexed=True)
    schema.add_integer_field("date", indexed=True, fast=True)
    schema.add_bytes_field("source", stored=True)
    return schema.build()


def create_index(folder: Path) -> Index:
    """Create an empty index in an empty folder."""
    return Index(build_schema(), path=str(folder))


def open_index(folder: Path) -> Index:
    """Open an index that shows new commits after ``reload`` only. Raise ValueError if tantivy cannot read it."""
    try:
        index = Index.open(str(folder))
        index.config_reader("manual")
    except BaseException as error:
        if is_panic(error):
            raise ValueError(f"tantivy: {error}") from error
        raise
    return index


def is_panic(error: BaseException) -> bool:
    """Return whether an error is a panic of tantivy, which is no Exception: it met what it thought impossible."""
    return type(error).__name__ == "PanicException"


def read_opstamp(folder: Path) -> int:
    """Return the number of the last commit of the index in a folder."""
    return int(orjson.loads((folder / "meta.json").read_bytes())["opstamp"])


def repair_and_build_tantivy_document(analysed: AnalysedDocument) -> tuple[AnalysedDocument, Document]:
    """Return the document as it will be read back, and the tantivy document to store.

    Raise BadInput for a document that cannot be stored.
    """
    analysed, source = repair_and_encode_document(analysed)
    document = analysed.document
    fields = Document()
    fields.add_text("id", document.id)
    fields.add_text("tokens", analysed.tokens)
    for key in build_facet_keys(document.facets):
        fields.add_text("facets", key)
    for group in document.acl:
        fields.add_text("acl", group)
    fields.add_boolean("open", not document.acl)
    millis = date_to_millis(document.date)
    if millis is not None:
        fields.add_integer("date", millis)
    fields.add_bytes("source", source)
    return analysed, fields


def fetch_documents(searcher: Searcher, schema: Schema, ids: Sequence[str]) -> dict[str, AnalysedDocument]:
    """Return the stored documents of these ids, by id; unknown ids are left out."""
    if not ids:
        return {}
    result = searcher.search(build_terms_query(schema, "id", ids), len(ids), count=False)
    documents = (read_document(searcher, address) for _, address in result.hits)
    return {analysed.document.id: analysed for analysed in documents}


def read_id(searcher: Searcher, address: DocAddress) -> str:
    """Return the id of the document at a tantivy address."""
    return str(searcher.doc(address).get_first("id"))


def read_document(searcher: Searcher, address: DocAddress) -> AnalysedDocument:
    """Return the stored document at a tantivy address."""
    source = searcher.doc(address).get_first("source")
    assert source is not None, "every document has its source"
    return document_from_json(source)
