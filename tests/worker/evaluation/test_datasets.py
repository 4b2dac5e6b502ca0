"""Documents with keywords in three parts."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import orjson

from worker.evaluation.datasets import ALL_PARTS, PARTS, choose_dataset_part, load_gold


def test_every_document_is_in_one_part_and_parts_are_thirds(tmp_path: Path) -> None:
    path = tmp_path / "gold.jsonl"
    rows = [{"id": f"paper {n}", "title": "", "text": "of webs", "keyphrases": ["web"]} for n in range(900)]
    path.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    parts = {part: [gold.document.id for gold in load_gold([path], part)] for part in PARTS}
    assert sorted(id for ids in parts.values() for id in ids) == sorted(str(row["id"]) for row in rows)
    assert all(choose_dataset_part(id) == part for part, ids in parts.items() for id in ids)
    assert all(
        250 < count < 350 for count in Counter(map(choose_dataset_part, (str(row["id"]) for row in rows))).values()
    )
    assert len(load_gold([path], ALL_PARTS)) == len(rows)
