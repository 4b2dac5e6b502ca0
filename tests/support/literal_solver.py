"""Algorithm 1 as printed, in plain loops: slow, simple and independent of the numeric core.

Three ambiguities are resolved as in the core: a negative f becomes 0, the threshold of Q'
uses Pi, and a score of 0 or less is never selected. Lists only; a matrix is a list of rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal, localcontext

Vector = list[float]


@dataclass
class LiteralSettings:
    alpha: float = 100.0
    lam: float = 0.1
    gamma: float = 1.0
    delta: float = 0.1
    inner: int = 5
    outer: int = 4


@dataclass
class LiteralState:
    f: Vector
    g: Vector
    fp: Vector
    gp: Vector
    objective: list[float]


def normalise_weights(w: list[Vector]) -> list[Vector]:
    m, n = len(w), len(w[0])
    dp = [sum(w[i][j] for j in range(n)) for i in range(m)]
    dd = [sum(w[i][j] for i in range(m)) for j in range(n)]
    return [[w[i][j] / math.sqrt(dp[i]) / math.sqrt(dd[j]) if w[i][j] else 0.0 for j in range(n)] for i in range(m)]


def make_seed(n: int, own: int, delta: float) -> Vector:
    return [(1.0 if j == own else 0.0) + delta for j in range(n)]


def compute_graph_loss(w: list[Vector], f: Vector, g: Vector, g0: Vector, alpha: float) -> float:
    """Eq. 7, the double sum."""
    m, n = len(w), len(w[0])
    dp = [sum(w[i][j] for j in range(n)) for i in range(m)]
    dd = [sum(w[i][j] for i in range(m)) for j in range(n)]
    total = 0.0
    for i in range(m):
        for j in range(n):
            if w[i][j]:
                total += w[i][j] * (f[i] / math.sqrt(dp[i]) - g[j] / math.sqrt(dd[j])) ** 2
    # a document without phrases has no term in the double sum; its update rule has one, |g_j|^2
    total += sum(g[j] ** 2 for j in range(n) if dd[j] == 0)
    return total + alpha * sum((g[j] - g0[j]) ** 2 for j in range(n))


def update_g(s: list[Vector], f: Vector, g0: Vector, alpha: float) -> Vector:
    return [(sum(s[i][j] * f[i] for i in range(len(s))) + alpha * g0[j]) / (1 + alpha) for j in range(len(g0))]


def multiply_row(s: list[Vector], i: int, g: Vector) -> float:
    return sum(s[i][j] * g[j] for j in range(len(g)))


def update_common_f(sg: float, other: float, lam_y: float) -> float:
    """Eq. 10, with 60 digits: as printed it is a difference of large numbers."""
    if other == 0 or lam_y == 0:  # without y the root is S_i g itself, and would leave 1e-60 of noise
        return sg
    with localcontext(prec=60):
        half, inverse = Decimal(sg) / 2, 1 / (2 * Decimal(other))
        return float(half - inverse + ((half + inverse) ** 2 + Decimal(lam_y)).sqrt())


def update_distinct_f(sg: float, gamma: float, lam_d: float) -> float:
    """Eq. 15, projected."""
    inside = ((gamma + sg) / 2) ** 2 + lam_d
    return max(0.0, -(gamma - sg) / 2 + math.sqrt(inside)) if inside >= 0 else 0.0


def score_common(f: float, fp: float) -> float:
    """Phi."""
    return math.log(1 + f * fp)


def score_distinct(f: float, fp: float, gamma: float) -> float:
    """Pi."""
    return math.log((f + gamma) / (fp + gamma))


def average(values: Vector) -> float:
    return sum(values) / len(values) if values else 0.0


def reaches_threshold(score: float, threshold: float) -> bool:
    return score >= threshold - 1e-12 * abs(threshold) and score > 0


def select_common(f: Vector, fp: Vector, s_a: set[int], s_b: set[int]) -> list[int]:
    scores = [score_common(f[i], fp[i]) for i in range(len(f))]
    threshold_a, threshold_b = (average([scores[i] for i in sorted(s)]) for s in (s_a, s_b))
    return [
        1 if i in s_a | s_b and reaches_threshold(score, threshold_a) and reaches_threshold(score, threshold_b) else 0
        for i, score in enumerate(scores)
    ]


def select_distinct(f: Vector, fp: Vector, own: set[int], common: set[int], gamma: float) -> list[int]:
    scores = [score_distinct(f[i], fp[i], gamma) for i in range(len(f))]
    threshold = average([scores[i] for i in sorted(own)])
    return [1 if i in own - common and reaches_threshold(score, threshold) else 0 for i, score in enumerate(scores)]


def solve(
    w: list[Vector], own_a: int, own_b: int, s_a: set[int], s_b: set[int], settings: LiteralSettings,
    common: set[int] | None = None,
) -> tuple[LiteralState, list[int], list[int]]:  # fmt: skip
    """Solve the common problem if ``common`` is None, else the distinct one; return the state, y (or y^c) and y'."""
    m, n, c = len(w), len(w[0]), settings
    s = normalise_weights(w)
    g0, gp0 = make_seed(n, own_a, c.delta), make_seed(n, own_b, c.delta)
    f, fp, g, gp = [0.0] * m, [0.0] * m, [0.0] * n, [0.0] * n
    y, yp = [0] * m, [0] * m
    earlier = [(y, yp)]
    states: list[tuple[float, int, Vector, Vector, Vector, Vector, list[int], list[int]]] = []
    objective: list[float] = []
    for _ in range(c.outer):
        for _ in range(c.inner):
            sg = [multiply_row(s, i, g) for i in range(m)]
            if common is None:
                f = [update_common_f(sg[i], fp[i], c.lam * y[i]) for i in range(m)]
            else:
                f = [update_distinct_f(sg[i], c.gamma, c.lam * (y[i] - yp[i])) for i in range(m)]
            g = update_g(s, f, g0, c.alpha)
            sg = [multiply_row(s, i, gp) for i in range(m)]
            if common is None:
                fp = [update_common_f(sg[i], f[i], c.lam * y[i]) for i in range(m)]
            else:
                fp = [update_distinct_f(sg[i], c.gamma, c.lam * (yp[i] - y[i])) for i in range(m)]
            gp = update_g(s, fp, gp0, c.alpha)
        previous = (y, yp)
        if common is None:
            y = select_common(f, fp, s_a, s_b)
            gain = sum(y[i] * score_common(f[i], fp[i]) for i in range(m))
        else:
            y = select_distinct(f, fp, s_a, common, c.gamma)
            yp = select_distinct(fp, f, s_b, common, c.gamma)
            gain = sum((y[i] - yp[i]) * score_distinct(f[i], fp[i], c.gamma) for i in range(m))
        loss = compute_graph_loss(w, f, g, g0, c.alpha) / 2 + compute_graph_loss(w, fp, gp, gp0, c.alpha) / 2
        objective.append(loss - c.lam * gain)
        states.append((objective[-1], len(states), f, g, fp, gp, y, yp))
        if (y, yp) == previous:
            break
        if (y, yp) in earlier or len(states) == c.outer:
            _, _, f, g, fp, gp, y, yp = min(states, key=lambda state: (state[0], -state[1]))
            break
        earlier.append((y, yp))
    return LiteralState(f, g, fp, gp, objective), y, yp
