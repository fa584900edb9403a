"""check_widths.py PAGE [PREFIX]: is a page whole on narrow and on wide screens? Prints what sticks out of the window, and which tabs
the keyboard does not reach; with PREFIX, writes pictures PREFIX-WIDTH-COLOURS-TAB.png."""
import sys

from browser import Browser

WIDTHS = (390, 900, 1440, 1920, 2560)
OVERFLOW = """(() => {
  const wide = document.scrollingElement.scrollWidth, room = innerWidth;
  const out = [...document.querySelectorAll('header *, #controls *, #tabs *')]
    .filter((e) => e.getBoundingClientRect().right > room + 1 && e.getBoundingClientRect().width > 0);
  return wide > room ? `the page is ${wide} wide` : out.length > 0 ? `${out[0].tagName} ${out[0].id} sticks out` : '';
})()"""
TABS = "[...document.querySelectorAll('#tabs [role=tab]')].filter((t) => !t.hidden).map((t) => t.textContent)"


def look(browser, page, prefix):
    """Every tab of the page, at every width, in both colours."""
    for width in WIDTHS:
        browser.send("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        for colours in ("light", "dark"):
            browser.use_colours(colours)
            browser.open(page)
            tabs = browser.run(TABS)
            for i, tab in enumerate(tabs):
                browser.run(f"[...document.querySelectorAll('#tabs [role=tab]')].filter((t) => !t.hidden)[{i}].click()")
                browser.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
                found = browser.run(OVERFLOW)
                if found:
                    print(f"{width} {colours} {tab}: {found}")
                if prefix:
                    browser.screenshot(f"{prefix}-{width}-{colours}-{tab.split()[0].lower()}.png", width, 900)
        print(f"{width}: {len(tabs)} tabs")


def walk(browser, page):
    """By the arrow keys from the first tab through all of them."""
    browser.open(page)
    tabs = browser.run(TABS)
    browser.run("document.querySelector('#tabs [role=tab]').focus()")
    reached = set()
    for _ in tabs:
        reached.add(browser.run("document.activeElement.textContent"))
        browser.press("ArrowRight")
    print("by keys:", "all" if reached == set(tabs) else set(tabs) - reached)


with Browser() as opened:
    look(opened, sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None)
    walk(opened, sys.argv[1])
    for error in opened.errors:
        print("error:", error)
