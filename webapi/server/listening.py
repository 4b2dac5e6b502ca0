"""Whether a server can listen at an address, asked before it is started: its own complaints are many lines."""

from __future__ import annotations

import errno
import socket

from indexer.errors import BadSetting, root_cause


def check_address(host: str, port: int) -> None:
    """Raise BadSetting unless the host is one of this machine's and the port is free; port 0 always is."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise BadSetting(
            f"cannot listen on {host}: {root_cause(error)}", fix="name an address of this machine"
        ) from None
    with socket.socket(family, kind, protocol) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server does
        try:
            probe.bind(address)
        except OSError as error:
            fix = "choose another with --port, or end what listens there"
            if error.errno != errno.EADDRINUSE:
                fix = "choose another address with --host or another port with --port"
            raise BadSetting(f"cannot listen on {host} port {port}: {root_cause(error)}", fix=fix) from None
