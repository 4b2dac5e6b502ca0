"""Callers and what they may do: carried from the request to the engine and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from indexer.engines.search_types import Groups

_ALL_GROUPS = "*"
SCOPES = frozenset({"read", "compare", "ingest", "admin"})
"""``read`` documents, searches and suggestions; ``compare``; ``ingest`` documents; ``admin``: metrics."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The owner of a request and their rights."""

    key_id: str
    """The key's name, or the caller's address where keys are off."""
    groups: Groups = None
    """None reads everything."""
    scopes: frozenset[str] = SCOPES
    indexes: frozenset[str] | None = None
    """None: all of them."""

    def may_read(self, acl: Iterable[str]) -> bool:
        """Return whether a document with this acl is visible, by the rule of the engines."""
        acl_groups = frozenset(acl)
        return self.groups is None or not acl_groups or not self.groups.isdisjoint(acl_groups)

    def may_read_all(self, acls: Mapping[str, Iterable[str]]) -> bool:
        return self.groups is None or all(self.may_read(acl) for acl in acls.values())

    def may_use_index(self, index: str) -> bool:
        return self.indexes is None or index in self.indexes

    def may_see_job(self, access_key: str) -> bool:
        """Return whether the caller may see a job with this access key before its answer is there."""
        index, _, groups_key = access_key.partition(" ")
        return self.may_use_index(index) and (self.groups is None or groups_key == make_groups_key(self.groups))

    def may_see_answer(self, access_key: str) -> bool:
        """Return whether the caller has all groups of this access key: spellings and weights of an answer come from
        all documents that those groups may read."""
        _, _, groups_key = access_key.partition(" ")
        if self.groups is None:
            return True
        return groups_key not in ("", _ALL_GROUPS) and self.groups.issuperset(json.loads(groups_key))


def make_groups_key(groups: Groups) -> str:
    """Return a text that is equal for equal groups in any order, and for no others, whatever a group is called."""
    return _ALL_GROUPS if groups is None else json.dumps(sorted(groups))


def make_access_key(index: str, groups: Groups) -> str:
    """Return the index and the groups that a job is made for, as one text."""
    return f"{index} {make_groups_key(groups)}"
