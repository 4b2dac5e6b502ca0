"""Quality of the mined phrases, measured by author keywords and by phrases that people labelled.

Keywords and labels are used to measure only: the miner gets nothing but the texts.
"""

from __future__ import annotations

import resource
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from indexer.analysis.analyzer import Analyzer
from indexer.documents import PAIR_SEPARATOR
from indexer.errors import BadInput
from indexer.mining.encoded_corpus import EncodedCorpus
from indexer.mining.model_builder import MinedPhrases
from indexer.mining.pipeline import mine_model
from indexer.model.phrase_model import PhraseModel
from indexer.progress import Progress, no_progress
from indexer.text.lemmatizer import Lemmatizer
from indexer.text.phrase_search import find_occurrences
from indexer.text.tokenizer import lemmatize_text
from worker.evaluation.gold import GoldDocument, read_background_documents, read_gold_documents
from worker.evaluation.quality_metrics import compute_auc

BEST_COUNT = 1000
"""Phrases among which the share of keywords is taken."""


@dataclass
class KeywordRecall:
    """Counts of author keywords over documents."""

    present: int = 0
    """Keywords that occur in the text of their document."""
    as_phrase: int = 0
    """Present keywords that are a phrase of their document."""
    as_salient: int = 0
    """Present keywords that are a salient phrase of their document."""
    missing: Counter[str] = field(default_factory=Counter)
    """Present keywords that are no phrase of their document."""
    not_salient: Counter[str] = field(default_factory=Counter)
    """Present keywords that are a phrase of their document, but not a salient one."""


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
    """Mine phrases and return all figures.

    Documents of ``gold`` are mined together with at most ``limit`` documents of ``corpus`` (evenly spread, 0 for all)
    that have other titles. ``keyphrases`` are the files whose keywords the best phrases are compared with, ``labels`` a
    file of labelled phrases.
    """
    any_lemmatizer = Lemmatizer("en")  # to compare titles; keywords need that of the model
    gold_documents = read_gold_documents([gold], any_lemmatizer)
    others = list(read_background_documents(corpus, gold_documents, any_lemmatizer))
    if limit and limit < len(others):
        others = [others[i] for i in np.linspace(0, len(others) - 1, limit).astype(int)]
    documents = [document.document for document in gold_documents] + others
    size = sum(len(d.title) + len(d.text) for d in documents)
    _import_libraries()
    before, started = _get_peak_memory(), time.perf_counter()
    quality: dict[str, float] = {}

    def record_candidate_quality(corpus: EncodedCorpus, mined: MinedPhrases) -> None:
        candidates = mined.candidates
        names = (" ".join(corpus.lemmas[w] for w in candidates.phrase_word_ids(p)) for p in range(candidates.size))
        quality.update(zip(names, candidates.quality.tolist(), strict=True))

    model = mine_model(documents, progress=progress, total=len(documents), on_phrases_mined=record_candidate_quality)
    seconds, memory = time.perf_counter() - started, _get_peak_memory() - before
    lemmatizer = model.lemmatizer
    recall = measure_keyword_recall(Analyzer(model), read_gold_documents([gold], lemmatizer), processes)
    keywords = frozenset().union(*(document.keywords for document in read_gold_documents(keyphrases, lemmatizer)))
    tokens = round(model.average_length * model.document_count)
    return {
        "documents": len(documents),
        "tokens": tokens,
        "phrases": len(model.phrases),
        "known_phrases": model.settings.get("known_phrases"),
        "best_are_keywords": compute_keyword_share(model, keywords),
        "label_auc": compute_label_auc(quality, labels, lemmatizer) if labels else None,
        "keywords_present": recall.present,
        "candidate_recall": recall.as_phrase / max(recall.present, 1),
        "salient_recall": recall.as_salient / max(recall.as_phrase, 1),
        "mining_tokens_per_second": tokens / seconds,
        "mining_memory_ratio": memory / max(size, 1),
        "lost_keywords": _list_most_frequent(recall.missing, examples),
        "dull_keywords": _list_most_frequent(recall.not_salient, examples),
        "best": [model.display_forms[i] for i in rank_multi_word_phrases(model)[:examples]],
        "random": sample_multi_word_phrases(model, examples),
    }


