"""Why a hit is on a results page, in the short form that a page shows at once: words, phrases and their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from indexer.model.evidence_spaces import SpaceName
from worker.answer.comparison import Comparison, Entry, EntryKind
from worker.explain.passage import Passage
from worker.explain.query_match import QueryMatch


@dataclass(frozen=True, slots=True)
class Reason:
    """One phrase of a list, without its evidence."""

    phrase: str
    display: str
    score: float
    kind: EntryKind
    noise: float | None = None
    """Share of random documents that have a reason as good; None for a phrase in both texts, or if not known."""
    spaces: Mapping[SpaceName, float] | None = None
    """Of a phrase told by meaning: the z-score of each space that was measured."""

    def to_dict(self) -> dict[str, Any]:
        out: dict[str, Any] = {"phrase": self.phrase, "display": self.display, "score": self.score, "kind": self.kind}
        if self.noise is not None:
            out["noise"] = self.noise
        if self.spaces is not None:
            out["spaces"] = dict(self.spaces)
        return out

    @classmethod
    def from_entry(cls, entry: Entry) -> Reason:
        return cls(entry.phrase, entry.display, entry.score, entry.kind, entry.noise, entry.spaces)


@dataclass(frozen=True, slots=True)
class HitReasons:
    """The reasons of one hit."""

    common: tuple[Reason, ...]
    distinct: tuple[Reason, ...]
    """What sets the hit apart: from the other hits if the page is explained by a query, else from the other side."""
    distinct_of_other: tuple[Reason, ...] | None = None
    """What sets the other side apart, if that is a document or a set."""
    match: QueryMatch | None = None
    """The words of the query in the hit, if there is one."""
    passage: Passage | None = None
    """The sentence of the hit that is nearest to the query, where its words do not explain it."""

    def to_dict(self) -> dict[str, Any]:
        out: dict[str, Any] = {} if self.match is None else self.match.to_dict()
        if self.passage is not None:
            out["passage"] = self.passage.to_dict()
        out["common"] = [reason.to_dict() for reason in self.common]
        out["distinct"] = [reason.to_dict() for reason in self.distinct]
        if self.distinct_of_other is not None:
            out["distinct_of_other"] = [reason.to_dict() for reason in self.distinct_of_other]
        return out

    @classmethod
    def from_comparison(cls, comparison: Comparison) -> HitReasons:
        """Shorten the comparison of a hit, its side a."""
        return cls(_shorten(comparison.common), _shorten(comparison.distinct_a), _shorten(comparison.distinct_b))


def _shorten(entries: Sequence[Entry]) -> tuple[Reason, ...]:
    return tuple(Reason.from_entry(entry) for entry in entries)
