"""Print what a page says of notes that cannot be shown, in Chromium."""
import sys

from browser import Browser

with Browser() as browser:
    browser.open(sys.argv[1])
    print("title:", browser.run("document.title"))
    print("shown:", browser.run("document.getElementById('shown').textContent"))
    print("build:", browser.run("[...document.querySelectorAll('#build p')].map((p) => p.textContent).join(' | ')"))
    print("tables:", browser.run("document.querySelectorAll('#build table').length"))
    print("errors:", browser.errors)
