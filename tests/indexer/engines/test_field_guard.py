"""The guard of the groups in an attached source, from its mapping alone."""

from __future__ import annotations

from typing import Any

import pytest

from indexer.engines.field_guard import FieldGuard, make_field_guard, make_guard_without_mapping
from indexer.errors import Forbidden

KEYWORD = {"type": "keyword"}


def make_guard(mapping: dict[str, Any], acl_path: str = "groups", is_mapped: bool = True) -> FieldGuard:
    return make_field_guard({"stories-1": mapping}, acl_path, is_mapped)


def map_fields(**properties: Any) -> dict[str, Any]:
    return {"properties": properties}


NAMED_GUARD = make_guard(
    {
        "properties": {
            "body": {"type": "text", "copy_to": "all"},
            "all": {"type": "text"},
            "groups": {"type": "keyword", "copy_to": ["meta.copy", "seen"], "fields": {"raw": KEYWORD}},
            "seen": {"type": "text", "fields": {"exact": KEYWORD}},
            "audience": {"type": "alias", "path": "groups"},
            "readers": {"type": "alias", "path": "seen.exact"},
            "meta": {"properties": {"copy": KEYWORD, "desk": KEYWORD, "who": {"type": "alias", "path": "groups.raw"}}},
            "length": {"type": "long", "script": {"source": "emit(doc['groups'].size())"}},
            "groupsize": {"type": "integer"},
        },
        "runtime": {"computed": {"type": "keyword", "script": {"source": "emit('x')"}}, "plain": KEYWORD},
    }
)


@pytest.mark.parametrize(
    "name",
    [
        *("groups", "groups.raw", "groups.any", "audience", "seen", "seen.exact", "readers", "meta.copy", "meta.who"),
        *("meta", "length", "computed", "_ignored", "_field_names", "_source", "_ig*"),
        *("*", "g*", "*s", "gr*ps", "groups*", "groups.*", "*.raw", "meta.*", "m*", "*.who", "gro*.r*w", "*udience"),
    ],
)
def test_every_name_that_could_reveal_groups_is_hidden(name: str) -> None:
    assert NAMED_GUARD.hides(name)


@pytest.mark.parametrize(
    "name", ["body", "body.any", "all", "meta.desk", "groupsize", "plain", "_score", "b*", "plai*"]
)
def test_other_fields_are_not_hidden(name: str) -> None:
    assert not NAMED_GUARD.hides(name)


def test_a_field_in_a_passthrough_object_is_hidden_under_both_names() -> None:
    guard = make_guard(
        map_fields(own={"type": "passthrough", "priority": 1, "properties": {"acl": KEYWORD}}), "own.acl"
    )
    assert guard.hides("own.acl") and guard.hides("acl") and not guard.obstacle


def test_records_lose_hidden_paths_however_they_are_written() -> None:
    record = {
        "body": "x",
        "groups": ["a"],
        "groups.raw": "a",
        "seen": {"exact": "a"},
        "meta": [{"copy": "a", "desk": "b"}, {"copy": "a"}],
        "meta.copy": "a",
    }
    assert NAMED_GUARD.strip_record(record) == {"body": "x", "meta": [{"desk": "b"}, {}]}


def test_groups_under_a_path_are_hidden_with_the_objects_around_them() -> None:
    guard = make_guard(map_fields(rights={"properties": {"groups": KEYWORD, "owner": KEYWORD}}), "rights.groups")
    assert guard.is_filterable and not guard.obstacle
    assert guard.hides("rights") and guard.hides("rights.groups") and not guard.hides("rights.owner")
    assert guard.list_acl_names_in_ignored() == ["rights", "rights.groups"]


