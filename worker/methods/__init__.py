"""The paper's methods and the containment rule, one small file each, found by name."""

from __future__ import annotations

from indexer.errors import UnknownMethod
from worker.methods.base import Method, Problem, Ranked, Sorting
from worker.methods.cda import CDA
from worker.methods.cda_no_graph import CDANoGraph
from worker.methods.cda_two_step import CDATwoStep
from worker.methods.cda_variants import CDAAlterMea
from worker.methods.containment import Containment
from worker.methods.context_fuzzy import ContextFuzzy
from worker.methods.patent_com import PatentCom
from worker.methods.string_fuzzy import StringFuzzy
from worker.methods.topic_label import TopicLabel
from worker.methods.word_match import WordMatch

__all__ = ["METHODS", "Method", "Problem", "Ranked", "Sorting", "method"]

_ALL: tuple[Method, ...] = (
    WordMatch(), TopicLabel(), PatentCom(), StringFuzzy(), ContextFuzzy(),
    CDANoGraph(), CDAAlterMea(), CDATwoStep(), CDA(), Containment(),
)  # fmt: skip
METHODS: dict[str, Method] = {one.name: one for one in _ALL}
"""In the order of the paper's tables, the containment rule last."""


def method(name: str) -> Method:
    """The method of that name, or UnknownMethod."""
    try:
        return METHODS[name]
    except KeyError:
        raise UnknownMethod(f"no method named {name!r}", fix=f"choose one of {', '.join(METHODS)}") from None
