"""Encode analysed documents as JSON and decode them, the same for every engine.

Weights are stored in single precision, which is what engines compute scores in.
"""

from __future__ import annotations

import base64
import binascii
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import chain
from typing import Any

import numpy as np
import orjson

from indexer.documents import AnalysedDocument, Document, TextPhrase
from indexer.engines.lazy_documents import LazySalientPhrases
from indexer.errors import BadInput
from indexer.identifiers import check_document_id, replace_surrogates


def pack_document(analysed: AnalysedDocument) -> dict[str, Any]:
    """Return the document as JSON values; weights become base64 of little-endian float32."""
    return {
        **analysed.document.to_dict(),
        "tokens": analysed.tokens,
        "phrases": list(analysed.phrases),
        "weights": base64.b64encode(np.array(analysed.weights, dtype="<f4").tobytes()).decode("ascii"),
        "salient": [[s.phrase, s.salience, s.count, s.spans] for s in analysed.salient],
        "degree": analysed.degree,
        "version": analysed.version,
        "text_phrases": list(chain.from_iterable(analysed.text_phrases)),
    }


def unpack_document(packed: Mapping[str, Any]) -> AnalysedDocument:
    """Return the document that ``pack_document`` encoded."""
    return AnalysedDocument(
        document=Document.from_dict(packed),
        tokens=packed["tokens"],
        phrases=tuple(packed["phrases"]),
        weights=_decode_weights(packed["weights"]),
        salient=LazySalientPhrases(packed["salient"]),
        degree=packed["degree"],
        version=packed["version"],
        text_phrases=_unpack_text_phrases(packed.get("text_phrases", ())),
    )


def _unpack_text_phrases(numbers: Sequence[int]) -> tuple[TextPhrase, ...]:
    return tuple(map(TextPhrase, numbers[0::3], numbers[1::3], numbers[2::3]))


def _decode_weights(packed: str) -> tuple[float, ...]:
    data = binascii.a2b_base64(packed)
    return struct.unpack(f"<{len(data) // 4}f", data)


def repair_and_encode_document(
    analysed: AnalysedDocument, to_fields: Callable[[AnalysedDocument], dict[str, Any]] = pack_document
) -> tuple[AnalysedDocument, bytes]:
    """Return the document as it will be read back, and the JSON bytes of ``to_fields`` of it.

    Lone surrogates are replaced, one character for one, so that offsets stay valid. Raises BadInput for a document
    that cannot be stored.
    """
    check_document_id(analysed.document.id)
    if len(analysed.weights) != len(analysed.phrases):
        raise BadInput(f"document {analysed.document.id!r} has phrases without weights", fix="analyse it again")
    try:
        return analysed, orjson.dumps(to_fields(analysed))
    except (TypeError, UnicodeEncodeError):
        pass
    repaired = _replace_surrogates_in_document(analysed)
    try:
        return repaired, orjson.dumps(to_fields(repaired))
    except TypeError as error:
        raise BadInput(
            f"document {analysed.document.id!r} cannot be stored as JSON: {error}", fix="use only JSON values in extra"
        ) from None


def document_from_json(data: bytes) -> AnalysedDocument:
    """Return the document from the bytes of ``repair_and_encode_document``."""
    return unpack_document(orjson.loads(data))


def _replace_surrogates_in_document(analysed: AnalysedDocument) -> AnalysedDocument:
    fields = _replace_surrogates_in_value(asdict(analysed.document))
    fields["acl"] = tuple(fields["acl"])
    return replace(
        analysed,
        document=Document(**fields),
        tokens=_replace_surrogates_in_value(analysed.tokens),
        phrases=tuple(_replace_surrogates_in_value(list(analysed.phrases))),
        salient=tuple(replace(s, phrase=_replace_surrogates_in_value(s.phrase)) for s in analysed.salient),
    )


def _replace_surrogates_in_value(value: Any) -> Any:
    if isinstance(value, str):
        return replace_surrogates(value)
    if isinstance(value, Mapping):
        return {
            str(_replace_surrogates_in_value(key)): _replace_surrogates_in_value(item) for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_replace_surrogates_in_value(item) for item in value]
    return value
