"""Ports of this machine: finding a free one, and checking that a server can listen before it is started."""

from __future__ import annotations

import errno
import random
import socket
from pathlib import Path
from typing import Final

from indexer.errors import BadSetting, describe_root_cause

LOOPBACK: Final = "127.0.0.1"
_EPHEMERAL_RANGE_FILE: Final = Path("/proc/sys/net/ipv4/ip_local_port_range")
_MIN_PORT: Final = 10_000
_MAX_TRIES: Final = 100


def find_free_port() -> int:
    """Return a free port below the range from which the kernel takes the ports of outgoing connections.

    A port of that range may be taken by any connection before the server binds it; a port below it only by a
    program that asks for it.
    """
    end = _read_first_ephemeral_port()
    for _ in range(_MAX_TRIES if end > _MIN_PORT else 0):
        port = random.randrange(_MIN_PORT, end)
        if _is_free(port):
            return port
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


def _read_first_ephemeral_port() -> int:
    try:
        return int(_EPHEMERAL_RANGE_FILE.read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return 0  # not a Linux


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
        return True


def check_can_listen(host: str, port: int) -> None:
    """Raise BadSetting unless ``host`` is an address of this machine and ``port`` is free; port 0 always is.

    Checked before a server starts, because the server's own error message is many lines long.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise BadSetting(
            f"cannot listen on {host}: {describe_root_cause(error)}", fix="use an address of this machine"
        ) from None
    with socket.socket(family, kind, protocol) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server does
        try:
            probe.bind(address)
        except OSError as error:
            fix = "choose another with --port, or stop the process that uses it"
            if error.errno != errno.EADDRINUSE:
                fix = "choose another address with --host or another port with --port"
            raise BadSetting(f"cannot listen on {host} port {port}: {describe_root_cause(error)}", fix=fix) from None
