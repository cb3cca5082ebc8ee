"""Serves a FastAPI peer, PEER_APP, with uvicorn in some processes, until one of them ends.

python -m whole_server.serve_peer PORT PROCESSES

Each process listens for itself, and the kernel spreads the connections. With the one socket that uvicorn's own workers
share, the first that wakes takes all connections that wait: 16 clients who come at once have one process between them.
"""

import multiprocessing
import os
import socket
import sys
from multiprocessing.connection import wait

import uvicorn


def serve(port: int) -> None:
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    config = uvicorn.Config(os.environ["PEER_APP"], log_level="warning", access_log=False)
    config.load()
    listener.bind(("127.0.0.1", port))
    uvicorn.Server(config).run(sockets=[listener])


def main(port: int, processes: int) -> None:
    context = multiprocessing.get_context("spawn")
    parts = [context.Process(target=serve, args=(port,), daemon=True) for _ in range(processes)]
    for part in parts:
        part.start()
    wait([part.sentinel for part in parts])


if __name__ == "__main__":
    if sys.argv[2] == "1":
        serve(int(sys.argv[1]))
    else:
        main(int(sys.argv[1]), int(sys.argv[2]))
