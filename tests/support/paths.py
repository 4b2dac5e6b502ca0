"""Places in the working tree."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
"""The folder of the repository, from which child processes are started."""
