"""Problems of methods, made from a handful of texts the way a comparison makes them from an index."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from worker.methods.base import PairProblem, SideFeatures
from worker.methods.lemma_vectors import LemmaText, split_into_member_words
from worker.solver.parameters import DEFAULT, Parameters
from worker.solver.seeds import SeedSide
from worker.solver.subgraph import Subgraph


def make_problem(
    texts: Sequence[str], phrases: Sequence[str], *, a: int = 0, b: int = 1, parameters: Parameters = DEFAULT
) -> PairProblem:
    """Build the problem of texts ``a`` and ``b`` among texts of lemmas; every phrase of a text is salient in it."""
    tokens = [text.split() for text in texts]
    lemma_texts = [LemmaText(words) for words in tokens]
    df = {word: sum(word in text.words for text in lemma_texts) for word in {w for words in tokens for w in words}}
    shape = len(phrases), len(texts)
    counts = np.array([[len(text.find_spans(p)) for text in lemma_texts] for p in phrases], dtype=np.int64)
    word_bm25 = np.array([[score_bm25(p, text, df, len(texts)) for text in lemma_texts] for p in phrases])
    counts, word_bm25 = counts.reshape(shape), word_bm25.reshape(shape)  # without phrases they have no second dimension
    weights = np.where(counts > 0, word_bm25, 0.0)
    rows, columns = np.nonzero(weights)
    graph = Subgraph.from_edges(rows, columns, weights[rows, columns], weights.sum(axis=1), weights.sum(axis=0))
    a_features, b_features = (
        SideFeatures(
            is_salient=counts[:, side] > 0, salience=scale_salience(counts[:, side]), count=counts[:, side],
            document_count=(weights[:, side] > 0).astype(np.int64), bm25=weights[:, side], word_bm25=word_bm25[:, side],
            tokens=tokens[side], seed=SeedSide([side]),
        )
        for side in (a, b)
    )  # fmt: skip
    return PairProblem(
        phrases=list(phrases), a=a_features, b=b_features, parameters=parameters,
        graph=graph, background=graph.to_dense().sum(axis=1), neighbour_texts=tokens,
        document_frequency=(counts > 0).sum(axis=1), corpus_size=len(texts),
        word_document_frequency=lambda word: df.get(word, 0),
    )  # fmt: skip


def replace_features(problem: PairProblem, **changes: Any) -> PairProblem:
    """Return the problem with other values; a name that ends in ``_a`` or ``_b`` is a feature of that side."""
    a, b = ({n[:-2]: value for n, value in changes.items() if n.endswith(end)} for end in ("_a", "_b"))
    rest = {n: value for n, value in changes.items() if not n.endswith(("_a", "_b"))}
    return replace(problem, a=replace(problem.a, **a), b=replace(problem.b, **b), **rest)


def score_bm25(phrase: str, text: LemmaText, df: dict[str, int], document_count: int) -> float:
    """Return the BM25 of a phrase's words in a text, all texts being taken as equally long."""
    total = 0.0
    for word in {w for part in split_into_member_words(phrase) for w in part}:
        count = sum(token == word for token in text.tokens)
        rarity = math.log(1 + (document_count - df.get(word, 0) + 0.5) / (df.get(word, 0) + 0.5))
        total += rarity * 2.2 * count / (count + 1.2)
    return total


def scale_salience(counts: np.ndarray) -> np.ndarray:
    """Return counts as shares of the largest."""
    return counts / max(int(counts.max(initial=0)), 1)


def make_random_problem(seed: int, parameters: Parameters = DEFAULT, documents: int = 8) -> PairProblem:
    """Build a problem of texts over a dozen words, with phrases of one to three of them and one phrase pair."""
    rng = np.random.default_rng(seed)
    words = [f"w{i}" for i in range(12)]
    texts = [" ".join(rng.choice(words, int(rng.integers(3, 25)))) for _ in range(documents)]
    phrases = {" ".join(rng.choice(words, int(rng.integers(1, 4)))) for _ in range(int(rng.integers(1, 15)))}
    phrases.add("w0@@w1")
    problem = make_problem(texts, sorted(phrases), parameters=parameters)
    if problem.is_candidate.any():
        return problem
    return make_problem([*texts[:1], *texts], ["w0", words[1]], parameters=parameters)
