"""Print the tables of a page's last section, in Chromium."""
import sys

from browser import Browser

with Browser() as browser:
    browser.open(sys.argv[1])
    print("\n".join(browser.run("[...document.querySelectorAll('#build tr')].map((row) => [...row.children]"
                                ".map((cell) => cell.textContent).join(' | '))")))
    print("errors:", browser.errors)
