"""Mining: documents -> encoded corpus -> phrases -> phrase model, the steps in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from indexer.defaults import DEFAULT_K, DEFAULT_MU
from indexer.documents import Document
from indexer.mining.acronyms import count_acronym_expansions, find_explained_acronyms, select_long_forms
from indexer.mining.encoded_corpus import EncodedCorpus, count_document_frequency, encode_corpus
from indexer.mining.features import PHRASE_FEATURES, PatternCandidates, collect_phrase_candidates
from indexer.mining.frequent_patterns import choose_min_support, find_frequent_patterns
from indexer.mining.mined_batches import MinedBatches
from indexer.mining.model_builder import MinedPhrases, build_model, learn_corpus_topics
from indexer.mining.pattern_statistics import PatternStatistics
from indexer.mining.phrase_quality import (
    count_segments,
    encode_known_phrases,
    load_known_phrases,
    score_phrase_candidates,
)
from indexer.mining.rare_phrases import RareQualityModel, find_rare_phrases
from indexer.mining.word_quality import WordScores, score_words
from indexer.model.phrase_model import ModelSettings, PhraseModel
from indexer.progress import Progress, no_progress
from indexer.runtime.memory import trim_heap
from indexer.runtime.process_pool import run_in_background
from indexer.segmentation.phrase_set import PhraseSet
from indexer.text.lemmatizer import Lemmatizer
from indexer.text.stopwords import mark_stopwords

_STEPS = 6
"""Steps of the stage "phrases" that progress reports."""
_MAX_BACKGROUND_WORDS = 150_000
"""Words of a corpus up to which its topics are learned while phrases are mined; with more, both need too much memory to
be in it at the same time."""


@dataclass(frozen=True)
class QualityThresholds:
    """Minimum quality from which a candidate is a phrase."""

    phrase: float = 0.13
    word: float = 0.15
    rare: float = 0.22
    nested: float = 0.15
    """Of a phrase that also counts inside a longer segment."""
    segment_share: float = 0.05
    """Minimum share of its occurrences in which a phrase is a segment of its own (the non-segmented ratio)."""


def mine_model(
    documents: Iterable[Document],
    *,
    language: str = "en",
    min_support: int | None = None,
    k: int = DEFAULT_K,
    mu: float = DEFAULT_MU,
    thresholds: QualityThresholds = QualityThresholds(),  # noqa: B008
    processes: int = 1,
    total: int = 0,
    progress: Progress = no_progress,
    on_phrases_mined: Callable[[EncodedCorpus, MinedPhrases], None] | None = None,
    on_batches_mined: Callable[[MinedBatches], None] | None = None,
) -> PhraseModel:
    """Mine the phrase model of a corpus; read the stream of documents once.

    ``total`` is their number for the progress, 0 if unknown; ``k`` and ``mu`` are stored for the analysis.
    ``on_phrases_mined`` is called before the model is built, ``on_batches_mined`` at the end with what saves an
    analysis of the same documents from segmenting them again (``Analyzer.analyse_and_prepare_segmented``).
    """
    keep_batches = on_batches_mined is not None
    corpus = encode_corpus(documents, language, progress, total, processes, with_piece_lengths=keep_batches)
    lemmatizer = Lemmatizer(language, corpus.lemma_table)
    trim_heap()
    frequency = count_document_frequency(corpus)
    # in the background: much of mining keeps only one process busy
    topic_processes = processes if len(corpus.lemmas) <= _MAX_BACKGROUND_WORDS else 1
    with run_in_background(partial(learn_corpus_topics, corpus, frequency), topic_processes) as get_topics:
        mined = mine_phrases(
            corpus, lemmatizer, frequency, thresholds, min_support, progress=progress, processes=processes
        )
    if on_phrases_mined:
        on_phrases_mined(corpus, mined)
    settings: ModelSettings = {
        "language": language,
        "min_support": mined.min_support,
        "k": k,
        "mu": mu,
        "salience": "default",
        "known_phrases": mined.known_phrase_count,
        "notes": [lemmatizer.note] if lemmatizer.note else [],
    }
    return build_model(corpus, mined, get_topics, settings, progress, processes, on_batches_mined)


def mine_phrases(
    corpus: EncodedCorpus,
    lemmatizer: Lemmatizer,
    document_frequency: NDArray[np.int32],
    thresholds: QualityThresholds = QualityThresholds(),  # noqa: B008
    min_support: int | None = None,
    progress: Progress = no_progress,
    processes: int = 1,
) -> MinedPhrases:
    """Find candidates, score them, add rare phrases, and drop fragments.

    ``document_frequency``: documents of each word, shape (words,). ``min_support`` None: chosen by the size of the
    corpus.
    """
    min_support = min_support or choose_min_support(corpus.token_count)
    vocabulary = _Vocabulary.collect(corpus, lemmatizer, document_frequency)
    statistics, words, candidates = _score_words_and_find_candidates(
        corpus, vocabulary, min_support, progress, processes
    )

    is_known = candidates.mark_known(corpus, vocabulary.known_phrases)
    quality = score_phrase_candidates(corpus, candidates, is_known, processes)
    frequent = candidates.to_phrase_set(corpus, quality)
    progress("phrases", 3, _STEPS)

    quality_model = RareQualityModel(candidates.features[:, :PHRASE_FEATURES], quality, processes)
    del candidates
    trim_heap()
    rare = find_rare_phrases(statistics, min_support, words.to_score_columns(), quality_model, thresholds.rare)
    progress("phrases", 4, _STEPS)

    single_words = select_single_words(corpus, words, thresholds.word)
    accepted = PhraseSet.concatenate([single_words, frequent.select(quality >= thresholds.phrase), *rare])
    phrases = drop_fragments(corpus, accepted, thresholds.segment_share, processes)
    progress("phrases", 5, _STEPS)
    return MinedPhrases(
        phrases=phrases.with_nested_marked(thresholds.nested),
        candidates=frequent,
        document_frequency=document_frequency,
        min_support=min_support,
        known_phrase_count=int(is_known.sum()),
        acronyms=select_long_forms(vocabulary.expansions, corpus.lemmas),
    )


@dataclass(frozen=True)
class _Vocabulary:
    """Facts about the words of a corpus that are known before any pattern is counted."""

    frequency: NDArray[np.int32]
    """Documents of each word, shape (words,)."""
    is_stopword: NDArray[np.bool_]
    is_edge_word: NDArray[np.bool_]
    """Whether the word may begin or end a phrase: no function word, no number; shape (words,)."""
    known_phrases: set[tuple[int, ...]]
    expansions: Counter[tuple[int, ...]]
    """Word sequences that explain an acronym, with their counts."""
    heads: NDArray[np.int64]
    """Ids of words known to name something: last words of known phrases, and explained acronyms."""
    modifiers: NDArray[np.int64]
    """Ids of words that begin known phrases."""

    @classmethod
    def collect(
        cls, corpus: EncodedCorpus, lemmatizer: Lemmatizer, document_frequency: NDArray[np.int32]
    ) -> _Vocabulary:
        is_stopword = mark_stopwords(corpus.lemmas, document_frequency, corpus.document_count, lemmatizer.language)
        has_letter = np.fromiter(
            (any(map(str.isalpha, lemma)) for lemma in corpus.lemmas), np.bool_, len(document_frequency)
        )
        word_ids = {word: i for i, word in enumerate(corpus.lemmas)}
        known = encode_known_phrases(load_known_phrases(), lemmatizer, word_ids)
        expansions = count_acronym_expansions(corpus)
        explained = find_explained_acronyms(expansions, word_ids, corpus.lemmas)
        return cls(
            document_frequency,
            is_stopword,
            has_letter & ~is_stopword,
            known,
            expansions,
            heads=np.union1d(explained, [phrase[-1] for phrase in known]).astype(np.int64),
            modifiers=np.unique([phrase[0] for phrase in known if len(phrase) > 1]).astype(np.int64),
        )


def _score_words_and_find_candidates(
    corpus: EncodedCorpus, vocabulary: _Vocabulary, min_support: int, progress: Progress, processes: int
) -> tuple[PatternStatistics, WordScores, PatternCandidates]:
    """Return the statistics (without their levels, which are large), the scores of words and the phrase candidates."""
    statistics = PatternStatistics(corpus, vocabulary.is_edge_word, vocabulary.known_phrases)
    patterns = find_frequent_patterns(
        corpus.lemma_ids, corpus.marks, len(corpus.lemmas), min_support, visit=statistics.add_level
    )
    progress("phrases", 1, _STEPS)
    words = score_words(
        patterns,
        statistics,
        vocabulary.is_stopword,
        vocabulary.frequency,
        vocabulary.heads,
        vocabulary.modifiers,
        min_support,
        processes,
    )
    progress("phrases", 2, _STEPS)
    candidates = collect_phrase_candidates(patterns, statistics, words.to_score_columns())
    statistics.levels.clear()
    del patterns
    trim_heap()
    return statistics, words, candidates


def select_single_words(corpus: EncodedCorpus, scores: WordScores, min_quality: float) -> PhraseSet:
    """Return the words that are phrases by themselves: of two characters or more, with two occurrences or more."""
    count = scores.count
    is_long = np.fromiter((len(lemma) > 1 for lemma in corpus.lemmas), np.bool_, len(corpus.lemmas))
    rows = np.flatnonzero((scores.quality >= min_quality) & is_long & (count > 1))
    return PhraseSet(
        starts=np.arange(len(rows) + 1, dtype=np.int64),
        word_ids=rows.astype(np.int32),
        quality=scores.quality[rows].astype(np.float32),
        count=count[rows],
        is_nested=np.zeros(len(rows), np.bool_),
    )


def drop_fragments(
    corpus: EncodedCorpus, phrases: PhraseSet, min_segment_share: float, processes: int = 1
) -> PhraseSet:
    """Return the single words, and the phrases that are a segment in this share of their occurrences or more."""
    segments = count_segments(corpus, phrases, processes=processes)
    return phrases.select((segments >= np.maximum(min_segment_share * phrases.count, 1)) | (phrases.lengths == 1))
