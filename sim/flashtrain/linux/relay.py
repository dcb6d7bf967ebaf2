"""One connection of the machine, from QEMU's pipe to a port of this machine: `relay.py PORT`.

Small PDUs go out at once: netcat would let them wait for acknowledgements, 40 ms at a time.
"""

import os
import selectors
import socket
import sys

BYTES = 1 << 18


def main(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port)) as target, selectors.DefaultSelector() as ready:
        target.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        ready.register(0, selectors.EVENT_READ)
        ready.register(target, selectors.EVENT_READ)
        while True:
            for key, _ in ready.select():
                data = os.read(0, BYTES) if key.fd == 0 else target.recv(BYTES)
                if not data:
                    return
                if key.fd == 0:
                    target.sendall(data)
                else:
                    write_all(1, data)


def write_all(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]


if __name__ == "__main__":
    main(int(sys.argv[1]))
