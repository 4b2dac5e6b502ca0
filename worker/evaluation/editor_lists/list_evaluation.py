"""Comparisons of an editor's pairs by every method, and how their lists do beside the editor's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from indexer.defaults import DEFAULT_CAP
from indexer.errors import BadInput
from indexer.progress import Progress, no_progress
from worker.answer.comparison import Entry
from worker.comparer import Comparer
from worker.evaluation.author_keywords import MethodRun
from worker.evaluation.datasets import ensure_index
from worker.evaluation.editor_lists.editor_pairs import LANGUAGES, LIST_NAMES, EditorData, EditorPair, ReaderVerdicts
from worker.evaluation.editor_lists.list_figures import ListOutcome, ShownPhrase, summarise_lists
from worker.evaluation.editor_lists.phrase_matching import EXACT, NEAR, PhraseReader
from worker.explain.side import Side

LIST_GROUPS = {"common": ("common",), "distinct": ("distinct_a", "distinct_b")}
"""Lists that are counted together."""


@dataclass(frozen=True, slots=True)
class PairOutcome:
    """The lists that one method shows for one pair."""

    pair: EditorPair
    lists: Mapping[str, ListOutcome]


def evaluate_editor_lists(
    comparer: Comparer,
    data: EditorData,
    runs: Sequence[MethodRun],
    *,
    cap: int = DEFAULT_CAP,
    seed: int = 1,
    with_told: bool = False,
    progress: Progress = no_progress,
) -> dict[str, Any]:
    """Return the figures of every run by kind of text and pooled; a corpus without an index gets one.

    ``cap``: the longest list shown, 0 for any; ``with_told``: add what was shown for every pair. Raises BadInput if a
    corpus lacks a document of a pair.
    """
    by_kind: dict[str, dict[str, list[PairOutcome]]] = {}
    indexes: dict[str, str] = {}
    for kind, corpus in data.corpora.items():
        language = LANGUAGES.get(kind, "en")
        indexes[kind] = ensure_index(comparer.engine, [], [corpus], language=language, progress=progress)
        pairs = [pair for pair in data.pairs if pair.kind == kind]
        lists = _ListReader(comparer, indexes[kind], data.verdicts, cap)
        lists.check_documents(pairs)
        by_run: dict[str, list[PairOutcome]] = {run.name: [] for run in runs}
        for done, pair in enumerate(pairs):
            for run in runs:
                by_run[run.name].append(lists.compare(pair, run))
            progress(f"compare {kind}", done + 1, len(pairs))
        by_kind[kind] = by_run
    pooled = {run.name: [outcome for by_run in by_kind.values() for outcome in by_run[run.name]] for run in runs}
    result: dict[str, Any] = {
        "cap": cap,
        "seed": seed,
        "kinds": {kind: {"index": indexes[kind], **_build_table(runs, by_kind[kind], seed)} for kind in by_kind},
        "pooled": _build_table(runs, pooled, seed),
    }
    if with_told:
        result["told"] = {name: [_describe_outcome(outcome) for outcome in told] for name, told in pooled.items()}
    return result


class _ListReader:
    """Compares pairs in one index and reads the lists shown."""

    def __init__(self, comparer: Comparer, index: str, verdicts: ReaderVerdicts, cap: int) -> None:
        self._comparer, self._index, self._verdicts, self._cap = comparer, index, verdicts, cap
        self._reader = comparer.engine.open_reader(index)
        self._phrases = PhraseReader(self._reader.model)

    def check_documents(self, pairs: Sequence[EditorPair]) -> None:
        """Raise BadInput if a document of the pairs is not in the index."""
        ids = [(pair, id) for pair in pairs for id in (pair.a, pair.b)]
        for (pair, id), document in zip(ids, self._reader.fetch([id for _, id in ids]), strict=True):
            if document is None:
                raise BadInput(
                    f"the corpus of {pair.kind} has no document {id!r}, which {pair.pair} compares",
                    fix="make it again with python -m tests.tools.make_editor_corpora",
                )

    def compare(self, pair: EditorPair, run: MethodRun) -> PairOutcome:
        """Return the lists that a method shows for a pair."""
        options = {"cap": self._cap, **dict(run.changes)}
        sides = (Side.from_id(pair.a), Side.from_id(pair.b))
        spec = self._comparer.make_spec(self._index, *sides, method=run.method, preset=run.preset, options=options)
        answer = self._comparer.compare(spec)
        return PairOutcome(pair, {name: self._read_list(pair, name, getattr(answer, name)) for name in LIST_NAMES})

    def _read_list(self, pair: EditorPair, name: str, entries: Sequence[Entry]) -> ListOutcome:
        shown = tuple(self._read_entry(pair, name, entry) for entry in entries)
        return ListOutcome(shown, tuple((text, self._phrases.read(text)) for text in pair.lists[name]))

    def _read_entry(self, pair: EditorPair, name: str, entry: Entry) -> ShownPhrase:
        readings = tuple(map(self._phrases.read, (entry.display, *entry.also)))
        kept = self._verdicts.find(pair.pair, name, entry.display)
        return ShownPhrase(entry.display, entry.also, float(entry.score), entry.kind, readings, kept)


def _build_table(runs: Sequence[MethodRun], by_run: Mapping[str, Sequence[PairOutcome]], seed: int) -> dict[str, Any]:
    """Return the number of pairs, and a row with the figures of each group of lists for every run."""
    rows = []
    for run in runs:
        outcomes = by_run[run.name]
        row: dict[str, Any] = {"name": run.name, "method": run.method, "preset": run.preset}
        row["changes"] = dict(run.changes)
        for group, names in LIST_GROUPS.items():
            row[group] = summarise_lists([[outcome.lists[name] for name in names] for outcome in outcomes], seed)
        rows.append(row)
    return {"pairs": len(by_run[runs[0].name]), "rows": rows}


def _describe_outcome(outcome: PairOutcome) -> dict[str, Any]:
    """Return what a visitor sees of a pair, and which of the editor's phrases that says."""
    pair = outcome.pair
    described = {name: _describe_list(listed) for name, listed in outcome.lists.items()}
    return {"kind": pair.kind, "pair": pair.pair, "half": pair.half, "a": pair.a, "b": pair.b, **described}


def _describe_list(listed: ListOutcome) -> dict[str, Any]:
    editor = []
    for text, words in listed.editor:
        similarity, display = listed.find_nearest(words)
        found = "exactly" if similarity >= EXACT else "nearly" if similarity >= NEAR else None
        editor.append({"phrase": text, "found": found, **({"by": display} if found else {})})
    shown = []
    for phrase in listed.shown:
        entry: dict[str, Any] = {"display": phrase.display, "kind": phrase.kind, "score": phrase.score}
        entry |= {"also": list(phrase.also)} if phrase.also else {}
        shown.append(entry | ({} if phrase.kept is None else {"kept": phrase.kept}))
    return {"shown": shown, "editor": editor}
