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
                       ".map((row) => ['class', 'function', 'bytes'].map((name) => row.children["
                       "tables.contexts.visible.findIndex((column) => column.name === name)].textContent).join(', '))")


def tabs(browser):
    return browser.run("[...document.querySelectorAll('#tabs button')].map((tab) => tab.textContent)")


def open_tab(browser, name):
    browser.run(f"openTab('{name}')")
    browser.run("new Promise((done) => setTimeout(done, 50))")


def show(title, *values):
    print(f"{title}:", *values, flush=True)


def look(browser):
    show("title", browser.run("document.title"))
    show("heading", text(browser, "h1"))
    show("facts", text(browser, "#facts"))
    show("shown", text(browser, "#shown"))
    show("tabs", *tabs(browser))
    show("summary", text(browser, "#summary dl"))
    for bar in browser.run("[...document.querySelectorAll('#summary .bands')].map((bar) => bar.getAttribute('aria-label'))"):
        show("bar", bar)
    for line in browser.run("[...document.querySelectorAll('#summary .shares li')].map((line) => line.textContent)"):
        show("class", line)
    show("finding", text(browser, "#summary .findings li"))
    open_tab(browser, "flame")
    show("flame", text(browser, "#flame-text"))
    drawn = colours(browser, "#flame-view canvas") > 4
    open_tab(browser, "plots")
    show("drawn", drawn, colours(browser, "#plot-lifetime-size") > 4)
    open_tab(browser, "contexts")
    show("first row", text(browser, "#details h2"))
    for row in rows(browser):
        show("row", row)
    show("scripts", browser.run("document.scripts.length"), browser.run("document.querySelectorAll('b').length"))


def use_filter(browser):
    open_tab(browser, "flame")
    browser.run("byId('filter').focus()")
    browser.type("serve")
    show("filtered", text(browser, "#shown"))
    show("flame", text(browser, "#flame-text"))
    browser.run("setFilter('')")
    browser.click("input[value=hot]")
    show("without hot", text(browser, "#shown"))
    browser.click("input[value=hot]")
    browser.run("setFilter('</script>')")
    show("by type or name", text(browser, "#shown"))
    browser.run("setFilter('^shop::(add|load)$')")
    show("by expression", text(browser, "#shown"))
    browser.run("setHidden('reload')")
    show("but for", text(browser, "#shown"))
    browser.run("setHidden('')")
    browser.run("setFilter('add(')")
    show("no expression", text(browser, "#shown"), browser.run("byId('filter').getAttribute('aria-invalid')"))
    open_tab(browser, "contexts")
    browser.run("setFilter('no such function')")
    show("nothing", text(browser, "#shown"), len(rows(browser)), text(browser, "#nothing").strip(), text(browser, "#details"))
    browser.click("#show-all")
    show("shown again", text(browser, "#shown"), browser.run("byId('nothing').hidden"))
    browser.run("setFilter('no such function')")
    browser.run("document.querySelector('#table-view').focus()")
    for key in ("ArrowDown", "Enter"):
        browser.press(key)
    browser.run("setFilter('')")


def keep_choice(browser):
    """Details are of what was chosen while it passes the filters."""
    open_tab(browser, "contexts")
    browser.run("setFilter('shop::add')")
    browser.run("tables.contexts.moveTo(1)")
    browser.run("tables.contexts.chooseCursor()")
    chosen = browser.run("page.chosen.context")
    for pattern in ("shop", "shop::load"):
        browser.run(f"setFilter('{pattern}')")
        show(f"chosen behind {pattern}", browser.run(f"page.chosen.context === {chosen}"),
             browser.run(f"tables.contexts.order[tables.contexts.cursor] === {chosen}"), text(browser, "#details h2"))
    browser.run("setFilter('')")


def use_flame(browser):
    open_tab(browser, "flame")
    browser.run("document.querySelector('#flame-view').focus()")
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        browser.press(key)
    show("moved", text(browser, "#flame-text"))
    browser.press("Enter")
    show("zoomed", browser.run("nodeName(flame.tree, flame.zoom)"), browser.run("flame.rows.length"))
    browser.run("[...document.querySelectorAll('#details button')].find((b) => b.textContent === 'Only with this').click()")
    show("filter by it", text(browser, "#shown"))
    browser.run("setFilter('')")
    browser.run("document.querySelector('#flame-view').focus()")
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


# Each box of the treemap lies within its parent's, and the areas of a row of children are as their quantities.
MAP = """(() => {
  const boxes = [].concat(...flame.rows), of = (node) => boxes.find((box) => box.node === node);
  const inside = boxes.every((box) => { const p = of(flame.tree.parent[box.node]); return !p
    || (box.x >= p.x - 1e-6 && box.y >= p.y - 1e-6 && box.x + box.width <= p.x + p.width + 1e-6 && box.y + box.height <= p.y + p.height + 1e-6); });
  const scales = flame.rows[3].filter((box) => flame.tree.parent[box.node] === flame.tree.parent[flame.rows[3][0].node])
    .map((box) => box.width * box.height / flame.sums.all[box.node]);
  return [inside && scales.every((scale) => Math.abs(scale / scales[0] - 1) < 1e-6), boxes.length, bytesText(flame.sums.all[0])];
})()"""


