"""drive_page.py PAGE: use the page of shop.txt as a reader does, in Chromium, by mouse and keyboard, and print what it says."""
import sys

from browser import Browser

# Of a copy, as reading from a canvas changes how it is drawn.
PIXELS = """(() => {
  const canvas = document.querySelector('SELECTOR');
  const copy = Object.assign(document.createElement('canvas'), {width: canvas.width, height: canvas.height});
  const context = copy.getContext('2d', {willReadFrequently: true});
  context.drawImage(canvas, 0, 0);
  const pixels = context.getImageData(0, 0, canvas.width, canvas.height).data;
  RESULT
})()"""


def pixels(browser, selector, result):
    return browser.run(PIXELS.replace("SELECTOR", selector).replace("RESULT", result))


def colours(browser, selector):
    """How many a canvas shows: one that was not drawn has one."""
    return pixels(browser, selector, "return new Set(new Uint32Array(pixels.buffer)).size;")


def text(browser, selector):
    return browser.run(f"document.querySelector('{selector}').textContent")


def rows(browser):
    """The table's rows in view: class, function, bytes."""
    return browser.run("[...document.querySelectorAll('#table-view .row')].filter((row) => !row.hidden)"
                       ".map((row) => [0, 1, 5].map((i) => row.children[i].textContent).join(', '))")


def show(title, *values):
    print(f"{title}:", *values, flush=True)


def look(browser):
    show("title", browser.run("document.title"))
    show("heading", text(browser, "h1"))
    show("facts", text(browser, "#facts"))
    show("shown", text(browser, "#shown"))
    show("flame", text(browser, "#flame-text"))
    show("drawn", colours(browser, "#flame-view canvas") > 4, colours(browser, "#plot-lifetime-size") > 4)
    for row in rows(browser):
        show("row", row)
    show("scripts", browser.run("document.scripts.length"), browser.run("document.querySelectorAll('b').length"))


def use_filter(browser):
    browser.press("/")
    browser.type("serve")
    show("filtered", text(browser, "#shown"))
    show("flame", text(browser, "#flame-text"))
    browser.run("setFilter('')")
    browser.click("input[value=hot]")
    show("without hot", text(browser, "#shown"))
    browser.click("input[value=hot]")
    browser.run("setFilter('</script>')")
    show("by type or name", text(browser, "#shown"))
    browser.run("setFilter('no such function')")
    show("nothing", text(browser, "#shown"), len(rows(browser)))
    browser.run("document.querySelector('#table-view').focus()")
    for key in ("ArrowDown", "Enter"):
        browser.press(key)
    browser.run("setFilter('')")


def use_flame(browser):
    browser.run("document.querySelector('#flame-view').focus()")
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        browser.press(key)
    show("moved", text(browser, "#flame-text"))
    browser.press("Enter")
    show("zoomed", browser.run("nodeName(flame.tree, flame.zoom)"), browser.run("flame.rows.length"))
    browser.press("f")
    show("filter by it", text(browser, "#shown"))
    browser.run("setFilter('')")
    browser.press("Escape")
    show("zoomed out", browser.run("nodeName(flame.tree, flame.zoom)"))
    browser.press("Home")
    browser.click("#flame-view canvas", 10, 19 * 2 + 5)
    show("clicked", text(browser, "#flame-text"))
    browser.press("Home")
    for mode in ("lines", "reversed"):
        browser.run(f"document.querySelector('#flame-mode').value = '{mode}'; update()")
        browser.run("document.querySelector('#flame-view').focus()")
        for key in ("ArrowDown", "ArrowDown"):
            browser.press(key)
        show(mode, text(browser, "#flame-text"))


def use_table(browser):
    browser.run("document.querySelector('#quantity').value = 'accesses'; update()")
    show("accesses", text(browser, "#shown"))
    browser.run("document.querySelector('#table-view').focus()")
    for key in ("End", "ArrowUp", "ArrowUp", "Enter"):
        browser.press(key)
    show("details", browser.run("[...document.querySelectorAll('#details li')].map((item) => item.textContent).join(' | ')"))
    browser.run("[...document.querySelectorAll('#table-head button')].find((b) => b.textContent === 'allocs').focus()")
    browser.press("Enter")
    show("sorted", browser.run("[...document.querySelectorAll('[aria-sort=descending]')].map((h) => h.textContent).join()"),
         rows(browser)[1])


def use_plot(browser):
    browser.run("document.querySelector('#plot-lifetime-size').focus()")
    before = text(browser, "#plots output")
    browser.press("ArrowRight")
    show("plot", before != text(browser, "#plots output"), text(browser, "#plots output"))


def use_colours(browser):
    light = browser.run("getComputedStyle(document.body).backgroundColor")
    browser.use_colours("dark")
    browser.run("new Promise((done) => setTimeout(done, 50))")
    dark = browser.run("getComputedStyle(document.body).backgroundColor")
    corner = pixels(browser, "#flame-view canvas", "const at = 4 * (5 * canvas.width + 40); return [...pixels.slice(at, at + 3)].join();")
    show("colours", light, dark, corner)


def check_tab(browser):
    """Every control is reached by the tabulator."""
    browser.run("document.activeElement.blur()")
    browser.run("window.getSelection().removeAllRanges()")
    reached = set()
    for _ in range(40):
        browser.press("Tab")
        reached.add(browser.run("document.activeElement.id || document.activeElement.value || ''"))
    wanted = {"quantity", "filter", "cold", "hot", "flame-mode", "flame-view", "table-view", "plot-lifetime-size"}
    show("not reached", sorted(wanted - reached))


with Browser() as browser:
    browser.open(sys.argv[1])
    for use in (look, use_filter, use_flame, use_table, use_plot, use_colours, check_tab):
        use(browser)
    if browser.run("!document.querySelector('#build').hidden"):
        for row in browser.run("[...document.querySelectorAll('#build tr')].map((row) => [...row.children]"
                               ".map((cell) => cell.textContent).join(' | '))"):
            show("build", row)
    show("errors", browser.errors)
    show("requests", len(browser.requests))
