"""The texts that a search body searches for, read off its clauses: the words to explain hits by.

Any body can be read, with clauses of any kind and version: what is not known is looked into for clauses that are. Texts
that a hit must not match are left out, and so are those of filters if there are others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from webapi.search.body import wrap_in_list

SEARCHING_PARTS = ("query", "sub_searches", "knn", "retriever", "rescore")
"""Parts of a body that find or rank hits."""
UNSEARCHED_PARTS = frozenset(
    "must_not negative functions inner_hits match_criteria term terms terms_set range exists prefix wildcard regexp "
    "fuzzy ids script percolate geo_shape geo_distance geo_bounding_box".split()
)
"""Parts of a query without words, or with words that hits need not contain."""
_LUCENE_SYNTAX = re.compile(
    r"""
      (?P<skipped> [\[{] [^\[\]{}]* [\]}] | [<>]=? \S+ | / (?:\\.|[^/\\])+ / )
    | (?P<field> [\w.*@] (?: [\w.*@-] | \\. )* ) : (?=\S)
    | " (?P<phrase> (?:\\.|[^"\\])* ) "?
    | (?P<negation> \b NOT \b | (?<!\w) [-!] (?=\S) )
    | (?P<open> \( )
    | (?P<close> \) )
    | (?P<operator> \b (?:AND|OR) \b | && | \|\|? | (?<!\w) \+ | [~^] [\d.]* )
    | (?P<word> (?:\\.|[^\s()":^~\[\]{}|\\])+ )
    | .
    """,
    re.VERBOSE | re.DOTALL,
)
"""The parts of a text in Lucene's query syntax."""
FieldTexts = Iterator[tuple[object, Iterable[object]]]
"""Texts, each with the names or patterns of the fields that it is searched for in; none: all fields."""


def read_query_texts(
    body: Mapping[str, Any], fields: frozenset[str] | None = None, parameters: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    """Return the texts that a search searches for, each once, in the order of the body.

    ``fields``: only texts that are searched for in one of these; None: in any. ``parameters``: those of the URL, of
    which ``q`` is a query in Lucene's syntax.
    """
    texts = _QueryTexts(fields)
    for part in SEARCHING_PARTS:
        texts.read_clauses(body.get(part))
    if parameters is not None and "q" in parameters:
        texts.read_clauses(
            {
                "query_string": {"query": parameters["q"]}
                | ({"fields": [parameters["df"]]} if "df" in parameters else {})
            }
        )
    return tuple(dict.fromkeys(texts.searched or texts.filtered))


@dataclass(slots=True)
class _QueryTexts:
    """Collects the texts of clauses."""

    fields: frozenset[str] | None
    searched: list[str] = field(default_factory=list)
    filtered: list[str] = field(default_factory=list)
    """Texts of filters."""

    def read_clauses(self, node: object, parent: str = "", in_filter: bool = False) -> None:
        """Collect the texts of a query, a retriever or a list of them; ``parent``: the part that it is in."""
        if isinstance(node, list):
            for item in node:
                self.read_clauses(item, parent, in_filter)
        if not isinstance(node, Mapping):
            return
        for kind, content in node.items():
            if kind in UNSEARCHED_PARTS:
                continue
            if kind in _CLAUSE_READERS:
                for text, names in _CLAUSE_READERS[kind](content if isinstance(content, Mapping) else {}):
                    self._add_text(text, names, in_filter)
            if kind not in _CLAUSE_READERS or kind in _FUSING_RETRIEVERS:
                is_filter = kind == "filter" and parent != "constant_score"
                self.read_clauses(content, kind, in_filter or is_filter)

    def _add_text(self, text: object, names: Iterable[object], in_filter: bool) -> None:
        if not isinstance(text, str) or not text.strip():
            return
        patterns = [str(name).partition("^")[0] for name in names]
        if self.fields is None or not patterns or any(_covers(patterns, name) for name in self.fields):
            (self.filtered if in_filter else self.searched).append(text.strip())


def _covers(patterns: Iterable[str], name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


# Readers of clauses: each returns the texts of one clause, whose content may have any shape.


def _read_field_texts(content: Mapping[str, Any]) -> FieldTexts:
    for name, value in content.items():
        options = value if isinstance(value, Mapping) else {"query": value}
        yield options.get("query", options.get("model_text")), [name]


def _make_text_reader(text_name: str, fields_name: str) -> Callable[[Mapping[str, Any]], FieldTexts]:
    """Return the reader of clauses that name their text and their fields so."""

    def read_texts(content: Mapping[str, Any]) -> FieldTexts:
        names = wrap_in_list(content.get(fields_name) or [])
        for text in wrap_in_list(content.get(text_name)):
            yield text, names

    return read_texts


def _read_interval_texts(content: Mapping[str, Any]) -> FieldTexts:
    for name, rule in content.items():
        rules = [rule]
        while rules:
            part = rules.pop()
            if isinstance(part, list):
                rules += reversed(part)
            elif isinstance(part, Mapping):
                if isinstance(match := part.get("match"), Mapping):
                    yield match.get("query"), [match.get("use_field") or name]
                rules += [part[key] for key in reversed(list(part)) if key not in ("match", "filter")]


def _read_lucene_texts(content: Mapping[str, Any]) -> FieldTexts:
    """Return the words of a query in Lucene's syntax, together for each field, without those that are excluded."""
    default_names = tuple(wrap_in_list(content.get("fields") or content.get("default_field") or []))
    words: dict[tuple[object, ...], list[str]] = {}
    groups: list[tuple[bool, tuple[object, ...]]] = [(False, default_names)]
    is_negated, names = groups[0]
    for part in _LUCENE_SYNTAX.finditer(str(content.get("query") or "")):
        kind, text = part.lastgroup, re.sub(r"\\(.)", r"\1", part[part.lastgroup or 0])
        if kind == "field":
            names = (text,)
        elif kind == "negation":
            is_negated = True
        elif kind == "open":
            groups.append((is_negated, names))
        elif kind in ("phrase", "word", "skipped"):
            if not is_negated and kind != "skipped" and not (kind == "word" and re.search(r"[*?]", text)):
                words.setdefault(names, []).append(text)
            is_negated, names = groups[-1]
        elif kind == "close":
            groups[1:] = groups[1:-1]
            is_negated, names = groups[-1]
    for names, found in words.items():
        yield " ".join(found), names


def _read_simple_texts(content: Mapping[str, Any]) -> FieldTexts:
    """Return the words of a query in the syntax of ``simple_query_string``, without those that are excluded."""
    parts = [part for part in str(content.get("query") or "").split() if not part.startswith("-")]
    words = re.sub(r'[+|"()*\\]|~\d*', " ", " ".join(parts)).split()
    yield " ".join(words), wrap_in_list(content.get("fields") or [])


_FUSING_RETRIEVERS: dict[str, Callable[[Mapping[str, Any]], FieldTexts]] = {
    "rrf": _make_text_reader("query", "fields"),
    "linear": _make_text_reader("query", "fields"),
    "text_similarity_reranker": _make_text_reader("inference_text", "field"),
}
"""Retrievers with a text of their own and retrievers inside."""
_CLAUSE_READERS: dict[str, Callable[[Mapping[str, Any]], FieldTexts]] = {
    **dict.fromkeys(("match", "match_phrase", "match_phrase_prefix", "match_bool_prefix"), _read_field_texts),
    "text_expansion": _read_field_texts,
    **dict.fromkeys(("multi_match", "combined_fields"), _make_text_reader("query", "fields")),
    **dict.fromkeys(("semantic", "sparse_vector"), _make_text_reader("query", "field")),
    "text_embedding": _make_text_reader("model_text", "field"),
    "more_like_this": _make_text_reader("like", "fields"),
    "intervals": _read_interval_texts,
    "query_string": _read_lucene_texts,
    "simple_query_string": _read_simple_texts,
    **_FUSING_RETRIEVERS,
}
