"""An open build as other processes see it than the one that started it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable

from indexer.documents import AnalysedDocument
from indexer.errors import Expired


class JoinedBuild(ABC):
    """Writes documents into an open build of another process, and keeps values for all processes that share it.

    Every method raises Expired once the build has ended, whether it was committed, aborted or taken over. Writing the
    same twice has the effect of writing it once.
    """

    def __init__(self, index: str, version: str) -> None:
        self.index = index
        self.version = version
        """Names the build among all those of the index."""

    @abstractmethod
    def write(self, documents: Iterable[AnalysedDocument]) -> list[str]:
        """Write documents; return the ids of those that ``Build.note_marked`` must be told."""

    @abstractmethod
    def put_value(self, name: str, data: bytes) -> None:
        """Keep a value until the build ends."""

    @abstractmethod
    def get_value(self, name: str) -> bytes:
        """Return a value that was put; Expired also means that there is none of this name."""

    @abstractmethod
    def delete_value(self, name: str) -> None:
        """Remove a value, if there is one."""

    def make_ended_error(self) -> Expired:
        return Expired(
            f"the build {self.version} of index {self.index!r} is not open on this engine: it has ended, or the "
            "engine is another one",
            fix="give all workers the engine and the index_prefix of the build",
        )
