# SPDX-License-Identifier: Apache-2.0
"""What ``pkg launch`` hears from its workers: lines of output and exit codes.

Not through MPI's launcher, which mixes pieces of long lines of several ranks.  Each
worker has a connection of its own; its end tells either side that the other is gone.
"""

from __future__ import annotations

import hmac
import secrets
import socket
import sys
import threading
from typing import IO, Any

__all__ = ["VARIABLE", "Channel"]

VARIABLE = "PKG_LAUNCH_CHANNEL"  # "host port token", of the workers
GREETING = 30.0  # seconds that a connection has to say who it is


class Channel:
    """Listens to ``count`` workers, and writes what they say to stdout and stderr."""

    def __init__(self, count: int, elsewhere: bool) -> None:
        """elsewhere: whether workers may run on other hosts."""
        host = socket.gethostname() if elsewhere else "127.0.0.1"
        bound = "" if elsewhere else host
        self.codes: dict[int, int] = {}  # of ranks that have ended, in that order
        self.error: Exception | None = None  # of writing
        self.changed = threading.Condition()
        self._token = secrets.token_hex(16)
        self._closing = False
        self._locks = {"stdout": threading.Lock(), "stderr": threading.Lock()}
        self._connections: dict[socket.socket, threading.Thread] = {}
        self._server = socket.create_server((bound, 0), backlog=count + 8)
        self.address = f"{host} {self._server.getsockname()[1]} {self._token}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._server.accept()
            except OSError:  # closed
                return
            serving = threading.Thread(
                target=self._serve, args=(connection,), daemon=True
            )
            with self.changed:
                self._connections[connection] = serving
                serving.start()
                if self._closing:
                    _say_goodbye(connection)

    def _serve(self, connection: socket.socket) -> None:
        try:
            connection.settimeout(GREETING)
            with connection, connection.makefile("rb") as lines:
                token, _, rank = lines.readline(200).partition(b" ")
                if not hmac.compare_digest(token, self._token.encode()):
                    return
                connection.settimeout(None)
                self._listen(int(rank), lines)
        except (OSError, ValueError):  # the worker is gone, or is none of ours
            pass
        finally:
            with self.changed:
                self._connections.pop(connection, None)

    def _listen(self, rank: int, lines: IO[bytes]) -> None:
        # "1line" and "2line" of stdout and stderr, then "xcode".
        for line in lines:
            kind, rest = line[:1], line[1:]
            if kind == b"x":
                with self.changed:
                    self.codes[rank] = int(rest)
                    self.changed.notify_all()
            else:
                self.write("stdout" if kind == b"1" else "stderr", rest)

    def write(self, name: str, data: bytes) -> None:
        """To sys.stdout or sys.stderr; after an error nothing more."""
        stream: Any = getattr(sys, name)
        if self.error is not None or stream is None:  # None: closed from the start
            return
        try:
            with self._locks[name]:
                if hasattr(stream, "buffer"):
                    stream.buffer.write(data)
                else:  # a notebook's
                    stream.write(data.decode("utf-8", "replace"))
                stream.flush()
        except Exception as error:  # ValueError where it is closed
            with self.changed:
                self.error = self.error or error
                self.changed.notify_all()

    def close(self) -> None:
        """Tell the workers to end; what they still say is heard."""
        with self.changed:
            self._closing = True
            for connection in self._connections:
                _say_goodbye(connection)

    def finish(self, seconds: float) -> None:
        """Wait until all has been heard, and forget the workers."""
        try:
            self._server.shutdown(socket.SHUT_RDWR)  # wakes who accepts
        except OSError:
            pass
        self._server.close()
        with self.changed:
            serving = list(self._connections.values())
        for thread in serving:
            thread.join(seconds)


def _say_goodbye(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_WR)
    except OSError:  # it is gone
        pass
