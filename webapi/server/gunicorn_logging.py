"""gunicorn's log lines, in the form of all others."""

from __future__ import annotations

from gunicorn.config import Config
from gunicorn.glogging import Logger

from indexer.logging_setup import are_set_up


class Lines(Logger):  # type: ignore[misc]
    """Leaves its records to the handler that was set up for all, if one was."""

    def setup(self, cfg: Config) -> None:
        super().setup(cfg)
        if are_set_up():
            for log in (self.error_log, self.access_log):
                log.handlers.clear()
                log.propagate = True
