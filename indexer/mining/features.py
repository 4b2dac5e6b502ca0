"""Features of patterns, from counts and evidence: one row of numbers a candidate.

Concordance (does it occur more often than its parts suggest), completeness (is it a fragment of a longer
pattern), informativeness (spread, titles, brackets, capitals, boundaries) and word class (inflection and the
function words around, of the pattern and of its first and last word).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from indexer.mining.frequent_patterns import Patterns
from indexer.mining.pattern_statistics import SUMS, Evidence, Level

Matrix = NDArray[np.float32]

_SMOOTH = 3.0
INNER = 0.65
"""What is left of the quality of a candidate with a function word inside."""


@dataclass(frozen=True)
class Candidates:
    """Multi-word candidates, or words: row r of ``features`` describes pattern ``rows[r]``."""

    rows: NDArray[np.int64]
    length: NDArray[np.int8]
    count: NDArray[np.int32]
    documents: NDArray[np.int32]
    example: NDArray[np.int64]
    features: Matrix


def shares(level: Level, count: NDArray[np.int32], rows: NDArray[np.int64]) -> Matrix:
    """Sums over occurrences as smoothed shares, shape (rows, len(SUMS))."""
    columns = []
    for name in SUMS:
        total = level.sums[name]
        prior = total.sum() / max(float(count[level.rows].sum()), 1.0)
        columns.append((total[rows] + _SMOOTH * prior) / (count[rows] + _SMOOTH))
    return np.stack(columns, axis=1).astype(np.float32)


def word_candidates(patterns: Patterns, evidence: Evidence, least: int = 1) -> Candidates:
    """Every word that may stand at the edge of a phrase and occurs ``least`` times."""
    level = evidence.levels[0]
    count = patterns.count[: level.size]
    rows = level.rows
    rows = rows[count[rows] >= least]
    return Candidates(
        rows=rows,
        length=np.ones(len(rows), np.int8),
        count=count[rows],
        documents=level.documents[rows],
        example=level.example[rows],
        features=np.concatenate(
            [shares(level, count, rows), _common(level, count, rows, evidence)], axis=1, dtype=np.float32
        ),
    )


def _common(level: Level, count: NDArray[np.int32], rows: NDArray[np.int64], evidence: Evidence) -> Matrix:
    documents = level.documents[rows]
    idf = np.log(max(evidence.corpus.documents, 1) / np.maximum(documents, 1))
    lengths = np.fromiter(map(len, evidence.corpus.lemmas), np.float32, len(evidence.corpus.lemmas))
    size = lengths[evidence.corpus.words[level.example[rows]]] if len(evidence.corpus.words) else idf
    return np.stack([np.log(np.maximum(count[rows], 1)), idf, documents / np.maximum(count[rows], 1), size], axis=1)


def phrase_features(
    level: Level, count: NDArray[np.int32], local: NDArray[np.int64], evidence: Evidence, word_scores: Matrix
) -> Matrix:
    """What does not depend on how often the pattern occurs: evidence, length and words. Shape (local, features)."""
    spelled = evidence.corpus.words[level.example[local][:, None] + np.arange(level.n)]
    inner = (~evidence.edge[spelled]).sum(axis=1, keepdims=True)
    scores = word_scores[spelled]
    lengths = np.full((len(local), 1), level.n)
    return np.concatenate(
        [shares(level, count, local), lengths, inner, scores[:, 0], scores[:, -1], scores.min(axis=1)], axis=1
    ).astype(np.float32)


def plain_features(word_scores: Matrix) -> int:
    """How many columns ``phrase_features`` has: the first of every multi-word candidate's."""
    return len(SUMS) + 2 + 3 * int(word_scores.shape[1])


def soundness(features: Matrix, usual: float) -> NDArray[np.float32]:
    """A factor per candidate, about 1: less for what is no name by its form, a little more for what titles name.

    What follows a hyphen is half a word ("driven approach"); a hyphenated pattern before another word is used as an
    adjective ("worst-case"); a name seldom ends in a participle, holds function words, or begins with a word that
    authors keep out of titles ("earlier methods"). What stands in titles more than is ``usual`` may look like an
    adjective: authors find it worth naming ("zero-shot", "self-supervised").
    """

    def share(name: str) -> NDArray[np.float32]:
        return features[:, SUMS.index(name)]

    titled = share("title") / (share("title") + usual) if usual > 0 else np.full(len(features), 0.5)
    doubt = 1 - 0.6 * np.clip((titled - 0.5) / 0.25, 0, 1)
    attributive = share("hyphen") * np.clip((share("right_word") + share("right_hyphen") - 0.4) / 0.3, 0, 1)
    inner = np.where(features[:, len(SUMS) + 1] > 0, INNER, 1.0)
    first = features[:, len(SUMS) + 4]
    # a function word can only be first where a hyphen ties it to the rest: that says nothing about titles
    dull = np.where(first > 0, 0.5 + 0.5 * np.clip(first / 0.35, 0, 1), 1.0)
    whole = (1 - share("left_hyphen")) * share("fit")
    form = (1 - 0.7 * doubt * attributive) * (1 - 0.6 * doubt * share("last_ed")) * inner * dull
    return np.asarray(whole * form * (0.75 + 0.5 * titled), dtype=np.float32)


