"""What a side index remembers of the index it was attached to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from indexer.engines.base import IndexInfo

SETTING = "source"
"""Where it stands among an index's settings."""


@dataclass(frozen=True, slots=True)
class Attached:
    """An Elasticsearch index whose documents have the same ids in the side index."""

    index: str
    cluster: str
    """The server's own name for itself, the same under every address it has."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """Where the fields of a document come from, as they were given with --map."""

    def to_setting(self) -> dict[str, object]:
        return asdict(self)

    @classmethod
    def of(cls, info: IndexInfo) -> Attached | None:
        """None for an index that was made from files."""
        written = info.settings.get(SETTING)
        if not isinstance(written, Mapping):
            return None
        return cls(str(written["index"]), str(written["cluster"]), dict(written["fields"]))
