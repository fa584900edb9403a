#!/usr/bin/env python3
"""Check the shape of Chrome trace JSON with heap dumps (memory-infra, heaps_v2), and that all ids and sums agree.

usage: check_chrome.py FILE     prints a line for each dump: its name, and of each heap name, bytes, blocks
"""
import sys

import trace_events


def scalar(attributes, name, units):
    attribute = attributes[name]
    assert attribute["type"] == "scalar" and attribute["units"] == units, attribute
    return int(attribute["value"], 16)


def check_maps(maps):
    strings = {row["id"]: row["string"] for row in maps["strings"]}
    nodes = {row["id"]: row for row in maps["nodes"]}
    types = {row["id"]: strings[row["name_sid"]] for row in maps["types"]}
    for name, rows in (("strings", strings), ("nodes", nodes), ("types", types)):
        assert len(rows) == len(maps[name]), "ids of %s" % name
    for row in nodes.values():
        assert row["name_sid"] in strings, row
        parent, steps = row.get("parent"), 0
        while parent is not None:
            parent, steps = nodes[parent].get("parent"), steps + 1
            assert steps <= len(nodes), "a cycle of nodes"
    assert types[0] == "[unknown]" and 0 in nodes
    return nodes, types


def check_dump(event):
    assert event["cat"] == "disabled-by-default-memory-infra", event["cat"]
    assert event["name"] in ("periodic_interval", "explicitly_triggered", "peak_memory_usage"), event["name"]
    dumps = event["args"]["dumps"]
    assert dumps["level_of_detail"] == "detailed"
    heaps = dumps["heaps_v2"]
    assert heaps["version"] == 1
    nodes, types = check_maps(heaps["maps"])
    totals = dumps["allocators"]
    assert scalar(totals["tracing/heap_profiler"]["attrs"], "size", "bytes") > 0
    assert set(heaps["allocators"]) == set(totals) - {"tracing/heap_profiler"}
    line = [event["name"]]
    for name, heap in heaps["allocators"].items():
        assert len({len(heap[column]) for column in ("counts", "sizes", "nodes", "types")}) == 1, name
        assert all(node in nodes for node in heap["nodes"]) and all(kind in types for kind in heap["types"])
        assert len(set(zip(heap["nodes"], heap["types"]))) == len(heap["nodes"]), "an entry comes twice"
        size = scalar(totals[name]["attrs"], "size", "bytes")
        count = scalar(totals[name]["attrs"], "object_count", "objects")
        assert size == sum(heap["sizes"]) and count == sum(heap["counts"])
        line += [name, str(size), str(count)]
    print(*line)


def main(name):
    events = trace_events.read(name)
    processes = [event for event in events if event["ph"] == "M"]
    assert all(event["name"] == "process_name" and event["args"]["name"] for event in processes)
    dumps = [event for event in events if event["ph"] == "v"]
    assert len(processes) + len(dumps) == len(events)
    assert {event["pid"] for event in processes} == {event["pid"] for event in dumps}
    assert len({(event["pid"], event["id"]) for event in dumps}) == len(dumps)
    for event in dumps:
        check_dump(event)


if __name__ == "__main__":
    main(sys.argv[1])
