"""gunicorn's log lines in the format of all others."""

from __future__ import annotations

from gunicorn.config import Config
from gunicorn.glogging import Logger

from indexer.logging_setup import is_configured


class GunicornLogger(Logger):  # type: ignore[misc]
    """Passes its records to the root handler, if one was configured."""

    def setup(self, cfg: Config) -> None:
        super().setup(cfg)
        if is_configured():
            for log in (self.error_log, self.access_log):
                log.handlers.clear()
                log.propagate = True
