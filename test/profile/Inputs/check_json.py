"""Check that a file is strict JSON in UTF-8 without duplicate keys; print it as sorted "path value" lines."""
import json
import sys


def no_duplicates(pairs):
    keys = [key for key, _ in pairs]
    if len(set(keys)) != len(keys):
        sys.exit(f"duplicate key in {keys}")
    return dict(pairs)


def refuse(constant):
    sys.exit(f"{constant} is not JSON")


def lines(value, path=""):
    if isinstance(value, dict):
        for key in sorted(value):
            yield from lines(value[key], f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from lines(item, f"{path}[{number}]")
    else:
        yield f"{path} {json.dumps(value)}"


with open(sys.argv[1], encoding="utf-8", errors="strict") as file:
    data = json.load(file, object_pairs_hook=no_duplicates, parse_constant=refuse)
print("\n".join(lines(data)))
