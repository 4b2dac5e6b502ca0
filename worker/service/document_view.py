"""A stored document as it is shown to a caller who may read it."""

from __future__ import annotations

from typing import Any

from indexer.documents import AnalysedDocument
from indexer.engines.base import Groups
from indexer.model.phrase_model import PhraseModel
from worker.explain.text.spans import Spans
from worker.phrasing.display_form import Speller


def shown(index: str, found: AnalysedDocument, model: PhraseModel, groups: Groups = None) -> dict[str, Any]:
    speller = Speller([Spans(found)], model, groups)
    fields = found.document.plain()
    del fields["acl"]  # who else may read it is not told
    return {
        "index": index,
        **fields,
        "version": found.version,
        "salient": [
            {
                "phrase": salient.phrase,
                "display": speller.display(salient.phrase),
                "salience": salient.salience,
                "count": salient.count,
            }
            for salient in found.salient
        ],
    }
