"""Record of the Elasticsearch index that an index was attached to, kept in the settings of the index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

from indexer.engines.search_types import IndexInfo

ATTACHMENT_SETTING = "source"
"""Name of the record among the settings of an index."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """An Elasticsearch index whose documents were attached: they have the same ids in our index.

    Stored by field name.
    """

    index: str
    cluster: str
    """UUID of the cluster, independent of the address it is reached at."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """Field of a document -> field of the attached index, as given with --map; empty for one that is left out. The
    field with the vectors is among them, also if it was found in the mapping."""
    has_revisions: bool = False
    """Whether the revisions of the documents were kept; former versions did not."""
    checkpoints: Mapping[str, Sequence[int]] | None = None
    """UUID of each index behind the name -> last sequence number of each shard, shortly before it was read; None if
    the key for the source may not read its statistics. An index that follows its source counts from the last pass."""
    address: str = ""
    """URL of the server that the documents were read from, without credentials; former versions did not keep it."""

    @property
    def vector_field(self) -> str | None:
        """The field that the vectors of the documents were read from; None if they were read without vectors."""
        return self.fields.get("vector") or None

    def to_setting(self) -> dict[str, object]:
        """Return the value stored under ATTACHMENT_SETTING."""
        return asdict(self)

    @classmethod
    def from_info(cls, info: IndexInfo) -> Attachment | None:
        """Return the attachment of an index, or None if it was built from files."""
        setting = info.settings.get(ATTACHMENT_SETTING)
        if not isinstance(setting, Mapping):
            return None
        return cls(
            str(setting["index"]),
            str(setting["cluster"]),
            dict(setting["fields"]),
            bool(setting.get("has_revisions")),
            setting.get("checkpoints"),
            str(setting.get("address", "")),
        )