def usual_titles(features: Matrix, count: NDArray[np.int32]) -> float:
    """The share of all candidates' occurrences that stand in titles."""
    return float((features[:, SUMS.index("title")] * count).sum() / max(int(count.sum()), 1))


def phrase_candidates(patterns: Patterns, evidence: Evidence, word_scores: Matrix) -> list[Candidates]:
    """Every multi-word pattern with possible words at its edges, by length."""
    concord = concordance(patterns, evidence.corpus.tokens)
    complete = completeness(patterns)
    parts: list[Candidates] = []
    for level, base in zip(evidence.levels[1:], evidence.base[1:], strict=False):
        local = level.rows
        count = patterns.count[base : base + level.size]
        parts.append(
            Candidates(
                rows=local + base,
                length=np.full(len(local), level.n, np.int8),
                count=count[local],
                documents=level.documents[local],
                example=level.example[local],
                features=np.concatenate(
                    [
                        phrase_features(level, count, local, evidence, word_scores),
                        _common(level, count, local, evidence)[:, 2:],
                        title_lift(level, count, local),
                        concord[local + base],
                        complete[local + base],
                    ],
                    axis=1,
                ),
            )
        )
    return parts


def title_lift(level: Level, count: NDArray[np.int32], local: NDArray[np.int64]) -> Matrix:
    """Occurrences in titles against those expected of any candidate, as a log ratio, shape (local, 1)."""
    titles = level.sums["title"]
    usual = titles.sum() / max(float(count[level.rows].sum()), 1.0)
    lift = np.log((titles[local] + 0.5) / (count[local] * usual + 0.5))
    return np.asarray(lift[:, None], dtype=np.float32)


def column(candidates: Candidates, name: str) -> Matrix:
    """The share of occurrences of one kind, shape (candidates,)."""
    return candidates.features[:, SUMS.index(name)]


def joined(parts: list[Candidates]) -> Candidates:
    return Candidates(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in Candidates.__dataclass_fields__)
    )


def concordance(patterns: Patterns, tokens: int) -> Matrix:
    """PMI and pointwise KL divergence of the least surprising split, shape (patterns, 2)."""
    log_p = np.log(np.maximum(patterns.count, 1) / max(tokens, 1))
    best = np.full(patterns.size, -np.inf)
    for n in range(2, len(patterns.levels)):
        rows = np.arange(patterns.levels[n - 1], patterns.levels[n])
        head = rows
        for left in range(n - 1, 0, -1):
            head = patterns.prefix[head].astype(np.int64)
            tail = rows
            for _ in range(left):
                tail = patterns.suffix[tail].astype(np.int64)
            best[rows] = np.maximum(best[rows], log_p[head] + log_p[tail])
    pmi = np.where(np.isfinite(best), log_p - best, 0.0)
    return np.stack([pmi, pmi * patterns.count / np.sqrt(np.maximum(patterns.count, 1))], axis=1).astype(np.float32)


def completeness(patterns: Patterns) -> Matrix:
    """Largest share of its occurrences inside one longer pattern (to the right, to the left), and its own
    share of its rarer and of its more frequent part, shape (patterns, 4)."""
    count = patterns.count.astype(np.float64)
    longer = np.zeros((patterns.size, 2))
    multi = slice(int(patterns.levels[1]), patterns.size)
    np.maximum.at(longer[:, 0], patterns.prefix[multi], count[multi])
    np.maximum.at(longer[:, 1], patterns.suffix[multi], count[multi])
    parts = np.stack([count[patterns.prefix], count[patterns.suffix]], axis=1)
    of_parts = count[:, None] / np.maximum(np.stack([parts.min(axis=1), parts.max(axis=1)], axis=1), 1)
    return np.concatenate([longer / np.maximum(count, 1)[:, None], of_parts], axis=1).astype(np.float32)
