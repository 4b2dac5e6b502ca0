"""Who asks, and what they may do: carried from the request to the engine and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from indexer.engines.base import Groups

_EVERYTHING = "*"
SCOPES = frozenset({"read", "compare", "ingest", "admin"})
"""``read`` documents, searches and suggestions; ``compare``; ``ingest`` documents; ``admin``: metrics."""


@dataclass(frozen=True, slots=True)
class Caller:
    key_id: str
    """The key's name, or the caller's address where keys are off."""
    groups: Groups = None
    """None reads everything."""
    scopes: frozenset[str] = SCOPES
    indexes: frozenset[str] | None = None
    """None: all of them."""

    def may_read(self, acl: Iterable[str]) -> bool:
        """Whether a document with this acl is visible: the engines' rule."""
        wanted = frozenset(acl)
        return self.groups is None or not wanted or not self.groups.isdisjoint(wanted)

    def may_read_all(self, acls: Mapping[str, Iterable[str]]) -> bool:
        return self.groups is None or all(self.may_read(acl) for acl in acls.values())

    def may_use(self, index: str) -> bool:
        return self.indexes is None or index in self.indexes

    def may_follow(self, eyes: str) -> bool:
        """Whether a job made for these eyes (``eyes_of``) is this caller's to see before its answer is there."""
        index, _, rights = eyes.partition(" ")
        return self.may_use(index) and (self.groups is None or rights == rights_of(self.groups))

    def may_open(self, eyes: str) -> bool:
        """Whether an answer made for these eyes may be theirs: it is spelled and weighed by all that those may read."""
        _, _, rights = eyes.partition(" ")
        return self.groups is None or (rights not in ("", _EVERYTHING) and self.groups.issuperset(json.loads(rights)))


def rights_of(groups: Groups) -> str:
    """The same groups in any order are the same rights; no two others are, whatever a group is called."""
    return _EVERYTHING if groups is None else json.dumps(sorted(groups))


def eyes_of(index: str, groups: Groups) -> str:
    """For whom a job about an index is done."""
    return f"{index} {rights_of(groups)}"
