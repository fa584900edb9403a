"""take_pictures.py PAGE PREFIX: what a page looks like, as PREFIX-light.png and PREFIX-dark.png."""
import sys

from browser import Browser

WIDTH, HEIGHT = 1100, 1280  # the plots, too

with Browser() as browser:
    for scheme in ("light", "dark"):
        browser.send("Emulation.setDeviceMetricsOverride", width=WIDTH, height=HEIGHT, deviceScaleFactor=1, mobile=False)
        browser.use_colours(scheme)
        browser.open(sys.argv[1])
        browser.run("byId('flame-mode').value = 'reversed'; update(); byId('flame-view').style.height = '300px'")
        browser.run("byId('table-view').style.height = '150px'")
        browser.run("new Promise((done) => setTimeout(done, 200))")
        browser.screenshot(f"{sys.argv[2]}-{scheme}.png", WIDTH, HEIGHT)