def use_flame_colours(browser):
    browser.run("byId('flame-mode').value = 'functions'; update()")
    leaf = "boxColor([].concat(...flame.rows).find((box) => nodeName(flame.tree, box.node) === 'shop::load').node, flameTheme()).map(Math.round).join()"
    for name in browser.run("[...byId('flame-colour').options].map((option) => option.value)"):
        browser.run(f"byId('flame-colour').value = '{name}'; update()")
        legend = browser.run("[...document.querySelectorAll('#flame-legend li')].map((item) => item.textContent).join(' | ')")
        show(f"colours of {name}", f"{legend}; leaf {browser.run(leaf)}")
    browser.run("byId('flame-shape').value = 'treemap'; byId('flame-colour').value = 'class'; update()")
    inside, count, whole = browser.run(MAP)
    show("treemap", inside, count, "of", whole)
    browser.run("byId('flame-find').focus()")
    browser.type("load")
    show("lit up", text(browser, "#flame-lit"), *browser.run("[].concat(...flame.rows).filter((box) => isLit(box.node)).map((box) => nodeName(flame.tree, box.node))"))
    browser.run("byId('flame-find').value = ''; byId('flame-shape').value = 'rows'; byId('flame-mode').value = 'reversed'; update()")


def use_table(browser):
    open_tab(browser, "contexts")
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
    browser.run("byId('fold').click(); tables.contexts.sortBy(contextColumns.find((column) => column.name === 'bytes'))")
    shown = "[...document.querySelectorAll('#table-view .row.group')].filter((row) => !row.hidden)"
    for row in browser.run(f"{shown}.map((row) => [...row.children].filter((cell) => !cell.hidden).slice(0, 2).map((cell) => cell.textContent).join(' | '))"):
        show("folded", row)
    browser.run("byId('table-view').focus()")
    browser.press("Home")
    browser.press("Enter")
    show("unfolded", browser.run("tables.contexts.order.length"), text(browser, "#details h2"), browser.run("location.hash.includes('fold=1')"))
    browser.run("byId('fold').click(); tables.contexts.sortBy(contextColumns.find((column) => column.name === 'allocs'))")


def use_plot(browser):
    open_tab(browser, "plots")
    browser.run("document.querySelector('#plot-lifetime-size').focus()")
    before = text(browser, "#plots output")
    browser.press("ArrowRight")
    show("plot", before != text(browser, "#plots output"), text(browser, "#plots output"))


# WCAG 2.1, "contrast ratio": the least one of the text on the colours of boxes.
LEAST_CONTRAST = """(() => {
  const light = (parts) => parts.map((part) => part / 255).map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0.05);
  const contrast = (colour) => { const ratio = light(colour) / light(colorParts(textColor(colour))); return Math.max(ratio, 1 / ratio); };
  return Math.min(...[...Array(60).keys()].flatMap((i) => [hueParts(i, 60), hueParts(i + 1, 60), rampParts(i, 60)]).map(contrast));
})()"""


def use_colours(browser):
    contrast = browser.run(LEAST_CONTRAST)
    open_tab(browser, "flame")
    light = browser.run("getComputedStyle(document.body).backgroundColor")
    browser.use_colours("dark")
    browser.run("new Promise((done) => setTimeout(done, 50))")
    dark = browser.run("getComputedStyle(document.body).backgroundColor")
    corner = pixels(browser, "#flame-view canvas", "const at = 4 * (5 * canvas.width + 40); return [...pixels.slice(at, at + 3)].join();")
    show("colours", light, dark, corner)
    show("contrast", contrast >= 4.5, browser.run(LEAST_CONTRAST) >= 4.5)


LISTED = """[...document.querySelectorAll('#ID-table-view .row')].filter((row) => !row.hidden)
  .map((row) => [...row.children].map((cell) => cell.textContent).join(' | '))"""


def use_groups(browser):
    """Sums by file and type, chosen by keys: of libraries there is one."""
    browser.run("openTab('functions'); document.querySelector('#functions .by').focus()")
    for by in ("file", "type"):
        browser.press("ArrowDown")
        show("by", by, browser.run("[...document.querySelectorAll('#functions-table-head button')].map((b) => b.textContent).join()"))
        for row in browser.run(LISTED.replace("ID", "functions")):
            show("by", by, row)
        browser.run("choose({ group: tables.functions.order[0], by: page.by })")
        show("by", by, browser.run("location.hash"), browser.run("[...document.querySelectorAll('#details th')].map((e) => e.textContent).join()"))
    browser.run("followAddress()")
    show("by", "again", text(browser, "#details h2"), browser.run("document.querySelector('#functions .by').value"))
    browser.run("setBy('function')")


