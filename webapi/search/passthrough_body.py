"""A search body that is passed on to the source of an attached index as it came, for callers who may read all of it.

Nothing is refused because of its kind. Refused is what would read something else than the source: our credentials may
read more of the cluster than the callers of this index. Scripts run only where ``allow_source_scripts`` is set.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from indexer.errors import BadParameter, Forbidden

MAX_DEPTH = 200
"""Levels of objects and lists; the thirty queries inside each other that Elasticsearch runs at most need 120."""
_SCRIPT_NAMES = frozenset(
    "script _script script_fields script_score scripted_metric script_heuristic minimum_should_match_script "
    "bucket_script bucket_selector moving_fn".split()
)
_INDEX_OF_THE_SEARCH = object()
"""Stands for the index of a document that is named without one."""
_WAY_OUT = "search in Elasticsearch yourself and ask POST /v1/explanations for the reasons"


def parse_source_body(raw: bytes) -> Any:
    """Parse the JSON of a search body; raise ValueError or RecursionError if it is none.

    Stricter than other parsers, so that Elasticsearch cannot read it in another way than the checks: no name twice in
    an object, no NaN.
    """
    return json.loads(raw, object_pairs_hook=_make_object, parse_constant=_refuse_constant)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number")


def _make_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, value in pairs:
        if name in values:
            raise ValueError(f"an object has the name {name[:80]!r} twice")
        values[name] = value
    return values


def check_passthrough_body(
    body: Mapping[str, Any], list_source_names: Callable[[], Collection[str]], *, allow_scripts: bool
) -> None:
    """Raise Forbidden if a body contains a script or refers to another index, BadParameter if it is too deep.

    ``list_source_names``: returns the names of the source; called only if the body refers to documents of an index.
    """
    for path, node in _iterate_objects(body):
        for name in node:
            if not allow_scripts and name in _SCRIPT_NAMES:
                raise Forbidden(
                    f"{_join(path, name)}: scripts are not allowed",
                    fix=f"leave it out, set allow_source_scripts, or {_WAY_OUT}",
                )
            if name in ("wrapper", "collate"):
                raise Forbidden(
                    f"{_join(path, name)} hides a query in a text, which cannot be checked",
                    fix="write the query as JSON",
                )
        for name, index in _list_referred_indices(path, node):
            names = list_source_names()
            if not (names if index is _INDEX_OF_THE_SEARCH else isinstance(index, str) and index in names):
                raise Forbidden(
                    f"{_join(path, name)} refers to another index than the source of this one",
                    fix=f"copy the values into the body, or {_WAY_OUT}",
                )


def _list_referred_indices(path: tuple[str, ...], node: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """Yield the indices that an object takes documents from, each with the member that names it.

    These are ``terms`` lookups, shapes, documents to percolate and vectors (``index`` beside ``id``), runtime fields of
    the type ``lookup``, and the documents of ``more_like_this``; a shape that names no index is in another one.
    """
    if "id" in node and ("index" in node or path[-1:] == ("indexed_shape",)):
        yield "index", node.get("index")
    if "target_index" in node and "target_field" in node:
        yield "target_index", node["target_index"]
    if ("_index" in node or "_id" in node) and ("like" in path or "unlike" in path):
        yield "_index", node.get("_index", _INDEX_OF_THE_SEARCH)


def _iterate_objects(body: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """Yield every object of a body with its path; raise BadParameter if one is too deep."""
    stack: list[tuple[tuple[str, ...], object]] = [((), body)]
    while stack:
        path, node = stack.pop()
        if len(path) > MAX_DEPTH:
            raise BadParameter(f"the body has more than {MAX_DEPTH} levels", fix="nest fewer parts")
        if isinstance(node, Mapping):
            yield path, node
            stack += [((*path, name), value) for name, value in node.items() if isinstance(value, Mapping | list)]
        elif isinstance(node, list):
            stack += [((*path, str(n)), value) for n, value in enumerate(node) if isinstance(value, Mapping | list)]


def _join(path: tuple[str, ...], name: str) -> str:
    """Return a path as error messages show it: ``query.bool.must.0.script``."""
    return ".".join([*path, name])[-200:]
