"""Index settings, field mappings and the encoding of documents in Elasticsearch.

The names of fields are part of the index format: changing one makes existing indexes unreadable.
"""

from __future__ import annotations

import base64
import binascii
import struct
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from indexer.dates import date_to_millis
from indexer.documents import AnalysedDocument
from indexer.engines.document_codec import pack_document, repair_and_encode_document, unpack_document
from indexer.engines.write_order import WriteMark
from indexer.identifiers import build_facet_keys
from indexer.model.bm25 import K1, B
from indexer.vectors import decode_vector

Body = dict[str, Any]
"""A request body or a part of one, as JSON values."""
MAX_RESULT_WINDOW = 100_000
"""Largest offset + size of a search."""
MAX_TITLE_LENGTH = 300
"""Number of characters of the title in a document summary."""
DELETED, DELETED_NEW = "deleted", "deleted-new"
"""Values of ``added`` in a deletion mark: of a document of the epoch, and of one that was added later or never was."""
DELETION_MARKERS = (DELETED, DELETED_NEW)
SEQUENCE_FIELDS = {"sequence": {"type": "long"}, "written": {"type": "double"}}
"""Fields of a WriteMark. They are the same in every document and missing in one that was not written since the build;
an index of a former version gets them with its first write."""
VECTOR_FIELD = "vector"
"""Field of the vector; only an index whose own vectors are searched has it in its mapping. It is not kept in
``_source``, where the vector is under ``stored`` in half the bytes."""
_INDEXED_FIELDS = ("id", "tokens", "phrases", "degree")
"""Fields of a packed document that are kept at the top level of ``_source``; the others are under ``stored``."""


def build_document_index_body(shards: int, replicas: int) -> Body:
    """Return settings and mappings of the index for an epoch's documents.

    Refreshing is off: the index is searched only once it is complete.
    """
    keyword = {"type": "keyword"}
    return {
        "settings": {
            "number_of_shards": shards,
            "number_of_replicas": replicas,
            "refresh_interval": -1,
            "max_result_window": MAX_RESULT_WINDOW,
            "similarity": {"default": {"type": "BM25", "k1": K1, "b": B}},
        },
        "mappings": {
            "dynamic": False,
            "_source": {"excludes": [VECTOR_FIELD]},
            "properties": {
                "id": keyword | {"index": False},
                "tokens": {"type": "text", "analyzer": "whitespace", "index_options": "freqs"},
                "phrases": {"type": "keyword", "doc_values": False},
                "facets": {"type": "keyword", "ignore_above": 8000},
                "date": {"type": "date", "format": "epoch_millis", "ignore_malformed": True},
                "acl": {"type": "keyword", "doc_values": False},
                "open": {"type": "boolean", "doc_values": False},
                "card": {"type": "binary", "doc_values": True},
                "added": keyword,
                **SEQUENCE_FIELDS,
                "stored": {"type": "object", "enabled": False},
            },
        },
    }


def build_vector_mapping(dimensions: int) -> Body:
    """Return the field of vectors. ``hnsw`` keeps single precision and is what all supported versions have."""
    return {
        VECTOR_FIELD: {
            "type": "dense_vector",
            "dims": dimensions,
            "index": True,
            "similarity": "cosine",
            "index_options": {"type": "hnsw"},
        }
    }


def build_model_index_body(replicas: int, meta: Body) -> Body:
    """Return settings and mappings of the index for a phrase model."""
    return {
        "settings": {"number_of_shards": 1, "number_of_replicas": replicas},
        "mappings": {"dynamic": False, "properties": {"data": {"type": "binary"}}, "_meta": meta},
    }


def encode_source(analysed: AnalysedDocument, added_marker: str | None = None) -> bytes:
    """Return the ``_source`` of a document as JSON bytes.

    ``added_marker`` marks a document written after the epoch was built: ``new``, or ``replaced`` if it replaces one of
    the epoch. Raises BadInput for a document that cannot be stored.
    """
    marker = {} if added_marker is None else {"added": added_marker}
    return repair_and_encode_document(analysed, lambda document: _build_source(document) | marker)[1]


def build_write_action(index: str, id: str, source: bytes, mark: WriteMark) -> Body:
    """Return the bulk action that stores a document unless a newer write of it stands in the index."""
    fields = orjson.dumps(mark._asdict())
    marked_source = fields[:-1] + b"," + source[1:]
    return _build_versioned_action(index, id, mark) | {"_source": marked_source}


def build_deletion_action(index: str, id: str, marker: str, mark: WriteMark) -> Body:
    """Return the bulk action that puts a deletion mark in the place of a document.

    Elasticsearch's own deletion would not do: it forgets the version of a deleted document after a minute.
    """
    return _build_versioned_action(index, id, mark) | {"_source": {"id": id, "added": marker} | mark._asdict()}


def _build_versioned_action(index: str, id: str, mark: WriteMark) -> Body:
    return {"_index": index, "_id": id, "version": mark.sequence, "version_type": "external_gte"}


def parse_write_mark(source: Mapping[str, Any]) -> WriteMark:
    return WriteMark(source["sequence"], source["written"])


def _build_source(analysed: AnalysedDocument) -> Body:
    stored = pack_document(analysed)
    source: Body = {name: stored.pop(name) for name in _INDEXED_FIELDS}
    source |= {
        "facets": build_facet_keys(analysed.document.facets),
        "date": _cached_timestamp(analysed.document.date),
        "acl": list(analysed.document.acl),
        "open": not analysed.document.acl,
        "card": encode_summary(analysed.degree, analysed.document.title),
        "stored": stored,
    }
    if analysed.document.vector is not None:
        source[VECTOR_FIELD] = decode_vector(analysed.document.vector).tolist()
    return source


_cached_timestamp = lru_cache(maxsize=4096)(date_to_millis)
"""Cached because many documents share few dates."""


def encode_summary(degree: float, title: str) -> str:
    """Return the document summary: degree and title, all a neighbourhood needs of a document, in one doc value.

    Elasticsearch reads it twice as fast as two separate fields: the values of a keyword field have to be looked up
    in a compressed dictionary, one by one. The field is called ``card``.
    """
    return base64.b64encode(struct.pack("<d", degree) + title[:MAX_TITLE_LENGTH].encode()).decode("ascii")


def decode_summary_degrees(summaries: Sequence[str]) -> NDArray[np.float64]:
    """Return the degree of each document, shape (summaries,), decoding all of them at once.

    The degree is the first 8 bytes; the first 12 base64 characters hold 9 bytes (or 8 and padding).
    """
    data = binascii.a2b_base64("".join([summary[:12] for summary in summaries]).replace("=", "A"))
    return np.frombuffer(data, dtype=np.uint8).reshape(-1, 9)[:, :8].copy().view("<f8")[:, 0].astype(np.float64)


def decode_summary_title(summary: str) -> str:
    """Return the title, truncated to MAX_TITLE_LENGTH characters."""
    return str(binascii.a2b_base64(summary)[8:], "utf-8")


def decode_source(source: Mapping[str, Any]) -> AnalysedDocument:
    """Return the document from the ``_source`` of a hit."""
    return unpack_document(source["stored"] | {name: source[name] for name in _INDEXED_FIELDS})
