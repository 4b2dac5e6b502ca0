"""A small corpus of analysed documents with its phrase model, made without mining; a seed always gives the same.

A draft is an analysed document whose weights and degree are not computed yet.
"""

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
"""The phrases a generated document may contain, some of them with characters that query languages use."""

FILLER = tuple(f"word{i}" for i in range(40))
PHRASE_PAIR = f"web graph{PAIR_SEPARATOR}random walk"


@dataclass(frozen=True)
class AnalysedCorpus:
    """Analysed documents and the phrase model of the epoch they form."""

    documents: list[AnalysedDocument]
    model: PhraseModel

    def documents_by_id(self) -> dict[str, AnalysedDocument]:
        return {analysed.document.id: analysed for analysed in self.documents}

    def make_info(self, name: str, epoch: str = "epoch-1") -> IndexInfo:
        return IndexInfo(
            name=name,
            epoch=epoch,
            documents=len(self.documents),
            phrases=len(self.model.phrases),
            edges=sum(len(analysed.phrases) for analysed in self.documents),
            created="2024-05-06T07:08:09+00:00",
            settings={"language": "en", "k": 30, "mu": 3.0},
        )


def write_index(engine: Engine, corpus: AnalysedCorpus, name: str = "papers", epoch: str = "epoch-1") -> Reader:
    """Write the corpus as a new epoch of the index and open it."""
    with engine.start_build(name) as building:
        building.write(corpus.documents)
        building.commit(corpus.model, corpus.make_info(name, epoch))
    return engine.open_reader(name)


def make_corpus(size: int = 60, seed: int = 1, ids: Sequence[str] | None = None) -> AnalysedCorpus:
    names = list(ids) if ids is not None else [f"doc-{i:04d}" for i in range(size)]
    return weigh_drafts([_generate_draft(name, random.Random(f"{seed}/{name}")) for name in names])


def weigh_drafts(drafts: Sequence[AnalysedDocument]) -> AnalysedCorpus:
    """Build the model of the epoch that the drafts form, and weigh each draft with it."""
    model = _build_model(drafts)
    documents = [weigh_document(draft, model) for draft in drafts]
    degree: Counter[str] = Counter()
    for analysed in documents:
        degree.update(dict(zip(analysed.phrases, analysed.weights, strict=True)))
    return AnalysedCorpus(documents, replace(model, degree=np.array([degree[phrase] for phrase in model.phrases])))


def weigh_document(draft: AnalysedDocument, model: PhraseModel) -> AnalysedDocument:
    weights = Bm25Scorer(model).score_phrases(draft.tokens.split(), draft.phrases)
    return replace(draft, weights=tuple(weights.tolist()), degree=float(weights.sum()))


def make_draft(
    name: str, lines: Sequence[str] = (), phrases: Sequence[str] = (), *, salient: Sequence[str] = (), **fields: object
) -> AnalysedDocument:
    """Return a document without weights; ``lines`` are its tokens, ``fields`` further fields of Document."""
    document = Document(id=name, title=f"Title of {name}", text="\n".join(lines), **fields)  # type: ignore[arg-type]
    salient_phrases = tuple(SalientPhrase(phrase, 0.5, 1, (("text", 0, 3),)) for phrase in salient)
    return AnalysedDocument(
        document, "\n".join(lines), tuple(phrases), (), salient_phrases, 0.0, document.compute_version()
    )


def _generate_draft(name: str, rng: random.Random) -> AnalysedDocument:
    phrases = rng.sample(PHRASES, rng.randint(2, 7))
    lines = []
    for phrase in phrases:
        for _ in range(rng.choice((1, 1, 1, 2, 4))):
            lines.append(" ".join([*rng.choices(FILLER, k=rng.randint(0, 9)), phrase]))
    rng.shuffle(lines)
    if {"web graph", "random walk"} <= set(phrases):
        phrases.append(PHRASE_PAIR)
    month, day = rng.randint(1, 12), rng.randint(1, 28)
    return make_draft(
        name,
        lines,
        phrases,
        salient=phrases[:3],
        date=f"2020-{month:02d}-{day:02d}",
        url=f"https://example.org/{name}",
        facets={"venue": (rng.choice(("ACL", "ICML", "Le Monde")),), "tag": tuple(rng.sample("abcd", 2))},
        acl=rng.choice(((), (), ("staff",), ("staff", "board"))),
        extra={"pages": rng.randint(1, 30)},
    )


def _build_model(drafts: Sequence[AnalysedDocument]) -> PhraseModel:
    texts = [draft.tokens.split() for draft in drafts]
    texts = [text for text in texts if text]
    words = sorted({word for text in texts for word in text})
    in_documents = Counter(word for text in texts for word in set(text))
    phrases = sorted({phrase for draft in drafts for phrase in draft.phrases})
    document_frequency = Counter(phrase for draft in drafts for phrase in draft.phrases)
    return PhraseModel(
        settings={"language": "en"},
        document_count=len(texts),
        average_length=sum(map(len, texts)) / len(texts) if texts else 0.0,
        phrases=phrases,
        display_forms=[phrase.replace(PAIR_SEPARATOR, " + ").title() for phrase in phrases],
        document_frequency=np.array([document_frequency[phrase] for phrase in phrases], dtype=np.int32),
        quality=np.linspace(0.1, 1.0, len(phrases), dtype=np.float32),
        degree=np.zeros(len(phrases)),
        background=np.linspace(0.0, 2.0, len(phrases)),
        words=words,
        word_document_frequency=np.array([in_documents[word] for word in words], dtype=np.int32),
        phrase_starts=np.arange(5, dtype=np.int64),
    )
