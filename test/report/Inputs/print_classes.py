"""Print the lines of a page's summary about classes, in Chromium."""
import sys

from browser import Browser

TEXT = """[...document.querySelectorAll('.shares .legend > *')].map((e) => `class: ${e.textContent}`).join('\\n')"""

with Browser() as browser:
    browser.open(sys.argv[1])
    print(browser.run(TEXT))
    print("errors:", browser.errors)
