"""The generated corpus: always the same, with word frequencies and phrases like those of a language."""

from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import Path

from indexer.engines.base import Engine
from indexer.runtime.document_spool import encode_document
from tests.support.corpora.bench_corpus import DOCUMENT_COUNT, INDEX
from worker.benchmark.corpus import BenchCorpus
from worker.benchmark.generated_corpus import GeneratedLanguage, generate_documents

DIGEST = "7a2b9dbd26013eda"
"""SHA-256 of the first fifty documents; benchmarks before and after a change of it cannot be compared."""


def test_the_documents_are_the_same_on_every_machine() -> None:
    digest = hashlib.sha256(b"".join(map(encode_document, generate_documents(50)))).hexdigest()
    assert digest[:16] == DIGEST


def test_a_smaller_corpus_is_the_beginning_of_a_larger_one() -> None:
    assert list(generate_documents(20)) == list(generate_documents(40))[:20]


def test_another_seed_makes_other_documents() -> None:
    assert list(generate_documents(3, seed=1)) != list(generate_documents(3, seed=2))


def test_a_larger_language_has_more_words_and_topics() -> None:
    one, three = GeneratedLanguage.create(), GeneratedLanguage.create(size_factor=3)
    assert len(three.words.items) == 3 * len(one.words.items) and len(three.topics) == 3 * len(one.topics)
    assert len(set(three.words.items)) == len(three.words.items)


def test_few_words_are_frequent_and_many_are_rare() -> None:
    words = Counter(word for document in generate_documents(300) for word in document.text.lower().split())
    counts = sorted(words.values(), reverse=True)
    assert sum(counts[: len(counts) // 20]) > 0.4 * sum(counts)
    assert sum(count == 1 for count in counts) > 0.2 * len(counts)


def test_most_frequent_phrases_of_the_topics_are_mined(generated_embedded_engine: Engine) -> None:
    phrases = {phrase for topic in GeneratedLanguage.create().topics for phrase in topic.items[:5] if " " in phrase}
    texts = " ".join(document.text.lower() for document in generate_documents(DOCUMENT_COUNT))
    frequent = [phrase for phrase in phrases if texts.count(f" {phrase} ") >= 6]
    mined = set(generated_embedded_engine.open_reader(INDEX).model.phrases)
    assert len(frequent) > 20
    assert sum(phrase in mined for phrase in frequent) > 0.7 * len(frequent)


def test_a_smaller_corpus_on_disk_is_the_beginning_of_a_larger_one(tmp_path: Path) -> None:
    corpus = BenchCorpus.create(tmp_path, (), 20)
    assert list(corpus.read(5)) == list(generate_documents(5))
    assert [corpus.small_count, corpus.sizes[-1]] == [5, 20]
