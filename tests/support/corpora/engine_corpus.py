"""A small made-up corpus: the same seed gives the same analysed documents and the same phrase model."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from indexer.documents import PAIR_SEPARATOR, AnalysedDocument, Document, SalientPhrase
from indexer.engines.base import Engine, Reader
from indexer.engines.search_types import IndexInfo
from indexer.model.bm25 import Bm25Scorer
from indexer.model.phrase_model import PhraseModel

PHRASES = (
    "graph",
    "web graph",
    "link analysis",
    "random walk",
    "walk",
    "spam mail filter",
    "mail",
    "topic model",
    "model",
    "naïve bayes",
    "c++",
    'say "cheese"',
    "a*b?",
    "(half] open",
    "50%",
    "back\\slash",
    "日本 語",
    "and or not",
)
"""The phrases a generated document may hold, some of them with characters that query languages use."""

FILLER = tuple(f"word{i}" for i in range(40))
WORDS = sorted({word for phrase in PHRASES for word in phrase.split()} | set(FILLER))
PAIRED = f"web graph{PAIR_SEPARATOR}random walk"


@dataclass(frozen=True)
class Corpus:
    documents: list[AnalysedDocument]
    model: PhraseModel

    def by_id(self) -> dict[str, AnalysedDocument]:
        return {analysed.document.id: analysed for analysed in self.documents}

    def info(self, name: str, epoch: str = "epoch-1") -> IndexInfo:
        return IndexInfo(
            name=name,
            epoch=epoch,
            documents=len(self.documents),
            phrases=len(self.model.phrases),
            edges=sum(len(analysed.phrases) for analysed in self.documents),
            created="2024-05-06T07:08:09+00:00",
            settings={"language": "en", "k": 30, "mu": 3.0},
        )


def build(engine: Engine, corpus: Corpus, name: str = "papers", epoch: str = "epoch-1") -> Reader:
    """Write the corpus as a new epoch and open it."""
    with engine.start_build(name) as building:
        building.write(corpus.documents)
        building.commit(corpus.model, corpus.info(name, epoch))
    return engine.open_reader(name)


def make_corpus(size: int = 60, seed: int = 1, ids: Sequence[str] | None = None) -> Corpus:
    names = list(ids) if ids is not None else [f"doc-{i:04d}" for i in range(size)]
    return analyse([_draft(name, random.Random(f"{seed}/{name}")) for name in names])


def analyse(drafts: Sequence[AnalysedDocument]) -> Corpus:
    """The drafts with weights and degrees of the epoch that they make up, and its model."""
    model = _model(drafts)
    documents = [weigh(draft, model) for draft in drafts]
    degree: Counter[str] = Counter()
    for analysed in documents:
        degree.update(dict(zip(analysed.phrases, analysed.weights, strict=True)))
    return Corpus(documents, replace(model, degree=np.array([degree[phrase] for phrase in model.phrases])))


def weigh(draft: AnalysedDocument, model: PhraseModel) -> AnalysedDocument:
    weights = Bm25Scorer(model).score_phrases(draft.tokens.split(), draft.phrases)
    return replace(draft, weights=tuple(weights.tolist()), degree=float(weights.sum()))


def draft(
    name: str, lines: Sequence[str] = (), phrases: Sequence[str] = (), *, salient: Sequence[str] = (), **fields: object
) -> AnalysedDocument:
    """An analysed document without weights; ``lines`` are its tokens."""
    document = Document(id=name, title=f"Title of {name}", text="\n".join(lines), **fields)  # type: ignore[arg-type]
    found = tuple(SalientPhrase(phrase, 0.5, 1, (("text", 0, 3),)) for phrase in salient)
    return AnalysedDocument(document, "\n".join(lines), tuple(phrases), (), found, 0.0, document.compute_version())


def _draft(name: str, chance: random.Random) -> AnalysedDocument:
    held = chance.sample(PHRASES, chance.randint(2, 7))
    lines = []
    for phrase in held:
        for _ in range(chance.choice((1, 1, 1, 2, 4))):
            lines.append(" ".join([*chance.choices(FILLER, k=chance.randint(0, 9)), phrase]))
    chance.shuffle(lines)
    if {"web graph", "random walk"} <= set(held):
        held.append(PAIRED)
    month, day = chance.randint(1, 12), chance.randint(1, 28)
    return draft(
        name,
        lines,
        held,
        salient=held[:3],
        date=f"2020-{month:02d}-{day:02d}",
        url=f"https://example.org/{name}",
        facets={"venue": (chance.choice(("ACL", "ICML", "Le Monde")),), "tag": tuple(chance.sample("abcd", 2))},
        acl=chance.choice(((), (), ("staff",), ("staff", "board"))),
        extra={"pages": chance.randint(1, 30)},
    )


def _model(drafts: Sequence[AnalysedDocument]) -> PhraseModel:
    texts = [draft.tokens.split() for draft in drafts]
    texts = [text for text in texts if text]
    words = sorted({word for text in texts for word in text})
    in_documents = Counter(word for text in texts for word in set(text))
    phrases = sorted({phrase for draft in drafts for phrase in draft.phrases})
    held_by = Counter(phrase for draft in drafts for phrase in draft.phrases)
    return PhraseModel(
        settings={"language": "en"},
        document_count=len(texts),
        average_length=sum(map(len, texts)) / len(texts) if texts else 0.0,
        phrases=phrases,
        display_forms=[phrase.replace(PAIR_SEPARATOR, " + ").title() for phrase in phrases],
        document_frequency=np.array([held_by[phrase] for phrase in phrases], dtype=np.int32),
        quality=np.linspace(0.1, 1.0, len(phrases), dtype=np.float32),
        degree=np.zeros(len(phrases)),
        background=np.linspace(0.0, 2.0, len(phrases)),
        words=words,
        word_document_frequency=np.array([in_documents[word] for word in words], dtype=np.int32),
        phrase_starts=np.arange(5, dtype=np.int64),
    )