def rank_multi_word_phrases(model: PhraseModel) -> NDArray[np.int64]:
    """Return the ids of the multi-word phrases (no phrase pairs), the best by quality and support first."""
    is_multi_word = np.array([" " in name and PAIR_SEPARATOR not in name for name in model.phrases], dtype=np.bool_)
    rows = np.flatnonzero(is_multi_word)
    score = model.quality[rows] * np.log1p(model.document_frequency[rows])
    return rows[np.argsort(-score, kind="stable")]


def compute_keyword_share(model: PhraseModel, keywords: frozenset[str], best_count: int = BEST_COUNT) -> float:
    """Return the share of the best phrases that some author used as a keyword."""
    rows = rank_multi_word_phrases(model)[:best_count]
    return sum(model.phrases[i] in keywords for i in rows) / max(len(rows), 1)


def sample_multi_word_phrases(model: PhraseModel, max_count: int, seed: int = 7) -> list[str]:
    """Draw multi-word phrases uniformly."""
    rows = np.sort(rank_multi_word_phrases(model))
    return [model.display_forms[i] for i in np.random.default_rng(seed).permutation(rows)[:max_count]]


def compute_label_auc(
    quality_by_phrase: dict[str, float], labels_path: Path, lemmatizer: Lemmatizer
) -> dict[str, object]:
    """Return the area under the ROC curve of quality over labelled candidates, None if they are all good or all bad."""
    is_good = {name: good for name, good in _read_labels(labels_path, lemmatizer).items() if name in quality_by_phrase}
    positives = np.array(list(is_good.values()), dtype=np.bool_)
    good, bad = int(positives.sum()), int((~positives).sum())
    auc = compute_auc(np.array([quality_by_phrase[name] for name in is_good]), positives) if good and bad else None
    return {"auc": auc, "good": good, "bad": bad}


def _read_labels(path: Path, lemmatizer: Lemmatizer) -> dict[str, bool]:
    """Return whether people judged each phrase to be good."""
    labels: dict[str, bool] = {}
    try:
        for line in path.read_text("utf-8").splitlines():
            name, mark, *_ = line.split("\t")
            labels[lemmatize_text(name, lemmatizer)] = bool(int(mark))
    except ValueError:
        raise BadInput(
            f"cannot read the labels in {path}", fix="write one line per phrase: phrase, tab, 1 or 0"
        ) from None
    return labels


def measure_keyword_recall(analyzer: Analyzer, gold: Iterable[GoldDocument], processes: int = 1) -> KeywordRecall:
    """Count how many keywords that occur in a document are among its phrases and its salient phrases."""
    recall, gold = KeywordRecall(), list(gold)
    analysed_documents = analyzer.analyse_all((g.document for g in gold), processes=processes)
    for gold_document, analysed in zip(gold, analysed_documents, strict=True):
        phrases = set(analysed.phrases)
        salient = {member for s in analysed.salient for member in s.phrase.split(PAIR_SEPARATOR)}
        for keyword in sorted(gold_document.keywords):
            if find_occurrences(keyword, analysed.tokens):
                recall.present += 1
                recall.as_phrase += keyword in phrases
                recall.as_salient += keyword in phrases and keyword in salient
                if keyword not in phrases:
                    recall.missing[keyword] += 1
                elif keyword not in salient:
                    recall.not_salient[keyword] += 1
    return recall


def _list_most_frequent(counts: Counter[str], size: int) -> list[str]:
    return sorted(counts, key=lambda name: (-counts[name], name))[:size]


def _import_libraries() -> None:
    """Import what mining imports on first use, so that it is no part of its memory and time."""
    import_module("scipy.sparse.linalg")
    import_module("sklearn.ensemble")


def _get_peak_memory() -> int:
    """Return the peak memory of this process in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
