"""Small corpora in plain lists, turned into problems the way a comparison would."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from worker.methods import Problem
from worker.methods.tfidf import Text, members
from worker.solver.parameters import DEFAULT, Parameters
from worker.solver.seeds import Side
from worker.solver.subgraph import Subgraph


def problem_of(
    texts: Sequence[str], phrases: Sequence[str], *, a: int = 0, b: int = 1, parameters: Parameters = DEFAULT
) -> Problem:
    """Documents as strings of lemmas; a phrase is salient in a text that holds it."""
    tokens = [text.split() for text in texts]
    held = [Text(words) for words in tokens]
    counts = np.array([[len(text.spans(p)) for text in held] for p in phrases], dtype=np.int64).reshape(-1, len(texts))
    df = {word: sum(word in text.words for text in held) for word in {w for words in tokens for w in words}}
    partial = np.array([[bm25(p, text, df, len(texts)) for text in held] for p in phrases]).reshape(-1, len(texts))
    weights = np.where(counts > 0, partial, 0.0)
    rows, columns = np.nonzero(weights)
    graph = Subgraph.from_edges(rows, columns, weights[rows, columns], weights.sum(axis=1), weights.sum(axis=0))
    return Problem(
        phrases=list(phrases), parameters=parameters,
        in_a=counts[:, a] > 0, in_b=counts[:, b] > 0,
        salience_a=salience(counts[:, a]), salience_b=salience(counts[:, b]),
        occurs_a=counts[:, a], occurs_b=counts[:, b],
        held_a=weights[:, a] > 0, held_b=weights[:, b] > 0, edge_a=weights[:, a], edge_b=weights[:, b],
        partial_a=partial[:, a], partial_b=partial[:, b],
        graph=graph, side_a=Side([a]), side_b=Side([b]), background=graph.block().sum(axis=1),
        tokens_a=tokens[a], tokens_b=tokens[b], texts=tokens,
        frequency=(counts > 0).sum(axis=1), documents=len(texts), word_frequency=lambda word: df.get(word, 0),
    )  # fmt: skip


def bm25(phrase: str, text: Text, df: dict[str, int], documents: int) -> float:
    total = 0.0
    for word in {w for part in members(phrase) for w in part}:
        count = sum(token == word for token in text.tokens)
        rarity = math.log(1 + (documents - df.get(word, 0) + 0.5) / (df.get(word, 0) + 0.5))
        total += rarity * 2.2 * count / (count + 1.2)
    return total


def salience(counts: np.ndarray) -> np.ndarray:
    return counts / max(int(counts.max(initial=0)), 1)


def random_problem(seed: int, parameters: Parameters = DEFAULT, documents: int = 8) -> Problem:
    """Texts over a dozen words, phrases of one to three of them, one pair among the phrases."""
    rng = np.random.default_rng(seed)
    words = [f"w{i}" for i in range(12)]
    texts = [" ".join(rng.choice(words, int(rng.integers(3, 25)))) for _ in range(documents)]
    phrases = {" ".join(rng.choice(words, int(rng.integers(1, 4)))) for _ in range(int(rng.integers(1, 15)))}
    phrases.add("w0@@w1")
    found = problem_of(texts, sorted(phrases), a=0, b=1, parameters=parameters)
    return (
        found if found.candidates.any() else problem_of([*texts[:1], *texts], ["w0", words[1]], parameters=parameters)
    )
