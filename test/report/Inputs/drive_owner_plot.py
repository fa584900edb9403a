"""drive_owner_plot.py PAGE: use the plot of the heap over time of a page that has one, in Chromium: by keys, and a click on the peak."""
import sys

from browser import Browser

with Browser() as browser:
    browser.open(sys.argv[1])
    print("head:", browser.run("byId('facts').textContent"))
    browser.run("byId('plot-heap').focus()")
    browser.press("End")
    said = browser.run("byId('plot-heap').nextSibling.textContent")
    print("end:", f": {browser.run('bytesText(sumAll(`live`))')};" in said)
    browser.press("Home")
    print("home:", browser.run("byId('plot-heap').nextSibling.textContent"))
    browser.press("ArrowRight")
    colours = browser.run("""(() => { const canvas = byId('plot-heap');
      const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
      return new Set(new Uint32Array(pixels.buffer)).size; })()""")
    print("drawn:", colours > 5, browser.run("document.querySelectorAll('.legend li').length > 2"))
    print("at the peak:", browser.run("sumAll('peak') === data.peak_bytes"))
    for _ in range(200):
        if "at the peak" in browser.run("""heapPlot.times[heapPlot.cursor] === heapPlot.peak ? 'at the peak' : ''"""):
            break
        browser.press("ArrowRight")
    print("peak is a moment:", browser.run("heapPlot.totals[heapPlot.cursor] === heapPlot.peakBytes && heapPlot.totals[heapPlot.cursor] === heapPlot.most"))
    browser.click("#plot-heap", browser.run("heapPlot.scale.left(heapPlot.peak)"), 60)
    print("clicked:", browser.run("`${page.tab} ${byId('quantity').value} ${flame.sums.all[0] === heapPlot.peakBytes}`"))
    browser.run("openTab('summary'); byId('quantity').value = 'bytes'; update(); byId('show-peak').click()")
    print("button:", browser.run("`${page.tab} ${byId('quantity').value}`"))
    print("errors:", browser.errors)
