# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""debug_server.py FOLDER COMMAND...: run a command beside a debuginfod server of the files in a folder."""
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request


def free_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


def wait_until_scanned(folder, url, server):
    files = sum(len(names) for _, _, names in os.walk(folder))
    while True:
        if server.poll() is not None:
            sys.exit("debuginfod ended before it served")
        try:
            with urllib.request.urlopen(url + "/metrics") as answer:
                scanned = re.search(r'scanned_files_total\{source="file"\} (\d+)', answer.read().decode())
                if scanned and int(scanned[1]) >= files:
                    return
        except OSError:
            pass
        time.sleep(0.1)


def main():
    folder, command = sys.argv[1], sys.argv[2:]
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    # No server of the environment may answer in its place.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("DEBUGINFOD_")}
    server = subprocess.Popen(
        ["debuginfod", "-F", folder, "-p", str(port), "-d", ":memory:", "-t", "0"],
        env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until_scanned(folder, url, server)
        return subprocess.run(command, env=environment | {"DEBUGINFOD_URLS": url}, check=False).returncode
    finally:
        server.terminate()
        server.wait()


sys.exit(main())
