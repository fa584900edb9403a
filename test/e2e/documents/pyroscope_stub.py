#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A server on the loopback that takes what Pyroscope's /ingest takes, and refuses what that refuses.

usage: pyroscope_stub.py COMMAND [ARGUMENT...]     runs the command with PYROSCOPE set; prints what came
"""
import email.parser
import gzip
import http.server
import os
import subprocess
import sys
import threading
import urllib.parse

pushed = []


def count_fields(message):
    """How often each field of a protocol buffer comes."""
    counts, at = {}, 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte, at = message[at], at + 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        tag = number()
        counts[tag >> 3] = counts.get(tag >> 3, 0) + 1
        assert tag & 7 in (0, 2), tag
        length = number()
        at += length if tag & 7 == 2 else 0
    assert at == len(message)
    return counts


class Ingest(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        url = urllib.parse.urlsplit(self.path)
        query = urllib.parse.parse_qs(url.query)
        body = self.rfile.read(int(self.headers["Content-Length"]))
        form = email.parser.BytesParser().parsebytes(
            b"Content-Type: " + self.headers["Content-Type"].encode() + b"\r\n\r\n" + body)
        parts = {part.get_param("name", header="content-disposition"): part.get_payload(decode=True)
                 for part in form.get_payload()}
        profile = gzip.decompress(parts["profile"])
        fields = count_fields(profile)
        good = (url.path == "/ingest" and fields[1] > 0 and fields[2] > 0  # of profile.proto: types of samples, samples
                and b"alloc_space" in profile and 0 < int(query["from"][0]) < int(query["until"][0]))
        self.send_response(200 if good else 422)
        self.end_headers()
        if good:
            pushed.append(f"pushed {query['name'][0]}, {len(profile)} bytes, "
                          f"{int(query['until'][0]) - int(query['from'][0])} s")

    def log_message(self, *unused):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Ingest)
threading.Thread(target=server.serve_forever, daemon=True).start()
os.environ["PYROSCOPE"] = f"http://127.0.0.1:{server.server_port}"
code = subprocess.run(sys.argv[1:], check=False).returncode
print("\n".join(pushed))
sys.exit(code)
