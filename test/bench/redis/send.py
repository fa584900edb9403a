# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""send.py SOCKET FILE: send a file of requests to a redis server, print a checksum of its replies, and have it end."""
import hashlib
import select
import socket
import sys
import time

data = memoryview(open(sys.argv[2], "rb").read() + b"*1\r\n$4\r\nPING\r\n")
client = socket.socket(socket.AF_UNIX)
for attempt in range(3000):
    try:
        client.connect(sys.argv[1])
        break
    except OSError:
        time.sleep(0.02)
else:
    sys.exit("the server does not answer")
client.setblocking(False)
digest, sent, end = hashlib.sha256(), 0, b""
while not end.endswith(b"+PONG\r\n"):
    readable, writable, _ = select.select([client], [client] if sent < len(data) else [], [], 60)
    if writable:
        sent += client.send(data[sent : sent + 65536])
    if readable:
        reply = client.recv(1 << 20)
        if not reply:
            sys.exit("the server ended")
        digest.update(reply)
        end = (end + reply)[-7:]
client.setblocking(True)
client.sendall(b"*2\r\n$8\r\nSHUTDOWN\r\n$6\r\nNOSAVE\r\n")
print(digest.hexdigest())
