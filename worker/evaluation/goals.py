"""What good looks like, in figures, and whether it was reached."""

from __future__ import annotations

from typing import Any, NamedTuple


class Goal(NamedTuple):
    measure: str
    figure: str
    goal: float
    at_most: bool = False


KEYWORD_GOALS = (
    Goal("surface recall", "surface_recall", 0.98),
    Goal("semantic F1", "semantic_f1", 0.65),
    Goal("distinct F1", "distinct_f1", 0.91),
    Goal("AUC of semantic against distinct", "auc", 0.87),
    Goal("surface keywords in the first 3", "surface_at3", 0.90),
    Goal("surface keywords in the first 8", "surface_at8", 0.95),
    Goal("semantic keywords in the first 3", "semantic_at3", 0.45),
    Goal("semantic keywords in the first 8", "semantic_at8", 0.70),
    Goal("distinct keywords in the first 3", "distinct_at3", 0.30),
    Goal("distinct keywords in the first 8", "distinct_at8", 0.50),
    Goal("shown phrases of more than 1 % of documents", "frequent_share", 0.10, at_most=True),
)
MASKED_GOALS = (
    Goal("masked phrase: AUC", "auc", 0.92),
    Goal("masked phrase: in common at the cap", "found", 0.60),
    Goal("masked phrase: other one-sided phrases there", "others", 0.12, at_most=True),
)


def judged(goals: tuple[Goal, ...], found: dict[str, Any], against: tuple[str, ...]) -> list[dict[str, Any]]:
    """A row per goal: the rows named in ``against``, ours, the goal, whether it is met."""
    by_name = {row["name"]: row["figures"] for row in found["rows"]}
    ours = by_name["cda/default"]
    return [
        {
            "measure": goal.measure,
            **{name: by_name[name].get(goal.figure) for name in against if name in by_name},
            "measured": ours[goal.figure],
            "goal": goal.goal,
            "met": ours[goal.figure] <= goal.goal if goal.at_most else ours[goal.figure] >= goal.goal,
        }
        for goal in goals
    ]


def ahead(found: dict[str, Any]) -> dict[str, bool]:
    """Whether the default beats containment (the interval of the difference above zero) and every other method."""
    rows = {row["name"]: row for row in found["rows"]}
    ours = rows["cda/default"]
    best = max(row["figures"]["macro_f1"] for name, row in rows.items() if name != "cda/default")
    return {
        "beats_containment": ours.get("above_containment", (0.0, 0.0))[0] > 0,
        "ahead_of_every_method": ours["figures"]["macro_f1"] > best,
    }
