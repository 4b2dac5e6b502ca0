"""METHODS: all methods by name; the default is ``cda``. A new method is a module in this folder and a line here."""

from __future__ import annotations

from indexer.errors import UnknownMethod
from worker.methods.base import Method
from worker.methods.cda import CDA
from worker.methods.cda_variants import CDAAlterMea, CDANoGraph, CDATwoStep
from worker.methods.containment import Containment
from worker.methods.context_fuzzy import ContextFuzzy
from worker.methods.patent_com import PatentCom
from worker.methods.string_fuzzy import StringFuzzy
from worker.methods.topic_label import TopicLabel
from worker.methods.word_match import WordMatch

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        WordMatch(),
        TopicLabel(),
        PatentCom(),
        StringFuzzy(),
        ContextFuzzy(),
        CDANoGraph(),
        CDAAlterMea(),
        CDATwoStep(),
        CDA(),
        Containment(),
    )
}
"""The one list of methods, by name, in the order of the paper's tables with the containment rule last."""


def get_method(name: str) -> Method:
    """Return the method of that name; raise UnknownMethod if there is none."""
    try:
        return METHODS[name]
    except KeyError:
        raise UnknownMethod(f"no method named {name!r}", fix=f"choose one of {', '.join(METHODS)}") from None