@pytest.mark.parametrize(
    ("mapping", "acl_path", "reason"),
    [
        ({"dynamic": "false", **map_fields(body={"type": "text"})}, "groups", "not mapped"),
        (map_fields(body={"type": "text"}), "groups", "not mapped"),
        (map_fields(groups={"type": "text"}), "groups", "not of type keyword"),
        (map_fields(groups={"properties": {"name": KEYWORD}}), "groups", "not of type keyword"),
        (map_fields(groups={"type": "alias", "path": "other"}, other=KEYWORD), "groups", "not of type keyword"),
        (map_fields(groups=KEYWORD | {"index": False, "doc_values": False}), "groups", "cannot be searched"),
        (map_fields(groups=KEYWORD | {"normalizer": "lowercase"}), "groups", "as they were written"),
        (map_fields(groups=KEYWORD | {"script": {"source": ""}}), "groups", "as they were written"),
        (map_fields(groups=KEYWORD, owner=KEYWORD | {"copy_to": "groups"}), "groups", "copies of other fields"),
        (map_fields(groups=KEYWORD) | {"runtime": {"groups": KEYWORD}}, "groups", "runtime field"),
        (map_fields(rights={"type": "nested", "properties": {"groups": KEYWORD}}), "rights.groups", "nested object"),
        (map_fields(rights={"type": "object", "enabled": False}), "rights.groups", "not mapped"),
        (map_fields(rights={"type": "flattened"}), "rights.groups", "not mapped"),
    ],
)
def test_groups_that_a_filter_would_not_see_as_written_are_refused(
    mapping: dict[str, Any], acl_path: str, reason: str
) -> None:
    guard = make_guard(mapping, acl_path)
    with pytest.raises(Forbidden, match=reason) as refused:
        guard.require_checkable()
    assert "attach" in refused.value.fix and "groups'" not in refused.value.detail
    assert guard.hides(acl_path)


@pytest.mark.parametrize(
    "groups",
    [
        KEYWORD | {"ignore_above": 8},
        KEYWORD | {"index": False},
        KEYWORD | {"doc_values": False},
        KEYWORD | {"null_value": "nobody"},
    ],
)
def test_a_keyword_that_can_be_searched_is_a_filter(groups: dict[str, Any]) -> None:
    guard = make_guard(map_fields(groups=groups))
    guard.require_checkable()
    assert guard.is_filterable and guard.index == "stories-1"


@pytest.mark.parametrize(
    ("mapping", "acl_path", "is_refused"),
    [
        ({}, "acl", False),
        ({"dynamic": "strict"}, "acl", False),
        ({"dynamic": "false"}, "acl", True),
        ({"dynamic": False, **map_fields(meta={"dynamic": True, "properties": {}})}, "meta.acl", False),
        (map_fields(meta={"dynamic": False, "properties": {}}), "meta.acl", True),
        (map_fields(**{"meta.more": {"dynamic": False, "properties": {}}}), "meta.more.acl", True),
        ({"dynamic": "false"}, "", False),
    ],
)
def test_a_field_that_nobody_named_is_missed_only_where_records_may_have_it_unmapped(
    mapping: dict[str, Any], acl_path: str, is_refused: bool
) -> None:
    guard = make_guard(mapping, acl_path, is_mapped=False)
    assert bool(guard.obstacle) == is_refused and not guard.is_filterable


def test_several_indices_and_an_unreadable_mapping_are_refused() -> None:
    mapping = map_fields(groups=KEYWORD)
    several = make_field_guard({"a": mapping, "b": map_fields(x={"type": "alias", "path": "groups"})}, "groups", True)
    assert "several indices" in several.obstacle and several.hides("groups") and several.hides("x")
    blind = make_guard_without_mapping("groups")
    assert "mapping" in blind.obstacle and "view_index_metadata" in blind.fix and blind.hides("groups")


def test_an_object_that_held_only_groups_is_not_shown_empty() -> None:
    guard = make_guard(map_fields(rights={"properties": {"groups": KEYWORD}}, meta={"properties": {}}), "rights.groups")
    assert guard.strip_record({"rights": {"groups": ["staff"]}, "meta": {}, "a": 1}) == {"meta": {}, "a": 1}
    assert guard.strip_record({"rights": {"groups": ["staff"], "owner": "ann"}}) == {"rights": {"owner": "ann"}}


def test_a_field_that_shows_another_document_is_hidden_also_without_groups() -> None:
    guard = make_guard({"properties": {}, "runtime": {"author": {"type": "lookup"}, "plain": KEYWORD}}, "")
    assert guard.hides("author") and not guard.hides("plain")


def test_fields_that_are_searched_by_meaning_are_known_with_their_aliases() -> None:
    semantic = {"type": "semantic_text"}
    guard = make_guard(
        map_fields(
            groups=KEYWORD,
            title={"type": "text", "fields": {"meaning": semantic}},
            body=semantic,
            sense={"type": "alias", "path": "body"},
        )
    )
    assert guard.semantic_text_fields == {"title.meaning", "body", "sense"}
    assert not guard.hides("body")