def use_lists(browser):
    """Functions with callers and callees, leaks, temporary blocks, advice."""
    browser.run("byId('quantity').value = 'bytes'; update()")
    for name in ("functions", "leaks", "temporary"):
        open_tab(browser, name)
        for row in browser.run(LISTED.replace("ID", name)):
            show(name, row)
    show("sorted", browser.run("tables.temporary.sorted.name"), browser.run("temporaryCaption()"))
    open_tab(browser, "functions")
    browser.run("byId('functions-table-view').focus()")
    browser.press("ArrowDown")
    browser.press("Enter")
    for row in browser.run("[...document.querySelectorAll('#details tr')].map((row) => row.textContent)"):
        show("function", row)
    browser.run("[...document.querySelectorAll('#details button')].find((b) => b.textContent === 'Without this').click()")
    show("without it", text(browser, "#shown"))
    browser.run("setHidden('')")
    browser.run("choose({ group: groupsWith('flat').find((g) => groupName(g) === 'shop::add') })")
    browser.run("[...document.querySelectorAll('#details button')].find((b) => b.textContent === 'Look through').click()")
    for row in browser.run(LISTED.replace("ID", "functions")):
        show("looked through", row)
    browser.run("[...document.querySelectorAll('#functions button')].find((b) => b.textContent === 'Show shop::add again').click()")
    show("shown again", browser.run("groupSums(selectionNow).flat.some((sum, g) => sum > 0 && groupName(g) === 'shop::add')"))
    use_groups(browser)
    open_tab(browser, "advice")
    show("advice", browser.run("[...document.querySelectorAll('#advice h2')].map((head) => head.textContent).join(); "))


def use_address(browser):
    """What was chosen is found again by the address."""
    browser.run("byId('quantity').value = 'allocs'; setFilter('add'); setHidden('<script>'); openTab('functions')")
    browser.run("tables.functions.sortBy(tables.functions.columns[0]); lookThrough([2]); choose({ context: 1 })")
    address = browser.run("location.hash")
    said = text(browser, "#shown"), text(browser, "#details h2")
    browser.run("location.hash = ''; new Promise((done) => setTimeout(done, 100))")
    show("address", address, text(browser, "#shown"))
    browser.run(f"location.hash = {address!r}; new Promise((done) => setTimeout(done, 100))")
    show("again", browser.run("page.tab"), browser.run("tables.functions.sorting"),
         said == (text(browser, "#shown"), text(browser, "#details h2")), browser.run("location.hash") == address)
    browser.run("location.hash = '#tab=none&measure=none&context=99999&function=-1&sort=none&classes=hot&frames=none'; new Promise((done) => setTimeout(done, 100))")
    show("nonsense", browser.run("page.tab"), text(browser, "#shown"))
    browser.run("location.hash = ''; new Promise((done) => setTimeout(done, 100))")


WIDTHS = ((390, 844), (900, 700), (1440, 900), (1920, 1080), (2560, 1300))
OUTSIDE = """[...document.querySelectorAll('body, main, #details, #views > section')].filter((e) => {
  const box = e.getBoundingClientRect();
  return box.width > 0 && (box.right > innerWidth + 1 || box.bottom > innerHeight + 1 || e.scrollWidth > e.clientWidth + 1);
}).map((e) => `${page.tab} ${e.id || e.tagName} ${innerWidth}`)"""


def check_widths(browser):
    """Nothing is wider than the window, and the details are in it."""
    outside = []
    browser.run("choose({ context: 1 })")
    for width, height in WIDTHS:
        browser.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        for name in browser.run("tabNames()"):
            open_tab(browser, name)
            outside += browser.run(OUTSIDE)
    browser.send("Emulation.clearDeviceMetricsOverride")
    show("outside", outside)
    open_tab(browser, "contexts")


def check_tab(browser):
    """Every control is reached by the tabulator."""
    reached = set()
    for name in ("contexts", "flame", "plots"):
        open_tab(browser, name)
        reached |= walk(browser)
    wanted = {"quantity", "filter", "hidden", "cold", "hot", "flame-mode", "flame-view", "table-view", "details",
              "plot-lifetime-size", "tab-contexts"}
    show("not reached", sorted(wanted - reached))


def walk(browser):
    browser.run("document.activeElement.blur()")
    browser.run("window.getSelection().removeAllRanges()")
    reached = set()
    for _ in range(40):
        browser.press("Tab")
        reached.add(browser.run("document.activeElement.id || document.activeElement.value || ''"))
    return reached


with Browser() as browser:
    browser.open(sys.argv[1])
    for use in (look, use_filter, keep_choice, use_flame, use_flame_colours, use_table, use_plot, use_lists, use_address, check_widths, use_colours, check_tab):
        use(browser)
    show("errors", browser.errors)
    show("requests", len(browser.requests))
