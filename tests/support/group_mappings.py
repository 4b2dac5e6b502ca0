"""Ways in which a source may map the field with the groups of its documents."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

KEYWORD = {"type": "keyword"}


@dataclass(frozen=True)
class GroupMapping:
    """How a source maps its groups, and what follows from it for callers with limited groups."""

    properties: dict[str, Any]
    path: str = "groups"
    root: dict[str, Any] = field(default_factory=dict)
    """Further parts of the mapping."""
    refusal: str = ""
    """Part of the refusal; empty if searches are served."""
    other_names: tuple[str, ...] = ()
    """Fields that have the groups as well."""
    hides_closed: bool = False
    """Whether no group is indexed, so that every closed document is left out."""

    def write_groups(self, groups: list[str]) -> dict[str, Any]:
        """Return the part of a record that names its groups."""
        outer, dot, inner = self.path.partition(".")
        return {} if not groups else {outer: {inner: groups}} if dot else {outer: groups}


GROUP_MAPPINGS = {
    "too long": GroupMapping({"groups": KEYWORD | {"ignore_above": 3}}, hides_closed=True),
    "several names": GroupMapping(
        {
            "groups": KEYWORD
            | {"copy_to": ["copied", "meta.copied"], "fields": {"raw": KEYWORD, "words": {"type": "text"}}},
            "copied": {"type": "text", "fielddata": True, "fields": {"exact": KEYWORD}},
            "audience": {"type": "alias", "path": "groups"},
            "readers": {"type": "alias", "path": "copied.exact"},
        },
        other_names=(
            *("groups.raw", "groups.words", "copied", "copied.exact", "meta.copied", "audience", "readers", "gro*"),
            *("*", "copied*", "_ignored", "_field_names"),
        ),
    ),
    "unmapped": GroupMapping({}, root={"dynamic": False}, refusal="not mapped"),
    "not searchable": GroupMapping(
        {"groups": KEYWORD | {"index": False, "doc_values": False}}, refusal="cannot be searched"
    ),
    "object": GroupMapping(
        {
            "rights": {"properties": {"groups": KEYWORD, "owner": KEYWORD}},
            "audience": {"type": "alias", "path": "rights.groups"},
        },
        path="rights.groups",
        other_names=("rights", "rights.*", "audience"),
    ),
    "nested": GroupMapping(
        {"rights": {"type": "nested", "properties": {"groups": KEYWORD}}},
        path="rights.groups",
        refusal="nested object",
    ),
    "keyword": GroupMapping({"groups": KEYWORD}),
    "doc values only": GroupMapping({"groups": KEYWORD | {"index": False}}),
    "no doc values": GroupMapping({"groups": KEYWORD | {"doc_values": False}}),
    "normalizer": GroupMapping({"groups": KEYWORD | {"normalizer": "lowercase"}}, refusal="as they were written"),
    "runtime": GroupMapping({}, root={"dynamic": False, "runtime": {"groups": KEYWORD}}, refusal="runtime field"),
    "copies of others": GroupMapping(
        {"groups": KEYWORD, "owner": KEYWORD | {"copy_to": "groups"}}, refusal="copies of other fields"
    ),
    "disabled object": GroupMapping(
        {"rights": {"type": "object", "enabled": False}}, path="rights.groups", refusal="not mapped"
    ),
}
"""By name; the first few are those that a small run tries."""
