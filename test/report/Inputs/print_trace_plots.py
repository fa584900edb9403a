"""Print what the plots of a trace's page say."""
import sys

from page_data import Data

page = Data(sys.argv[1])
plots = page.json["plots"]
quantity = {entry["key"]: i + 2 for i, entry in enumerate(page.json["quantities"])}
print(f"live: at most {page.json['peak_bytes']}, {'within the run' if 0 < plots['peak_ns'] < page.json['duration_ns'] else plots['peak_ns']}")
for name in ("lifetime-size", "lifetime-time"):
    sums = [sum(cell[quantity[key]] for cell in plots[name]["cells"]) for key in ("allocs", "bytes", "live")]
    print(f"{name}: {plots[name]['x']['label']}: {sums[0]} blocks, {sums[1]} bytes, {sums[2]} live")
print(f"command: {page.json['command']}, started in {1970 + int(page.json['start_unix_ns'] / 31556952e9)}")
print(f"temporary: {sum(page.contexts['temporary'])} blocks; at the peak: {sum(page.contexts['peak'])} bytes")
assert sum(page.contexts["peak"]) == page.json["peak_bytes"]
