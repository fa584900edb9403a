"""drive_owner_plot.py PAGE: use the plot of live bytes by function of a trace's page, in Chromium."""
import sys

from browser import Browser

with Browser() as browser:
    browser.open(sys.argv[1])
    print("head:", browser.run("byId('facts').textContent"))
    browser.run("openTab('plots'); byId('plot-owners').focus()")
    browser.press("End")
    said = browser.run("byId('plot-owners').nextSibling.textContent")
    print("end:", f": {browser.run('bytesText(sumAll(`live`))')};" in said)
    browser.press("Home")
    print("home:", browser.run("byId('plot-owners').nextSibling.textContent"))
    browser.press("ArrowRight")
    colours = browser.run("""(() => { const canvas = byId('plot-owners');
      const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
      return new Set(new Uint32Array(pixels.buffer)).size; })()""")
    print("drawn:", colours > 5, browser.run("document.querySelectorAll('.legend li').length > 2"))
    print("at the peak:", browser.run("sumAll('peak') === data.plots.live.peak_bytes"))
    print("errors:", browser.errors)
