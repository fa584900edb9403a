"""take_pictures.py PAGE PREFIX: what a page looks like: its flame graph as PREFIX-light.png and PREFIX-dark.png, its functions as
PREFIX-functions.png, and on a narrow screen as PREFIX-narrow.png."""
import sys

from browser import Browser

# Name, colours, size, tab.
PICTURES = (("light", "light", (1280, 720), "flame"), ("dark", "dark", (1280, 720), "flame"),
            ("functions", "light", (1440, 720), "functions"), ("narrow", "dark", (390, 760), "functions"))
HEAVIEST = "tables.functions.order[0]"

with Browser() as browser:
    for name, scheme, (width, height), tab in PICTURES:
        browser.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        browser.use_colours(scheme)
        browser.open(sys.argv[1])
        browser.run("byId('flame-mode').value = 'reversed'; openTab('functions')")
        browser.run(f"choose({{ group: {HEAVIEST} }}); openTab('{tab}')")
        browser.run("new Promise((done) => setTimeout(done, 200))")
        browser.screenshot(f"{sys.argv[2]}-{name}.png", width, height)
