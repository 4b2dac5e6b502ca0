"""Algorithm 1 as printed, in plain loops: slow, simple and independent of the numeric core.

Three resolved ambiguities are the same as in the core: a negative f becomes 0, the threshold of Q'
uses Pi, and a score of 0 or less is never selected. Lists only; a matrix is a list of rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal, localcontext

Vector = list[float]


@dataclass
class Settings:
    alpha: float = 100.0
    lam: float = 0.1
    gamma: float = 1.0
    delta: float = 0.1
    inner: int = 5
    outer: int = 4


@dataclass
class State:
    f: Vector
    g: Vector
    fp: Vector
    gp: Vector
    objective: list[float]


def normalise(w: list[Vector]) -> list[Vector]:
    m, n = len(w), len(w[0])
    dp = [sum(w[i][j] for j in range(n)) for i in range(m)]
    dd = [sum(w[i][j] for i in range(m)) for j in range(n)]
    return [[w[i][j] / math.sqrt(dp[i]) / math.sqrt(dd[j]) if w[i][j] else 0.0 for j in range(n)] for i in range(m)]


def seed(n: int, own: int, delta: float) -> Vector:
    return [(1.0 if j == own else 0.0) + delta for j in range(n)]


def graph_loss(w: list[Vector], f: Vector, g: Vector, g0: Vector, alpha: float) -> float:
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


def product(s: list[Vector], i: int, g: Vector) -> float:
    return sum(s[i][j] * g[j] for j in range(len(g)))


def common_f(sg: float, other: float, lam_y: float) -> float:
    """Eq. 10, with 60 digits: as printed it is a difference of large numbers."""
    if other == 0 or lam_y == 0:  # without y the root is S_i g itself, and would leave 1e-60 of noise
        return sg
    with localcontext(prec=60):
        half, inverse = Decimal(sg) / 2, 1 / (2 * Decimal(other))
        return float(half - inverse + ((half + inverse) ** 2 + Decimal(lam_y)).sqrt())


def distinct_f(sg: float, gamma: float, lam_d: float) -> float:
    """Eq. 15, projected."""
    inside = ((gamma + sg) / 2) ** 2 + lam_d
    return max(0.0, -(gamma - sg) / 2 + math.sqrt(inside)) if inside >= 0 else 0.0


def phi(f: float, fp: float) -> float:
    return math.log(1 + f * fp)


def pi(f: float, fp: float, gamma: float) -> float:
    return math.log((f + gamma) / (fp + gamma))


def mean(values: Vector) -> float:
    return sum(values) / len(values) if values else 0.0


def reaches(score: float, cut: float) -> bool:
    return score >= cut - 1e-12 * abs(cut) and score > 0


def select_common(f: Vector, fp: Vector, s_a: set[int], s_b: set[int]) -> list[int]:
    cut_a = mean([phi(f[i], fp[i]) for i in sorted(s_a)])
    cut_b = mean([phi(f[i], fp[i]) for i in sorted(s_b)])
    both = s_a | s_b
    return [
        1 if i in both and reaches(phi(f[i], fp[i]), cut_a) and reaches(phi(f[i], fp[i]), cut_b) else 0
        for i in range(len(f))
    ]


def select_distinct(f: Vector, fp: Vector, own: set[int], common: set[int], gamma: float) -> list[int]:
    cut = mean([pi(f[i], fp[i], gamma) for i in sorted(own)])
    return [1 if i in own - common and reaches(pi(f[i], fp[i], gamma), cut) else 0 for i in range(len(f))]


def solve(
    w: list[Vector], own_a: int, own_b: int, s_a: set[int], s_b: set[int], settings: Settings,
    common: set[int] | None = None,
) -> tuple[State, list[int], list[int]]:  # fmt: skip
    """The first problem where ``common`` is None, else the second. Returns the state, y (or y^c) and y'."""
    m, n, c = len(w), len(w[0]), settings
    s = normalise(w)
    g0, gp0 = seed(n, own_a, c.delta), seed(n, own_b, c.delta)
    f, fp, g, gp = [0.0] * m, [0.0] * m, [0.0] * n, [0.0] * n
    y, yp = [0] * m, [0] * m
    seen = [(y, yp)]
    kept: list[tuple[float, int, Vector, Vector, Vector, Vector, list[int], list[int]]] = []
    objective: list[float] = []
    for _ in range(c.outer):
        for _ in range(c.inner):
            sg = [product(s, i, g) for i in range(m)]
            if common is None:
                f = [common_f(sg[i], fp[i], c.lam * y[i]) for i in range(m)]
            else:
                f = [distinct_f(sg[i], c.gamma, c.lam * (y[i] - yp[i])) for i in range(m)]
            g = update_g(s, f, g0, c.alpha)
            sg = [product(s, i, gp) for i in range(m)]
            if common is None:
                fp = [common_f(sg[i], f[i], c.lam * y[i]) for i in range(m)]
            else:
                fp = [distinct_f(sg[i], c.gamma, c.lam * (yp[i] - y[i])) for i in range(m)]
            gp = update_g(s, fp, gp0, c.alpha)
        previous = (y, yp)
        if common is None:
            y = select_common(f, fp, s_a, s_b)
            gain = sum(y[i] * phi(f[i], fp[i]) for i in range(m))
        else:
            y = select_distinct(f, fp, s_a, common, c.gamma)
            yp = select_distinct(fp, f, s_b, common, c.gamma)
            gain = sum((y[i] - yp[i]) * pi(f[i], fp[i], c.gamma) for i in range(m))
        loss = graph_loss(w, f, g, g0, c.alpha) / 2 + graph_loss(w, fp, gp, gp0, c.alpha) / 2
        objective.append(loss - c.lam * gain)
        kept.append((objective[-1], len(kept), f, g, fp, gp, y, yp))
        if (y, yp) == previous:
            break
        if (y, yp) in seen or len(kept) == c.outer:
            _, _, f, g, fp, gp, y, yp = min(kept, key=lambda state: (state[0], -state[1]))
            break
        seen.append((y, yp))
    return State(f, g, fp, gp, objective), y, yp
