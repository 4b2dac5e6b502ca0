"""Memory of this process, from the kernel."""

from __future__ import annotations

from pathlib import Path

MB = 1e6


def get_resident_bytes() -> float:
    """Bytes it has in memory now."""
    return _read_status("VmRSS")


def get_peak_bytes() -> float:
    """The most bytes it ever had. (What ``getrusage`` tells includes the process it was started from.)"""
    return _read_status("VmHWM")


def get_anonymous_bytes() -> float:
    """Bytes of its own: without what is mapped from files, which the system may take back."""
    return _read_status("RssAnon")


def _read_status(name: str) -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return float(line.split()[1]) * 1024
    raise OSError(f"/proc/self/status has no {name}")
