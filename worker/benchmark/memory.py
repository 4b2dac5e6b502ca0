"""Memory of this process, from the kernel."""

from __future__ import annotations

from pathlib import Path

MB = 1e6


def resident() -> float:
    """Bytes it has in memory now."""
    return _status("VmRSS")


def peak() -> float:
    """The most bytes it ever had. (What ``getrusage`` tells includes the process it was started from.)"""
    return _status("VmHWM")


def anonymous() -> float:
    """Bytes of its own: without what is mapped from files, which the system may take back."""
    return _status("RssAnon")


def _status(name: str) -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return float(line.split()[1]) * 1024
    raise OSError(f"/proc/self/status has no {name}")
