# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""service.py HEARTH DIRECTORY MINUTES: redis-server under load, plain and recorded; see service.sh."""

import os
import subprocess
import sys
import time

HEARTH, DIRECTORY, MINUTES = sys.argv[1], sys.argv[2], float(sys.argv[3])
TURNS, PORT = 20, 17700
OPTIONS = ["--save", "", "--appendonly", "no", "--daemonize", "no", "--maxmemory", "200mb", "--maxmemory-policy", "allkeys-random"]
KINDS, REQUESTS = "set,get,lpush,hset,zadd", "20000" if MINUTES > 5 else "2000"


def median(numbers):
    ordered = sorted(numbers)
    return ordered[len(ordered) // 2]


def resident_of_used(service):
    """Servers throw keys away at random when they are full, so each holds another amount at a time."""
    return median(a / b for a, b in zip(service.resident, service.used))


class Service:
    """One server. Its loads' latencies, and its memory at the end of each."""

    def __init__(self, name, number):
        self.name, self.port, self.latencies, self.resident, self.used = name, PORT + number, [], [], []
        environment, before = dict(os.environ), []
        if name == "glibc":
            environment["LD_PRELOAD"] = "libc.so.6"
        elif name == "sampled":
            before = [HEARTH, "record", "-q", "--sample=262144", "-o", f"{DIRECTORY}/sampled", "--"]
        elif name == "accesses":
            before = [HEARTH, "record", "-q", "--accesses", "-o", f"{DIRECTORY}/raw", "--"]
            environment["HEARTH_OPTIONS"] = "parts=1"
        log = open(f"{DIRECTORY}/{name}.log", "w")
        command = [*before, "redis-server", "--port", str(self.port), *OPTIONS]
        self.process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        while subprocess.run(["redis-cli", "-p", str(self.port), "ping"], capture_output=True).returncode:
            if self.process.poll() is not None:
                sys.exit(f"{name}: redis-server ended; see {log.name}")
            time.sleep(0.1)

    def load(self, times, measured=True):
        """So many runs of redis-benchmark. Notes the median of the greatest p99 of a kind of request, and the memory then."""
        command = ["redis-benchmark", "-p", str(self.port), "-n", REQUESTS, "-c", "10", "-r", "200000", "-d", "200", "--csv", "-t", KINDS]
        worst = []
        for _ in range(times):
            out = subprocess.run(command, capture_output=True, text=True, check=True).stdout.replace('"', "").splitlines()
            column = out[0].split(",").index("p99_latency_ms")
            worst.append(max(float(line.split(",")[column]) for line in out[1:]))
        if measured:
            self.latencies.append(median(worst))
            self.resident.append(self.status("VmRSS"))
            self.used.append(self.used_memory() / 1024)

    def status(self, key):
        with open(f"/proc/{self.process.pid}/status", encoding="utf8") as file:
            return next(int(line.split()[1]) for line in file if line.startswith(key + ":"))

    def used_memory(self):
        command = ["redis-cli", "-p", str(self.port), "info", "memory"]
        lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
        return next(int(line.split(":")[1]) for line in lines if line.startswith("used_memory:"))

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def mappings(self):
        with open(f"/proc/{self.process.pid}/maps", encoding="utf8") as file:
            return sum(1 for _ in file)

    def sampling(self, state):
        subprocess.run([HEARTH, "dump", f"--sampling={state}", str(self.process.pid)], check=True, capture_output=True)

    def dump(self):
        subprocess.run([HEARTH, "dump", str(self.process.pid)], check=True, capture_output=True)

    def end(self):
        subprocess.run(["redis-cli", "-p", str(self.port), "shutdown", "nosave"], capture_output=True)
        self.process.wait()


def main():
    services = [Service(name, i) for i, name in enumerate(("plain", "glibc", "sampled", "accesses"))]
    plain, accesses = services[0], services[3]
    begin = time.monotonic()
    for service in services:
        service.load(1, measured=False)
    # All have the same number of requests: memory grows with them.
    times = max(1, round(MINUTES * 60 / TURNS / (time.monotonic() - begin) / 2))
    seen = []
    for _ in range(TURNS):
        for service in services:
            service.load(times)
        accesses.sampling("off")
        for service in services:
            service.load(times, measured=False)
        accesses.dump()
        accesses.sampling("on")
        seen.append((accesses.descriptors(), accesses.mappings()))
    with open(f"{DIRECTORY}/report", "w", encoding="utf8") as report:
        print(f"{'':10}{'p99 ms':>10}{'ratio':>8}{'RSS MiB':>10}{'of used':>10}{'ratio':>8}", file=report)
        for service in services:
            p99 = [a / b for a, b in zip(service.latencies, plain.latencies)]
            of_used = resident_of_used(service)
            print(f"{service.name:10}{median(service.latencies):10.3f}{median(p99):8.2f}{median(service.resident) / 1024:10.1f}"
                  f"{of_used:10.2f}{of_used / resident_of_used(plain):8.2f}", file=report)
        first, last = seen[TURNS // 2], seen[-1]
        print(f"accesses: {first[0]} descriptors and {first[1]} mappings after {TURNS // 2} turns, {last[0]} and {last[1]} after {TURNS}", file=report)
    for service in services:
        service.end()
    if last[0] > first[0] or last[1] > first[1] + 16:
        sys.exit("descriptors or mappings were left behind")


main()
