"""A stored document as JSON for a caller who may read it."""

from __future__ import annotations

from typing import Any

from indexer.documents import AnalysedDocument
from indexer.engines.search_types import Groups
from indexer.model.phrase_model import PhraseModel
from worker.explain.text.spans import DocumentSpans
from worker.phrasing.display_form import DisplayForms


def build_document_json(
    index: str, document: AnalysedDocument, model: PhraseModel, groups: Groups = None
) -> dict[str, Any]:
    """Return the fields of a document and its salient phrases, spelled as these groups may see them."""
    display_forms = DisplayForms([DocumentSpans(document, model.lemmatizer)], model, groups)
    fields = document.document.to_dict()
    fields.pop("revision", None)  # it matters only to the source it was attached from
    fields.pop("vector", None)  # large, and of no use to a reader
    if groups is not None:
        del fields["acl"]  # callers with limited groups do not see who else may read it
    return {
        "index": index,
        **fields,
        "version": document.version,
        "salient": [
            {
                "phrase": salient.phrase,
                "display": display_forms.find(salient.phrase),
                "salience": salient.salience,
                "count": salient.count,
            }
            for salient in document.salient
        ],
    }
