"""drive_trace_plots.py PAGE: use the plots that only a trace has, in Chromium, by keyboard."""
import sys

from browser import Browser

with Browser() as browser:
    browser.open(sys.argv[1])
    for tab, plot, keys in (("summary", "heap", ["Home", "ArrowRight", "End"]), ("plots", "lifetime-time", ["ArrowRight", "ArrowUp"])):
        browser.run(f"openTab('{tab}'); document.querySelector('#plot-{plot}').focus()")
        for key in keys:
            browser.press(key)
            print(f"{plot} {key}:", browser.run(f"document.querySelector('#plot-{plot}').nextSibling.textContent"))
    browser.run("""(() => {
      const fill = CanvasRenderingContext2D.prototype.fillText;
      window.upwards = [];
      CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
        if (this.getTransform().b < 0) window.upwards.push(text);
        fill.call(this, text, ...place);
      };
    })()""")
    browser.press("ArrowRight")
    print("upwards:", browser.run("window.upwards"))
    print("errors:", browser.errors)
