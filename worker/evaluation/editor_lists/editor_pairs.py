"""Pairs of documents with the lists that an editor wrote for them, and verdicts of readers on phrases shown.

A line of pairs: ``{"kind": "recipes", "pair": "recipes-01", "a": "id-1", "b": "id-2", "half": "report", "common":
["lemon zest"], "distinct_a": [], "distinct_b": ["puff pastry"]}``. A line of verdicts: ``{"pair": "recipes-01",
"list": "common", "phrase": "lemon zest", "verdicts": ["keep", "strike"]}``, one verdict of each reader.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from indexer.errors import BadInput, BadParameter
from worker.evaluation.gold import read_json_lines
from worker.evaluation.judged_hits import ALL_HALVES, HALVES
from worker.evaluation.sentence_encoder.model_jar import get_cache_root

LIST_NAMES = ("common", "distinct_a", "distinct_b")
VERDICTS = ("strike", "keep")
LANGUAGES = {"german": "de"}
"""Languages of kinds of text that are not in English."""
NO_FILES: Mapping[str, Path] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class EditorPair:
    """Two documents and what an editor wrote about them after reading both."""

    kind: str
    """Kind of text, which is also the name of the corpus."""
    pair: str
    a: str
    b: str
    half: str
    lists: Mapping[str, tuple[str, ...]]
    """The phrases of each of ``LIST_NAMES``, the most telling first."""


class ReaderVerdicts(dict[tuple[str, str, str], float]):
    """(pair, list, phrase) -> share of the readers who kept the phrase, whatever its upper and lower case."""

    def find(self, pair: str, list_name: str, phrase: str) -> float | None:
        """Return the share of readers who kept a displayed phrase; None if none read it."""
        return self.get((pair, list_name, phrase.casefold()))


def find_quality_file(name: str) -> Path | None:
    """Return a file of measurements that a source tree of this project has; None elsewhere."""
    path = Path(__file__).resolve().parents[3] / "tests" / "quality" / "data" / name
    return path if path.exists() else None


def read_editor_pairs(path: Path, half: str = ALL_HALVES) -> list[EditorPair]:
    """Read the pairs of one half (or of ``all``) from JSON lines; raise BadInput if a line is none."""
    required = ("kind", "pair", "a", "b", "half", *LIST_NAMES)
    pairs = [_parse_pair(row, path) for row in read_json_lines(path, required)]
    return [pair for pair in pairs if half in (ALL_HALVES, pair.half)]


def _parse_pair(row: Mapping[str, Any], path: Path) -> EditorPair:
    if row["half"] not in HALVES:
        raise BadInput(f"half {row['half']!r} of {row['pair']} in {path}", fix=f"write {' or '.join(HALVES)}")
    for name in LIST_NAMES:
        if not isinstance(row[name], list) or not all(isinstance(text, str) and text.strip() for text in row[name]):
            raise BadInput(f"{name} of {row['pair']} in {path} is no list of phrases", fix="write a list of strings")
    lists = {name: tuple(row[name]) for name in LIST_NAMES}
    return EditorPair(str(row["kind"]), str(row["pair"]), str(row["a"]), str(row["b"]), row["half"], lists)


def read_verdicts(path: Path) -> ReaderVerdicts:
    """Read the verdicts of readers from JSON lines; raise BadInput if a line is none."""
    verdicts = ReaderVerdicts()
    for row in read_json_lines(path, ("pair", "list", "phrase", "verdicts")):
        given = row["verdicts"]
        if row["list"] not in LIST_NAMES:
            raise BadInput(f"list {row['list']!r} in {path}", fix=f"write one of {', '.join(LIST_NAMES)}")
        if not isinstance(given, list) or not given or any(verdict not in VERDICTS for verdict in given):
            raise BadInput(
                f"verdicts {given!r} on {row['phrase']!r} in {path}", fix="write keep or strike for each reader"
            )
        key = (str(row["pair"]), row["list"], str(row["phrase"]).casefold())
        verdicts[key] = sum(map(VERDICTS.index, given)) / len(given)
    return verdicts


@dataclass(frozen=True, slots=True)
class EditorData:
    """What comparisons are measured against."""

    pairs: Sequence[EditorPair]
    corpora: Mapping[str, Path]
    """The corpus of each kind of text."""
    verdicts: ReaderVerdicts


def load_editor_data(
    half: str = ALL_HALVES,
    kinds: Sequence[str] = (),
    *,
    lists: Path | None = None,
    verdicts: Path | None = None,
    corpora: Path | None = None,
    other_corpora: Mapping[str, Path] = NO_FILES,
) -> EditorData:
    """Load the pairs of one half (or of ``all``) and of some kinds of text (or of all), with the verdicts on them.

    ``lists`` and ``verdicts``: files, by default those of this project's source tree; ``corpora``: folder with a file
    of each kind, by default ``editor`` in the folder of the cache; ``other_corpora``: files of kinds that are
    elsewhere. Raises BadInput if there are no lists or a corpus is missing, BadParameter for an unknown kind.
    """
    path, verdicts = lists or find_quality_file("editor.jsonl"), verdicts or find_quality_file("editor_verdicts.jsonl")
    pairs = read_editor_pairs(path, half) if path else []
    if not pairs:
        raise BadInput("no lists of an editor", fix="give a file with --lists; a source tree of this project has one")
    known = dict.fromkeys(pair.kind for pair in pairs)
    unknown = [kind for kind in (*kinds, *other_corpora) if kind not in known]
    if unknown:
        raise BadParameter(f"no pair of the kind {unknown[0]!r}", fix=f"use some of {', '.join(known)}")
    folder = corpora or get_cache_root() / "editor"
    files = {kind: other_corpora.get(kind, folder / f"{kind}.jsonl") for kind in known if not kinds or kind in kinds}
    for kind, file in files.items():
        if not file.exists():
            fix = f"make it with python -m tests.tools.make_editor_corpora, or give --corpora or --corpus {kind}=FILE"
            raise BadInput(f"no corpus {file}", fix=fix)
    chosen = [pair for pair in pairs if pair.kind in files]
    return EditorData(chosen, files, read_verdicts(verdicts) if verdicts else ReaderVerdicts())
