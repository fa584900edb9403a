# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""requests.py KEYS REQUESTS SEED: requests to redis, as they are sent. First all keys are set, each with a record and a place in
a list; then nine in ten are asked for by few requests, one in ten by many, and some change."""
import random
import sys

keys, requests, seed = map(int, sys.argv[1:])
rng = random.Random(seed)
out = sys.stdout.buffer


def request(*words):
    out.write(b"*%d\r\n" % len(words))
    for word in words:
        word = str(word).encode()
        out.write(b"$%d\r\n%s\r\n" % (len(word), word))


def any_key():
    return rng.randrange(keys // 10 if rng.random() < 0.9 else keys)


for i in range(keys):
    request("SET", f"key:{i}", "v" * rng.randrange(20, 200))
    request("HSET", f"record:{i}", "name", f"customer {i}", "note", "n" * rng.randrange(80, 400))
    request("RPUSH", f"log:{i % 500}", "l" * rng.randrange(20, 100))
for _ in range(requests):
    kind = rng.random()
    if kind < 0.6:
        request("GET", f"key:{any_key()}")
    elif kind < 0.75:
        request("HGET", f"record:{any_key()}", "name")
    elif kind < 0.85:
        request("SET", f"key:{any_key()}", "w" * rng.randrange(20, 200))
    elif kind < 0.9:
        request("INCR", f"count:{any_key()}")
    elif kind < 0.97:
        request("ZADD", "ranks", rng.randrange(1000), f"member:{any_key()}")
    else:
        request("RPUSH", f"log:{rng.randrange(500)}", "m" * rng.randrange(20, 100))
