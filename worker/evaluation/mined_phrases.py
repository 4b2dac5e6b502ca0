"""How good the mined phrases are, against author keywords and phrases that people judged.

Keywords only measure: nothing here reaches the miner but the texts. Files are given by the caller; nothing is
looked up at a fixed place.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from indexer.analysis.analyzer import Analyser, mine
from indexer.documents import PAIR
from indexer.errors import BadInput
from indexer.mining.encoded_corpus import Corpus, Progress, no_progress
from indexer.mining.pipeline import Mined
from indexer.model.phrase_model import PhraseModel
from indexer.text.lemmatizer import Lemmas
from indexer.text.tokenizer import lemmatise, occurrences
from worker.evaluation.gold import GoldDocument, background, gold_documents

BEST = 1000


@dataclass
class Recall:
    """Counts over keywords that occur in their document."""

    present: int = 0
    found: int = 0
    """Among the document's phrases."""
    salient: int = 0
    lost: dict[str, int] = field(default_factory=dict)
    """Keywords that occur but are no phrase of their document, with how often."""
    dull: dict[str, int] = field(default_factory=dict)
    """Phrases of their document that are not among its salient ones."""


def evaluate_phrases(
    corpus: Sequence[Path],
    gold: Path,
    keyphrases: Sequence[Path],
    labels: Path | None = None,
    *,
    limit: int = 0,
    examples: int = 200,
    processes: int = 1,
    progress: Progress = no_progress,
) -> dict[str, object]:
    """All figures. The corpus is the documents of ``corpus`` (at most ``limit`` of them, evenly spread) whose titles
    none of ``gold`` has, and those of ``gold``; ``keyphrases`` say which phrases some author used as a keyword."""
    lemmas = Lemmas("en")
    marked = gold_documents([gold], lemmas)
    others = list(background(corpus, marked, lemmas))
    if limit and limit < len(others):
        others = [others[i] for i in np.linspace(0, len(others) - 1, limit).astype(int)]
    documents = [one.document for one in marked] + others
    size = sum(len(d.title) + len(d.text) for d in documents)
    _load_libraries()
    before, started = _memory(), time.perf_counter()
    quality: dict[str, float] = {}

    def learnt(corpus: Corpus, mined: Mined) -> None:
        found = mined.candidates
        names = (" ".join(corpus.lemmas[w] for w in found.spelled(p)) for p in range(found.size))
        quality.update(zip(names, found.quality.tolist(), strict=True))

    model = mine(documents, progress=progress, total=len(documents), learnt=learnt)
    mining, used = time.perf_counter() - started, _memory() - before
    recall = keyword_recall(Analyser(model), marked, processes)
    used_keywords = frozenset().union(*(one.keywords for one in gold_documents(keyphrases, lemmas)))
    tokens = round(model.average_length * model.documents)
    return {
        "documents": len(documents),
        "tokens": tokens,
        "phrases": len(model.phrases),
        "known_phrases": model.settings.get("known_phrases"),
        "best_are_keywords": best_share(model, used_keywords),
        "label_auc": label_auc(quality, labels, lemmas) if labels else None,
        "keywords_present": recall.present,
        "candidate_recall": recall.found / max(recall.present, 1),
        "salient_recall": recall.salient / max(recall.found, 1),
        "mining_tokens_per_second": tokens / mining,
        "mining_memory_ratio": used / max(size, 1),
        "lost_keywords": _most(recall.lost, examples),
        "dull_keywords": _most(recall.dull, examples),
        "best": [model.displays[i] for i in ranked(model)[:examples]],
        "random": random_phrases(model, examples),
    }


def ranked(model: PhraseModel) -> NDArray[np.int64]:
    """Multi-word phrases (no pairs), the best by quality and support first."""
    several = np.array([" " in name and PAIR not in name for name in model.phrases], dtype=np.bool_)
    rows = np.flatnonzero(several)
    score = model.quality[rows] * np.log1p(model.frequency[rows])
    return rows[np.argsort(-score, kind="stable")]


def best_share(model: PhraseModel, keywords: frozenset[str], best: int = BEST) -> float:
    """Share of the best phrases that some author used as a keyword."""
    rows = ranked(model)[:best]
    return sum(model.phrases[i] in keywords for i in rows) / max(len(rows), 1)


def random_phrases(model: PhraseModel, size: int, seed: int = 7) -> list[str]:
    """Accepted multi-word phrases, each as likely as any other."""
    rows = np.sort(ranked(model))
    return [model.displays[i] for i in np.random.default_rng(seed).permutation(rows)[:size]]


def label_auc(quality: dict[str, float], labels: Path, lemmas: Lemmas) -> dict[str, object]:
    """Area under the ROC curve of quality over labelled phrases that are candidates."""
    label = _labels(labels, lemmas)
    scores = [(quality[name], mark) for name, mark in label.items() if name in quality]
    good = np.array([score for score, mark in scores if mark])
    bad = np.array([score for score, mark in scores if not mark])
    if not len(good) or not len(bad):
        return {"auc": None, "good": len(good), "bad": len(bad)}
    wins = (good[:, None] > bad).mean() + 0.5 * (good[:, None] == bad).mean()
    return {"auc": float(wins), "good": len(good), "bad": len(bad)}


def _labels(path: Path, lemmas: Lemmas) -> dict[str, int]:
    """Phrase -> 1 or 0, as people judged it."""
    label: dict[str, int] = {}
    try:
        for line in path.read_text("utf-8").splitlines():
            name, mark, *_ = line.split("\t")
            label[lemmatise(name, lemmas)] = int(mark)
    except ValueError:
        raise BadInput(f"cannot read the labels in {path}", fix="write a line for each: phrase, tab, 1 or 0") from None
    return label


def keyword_recall(analyser: Analyser, marked: Iterable[GoldDocument], processes: int = 1) -> Recall:
    """Do documents have the keywords that occur in them as phrases, and as salient ones?"""
    recall, marked = Recall(), list(marked)
    for one, read in zip(marked, analyser.analyse_all((m.document for m in marked), processes=processes), strict=True):
        phrases = set(read.phrases)
        salient = {member for s in read.salient for member in s.phrase.split(PAIR)}
        for keyword in sorted(one.keywords):
            if occurrences(keyword, read.tokens):
                recall.present += 1
                recall.found += keyword in phrases
                recall.salient += keyword in phrases and keyword in salient
                if keyword not in phrases:
                    recall.lost[keyword] = recall.lost.get(keyword, 0) + 1
                elif keyword not in salient:
                    recall.dull[keyword] = recall.dull.get(keyword, 0) + 1
    return recall


def _most(counts: dict[str, int], size: int) -> list[str]:
    return sorted(counts, key=lambda name: (-counts[name], name))[:size]


def _load_libraries() -> None:
    """What mining imports when it is first needed: not part of its memory and time."""
    import_module("scipy.sparse.linalg")
    import_module("sklearn.ensemble")


def _memory() -> int:
    """The most memory this process has used, in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
