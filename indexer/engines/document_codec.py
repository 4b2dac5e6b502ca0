"""An analysed document as plain JSON values and back, the same for every engine.

Weights are kept in single precision, which is what an engine computes scores in.
"""

from __future__ import annotations

import base64
import binascii
import struct
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import orjson

from indexer.documents import AnalysedDocument, Document
from indexer.engines.lazy_documents import StoredSalient
from indexer.errors import BadInput
from indexer.identifiers import check_id, clean


def pack(analysed: AnalysedDocument) -> dict[str, Any]:
    return {
        **analysed.document.plain(),
        "tokens": analysed.tokens,
        "phrases": list(analysed.phrases),
        "weights": base64.b64encode(np.array(analysed.weights, dtype="<f4").tobytes()).decode("ascii"),
        "salient": [[s.phrase, s.salience, s.count, s.at] for s in analysed.salient],
        "degree": analysed.degree,
        "version": analysed.version,
    }


def unpack(packed: Mapping[str, Any]) -> AnalysedDocument:
    return AnalysedDocument(
        document=Document.of_plain(packed),
        tokens=packed["tokens"],
        phrases=tuple(packed["phrases"]),
        weights=_weights(packed["weights"]),
        salient=StoredSalient(packed["salient"]),
        degree=packed["degree"],
        version=packed["version"],
    )


def _weights(packed: str) -> tuple[float, ...]:
    data = binascii.a2b_base64(packed)
    return struct.unpack(f"<{len(data) // 4}f", data)


def to_json(
    analysed: AnalysedDocument, form: Callable[[AnalysedDocument], dict[str, Any]] = pack
) -> tuple[AnalysedDocument, bytes]:
    """The document as it will be read back, and the bytes of its form; raises BadInput for one that cannot be stored.

    Broken Unicode (a lone surrogate) is replaced, one character for one, so that offsets still fit.
    """
    check_id(analysed.document.id)
    if len(analysed.weights) != len(analysed.phrases):
        raise BadInput(f"document {analysed.document.id!r} has phrases without weights", fix="analyse it again")
    try:
        return analysed, orjson.dumps(form(analysed))
    except (TypeError, UnicodeEncodeError):
        pass
    whole = _mend_document(analysed)
    try:
        return whole, orjson.dumps(form(whole))
    except TypeError as error:
        raise BadInput(
            f"document {analysed.document.id!r} cannot be stored as JSON: {error}", fix="keep plain values in extra"
        ) from None


def from_json(data: bytes) -> AnalysedDocument:
    return unpack(orjson.loads(data))


def may_read(acl: tuple[str, ...] | list[str], groups: frozenset[str] | None) -> bool:
    return groups is None or not acl or not groups.isdisjoint(acl)


def _mend_document(analysed: AnalysedDocument) -> AnalysedDocument:
    fields = _mend(asdict(analysed.document))
    fields["acl"] = tuple(fields["acl"])
    return replace(
        analysed,
        document=Document(**fields),
        tokens=_mend(analysed.tokens),
        phrases=tuple(_mend(list(analysed.phrases))),
        salient=tuple(replace(s, phrase=_mend(s.phrase)) for s in analysed.salient),
    )


def _mend(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return {str(_mend(key)): _mend(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_mend(item) for item in value]
    return value
