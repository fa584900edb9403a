"""Print the text of a page's tab of global variables, in Chromium."""
import sys

from browser import Browser

TEXT = """(() => {
  const tab = document.getElementById('tab-globals');
  if (!tab) return 'tab: none';
  tab.click();
  const lines = [`tab: ${tab.textContent}`];
  for (const e of document.querySelectorAll('#globals :is(p, h2, h3, li, tr)'))
    lines.push([...(e.cells || [e])].map((cell) => cell.textContent).join(' '));
  return lines.filter((line) => !line.startsWith('Hot variables')).join('\\n');
})()"""

with Browser() as browser:
    browser.open(sys.argv[1])
    print(browser.run(TEXT))
    print("errors:", browser.errors)
