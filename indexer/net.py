"""A free port on this machine, for a server that is started a moment later."""

from __future__ import annotations

import random
import socket
from pathlib import Path
from typing import Final

HOST: Final = "127.0.0.1"
_RANGE: Final = Path("/proc/sys/net/ipv4/ip_local_port_range")
_LOWEST: Final = 10_000
_TRIES: Final = 100


def free_port() -> int:
    """Outside the range from which the kernel takes the ports of outgoing connections.

    A port of that range may be anybody's by the time the server asks for it; one below it only whoever names it gets.
    """
    end = _kernels_lowest()
    for _ in range(_TRIES if end > _LOWEST else 0):
        port = random.randrange(_LOWEST, end)
        if _is_free(port):
            return port
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def _kernels_lowest() -> int:
    try:
        return int(_RANGE.read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return 0  # not a Linux


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
        return True
