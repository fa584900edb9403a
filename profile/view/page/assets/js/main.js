// What is shown: the contexts that pass the filter, measured by one quantity.

function isKnown(quantity) {
  return quantity.key !== 'accesses' || data.accesses_counted;
}

function shownClasses() {
  const checked = Array.from(document.querySelectorAll('input[name=class]:checked'), (box) => box.value);
  return data.classes.map((name) => checked.includes(name === 'unknown' ? 'notcold' : name));
}

// By function: does its name or its file contain the text?
function matchFunctions(text) {
  const files = data.files.map((file) => file.toLowerCase().includes(text));
  return Uint8Array.from(data.functions.name, (name, fn) => {
    const file = data.functions.file[fn];
    return name.toLowerCase().includes(text) || (file > 0 && files[file - 1]) ? 1 : 0;
  });
}

// By node: does it or one of its callers match?
function matchStacks(functions) {
  const { caller } = data.nodes;
  const stacks = new Uint8Array(data.nodes.count);
  for (let node = 0; node < stacks.length; node++) {
    stacks[node] = functions[nodeFunction[node]] | (caller[node] < 0 ? 0 : stacks[caller[node]]);
  }
  return stacks;
}

function matchContexts(functions, text) {
  const stacks = functions && matchStacks(functions);
  const classes = shownClasses();
  const shown = new Int32Array(contexts.count);
  let count = 0;
  for (let context = 0; context < shown.length; context++) {
    if (classes[contexts.class[context]]
      && (!stacks || stacks[contexts.node[context]] === 1 || typeOf(context).toLowerCase().includes(text))) {
      shown[count++] = context;
    }
  }
  return shown.slice(0, count);
}

function sumOf(quantity, shown) {
  return shown.reduce((sum, context) => sum + contexts[quantity][context], 0);
}

function tellShown(shown, quantity) {
  const sum = sumOf(quantity, shown);
  const whole = contexts[quantity].reduce((a, b) => a + b, 0);
  byId('shown').textContent = `${countText(shown.length)} of ${countText(contexts.count)} contexts, `
    + `${quantityText(quantity, sum)} (${shareText(sum, whole)})`;
}

let plots = [];

function drawPlots(quantity) {
  for (const plot of plots) {
    plot.quantity = quantity;
    plot.draw();
  }
}

function update() {
  const quantity = byId('quantity').value;
  const text = byId('filter').value.trim().toLowerCase();
  const functions = text === '' ? null : matchFunctions(text);
  const shown = matchContexts(functions, text);
  tellShown(shown, quantity);
  updateFlame(shown, quantity, functions);
  updateTable(shown);
  drawPlots(quantity);
}

function setFilter(text) {
  byId('filter').value = text;
  update();
}

// Typing does not wait for a large profile.
function updateSoon() {
  clearTimeout(updateSoon.timer);
  updateSoon.timer = setTimeout(update, contexts.count > 20000 ? 250 : 0);
}

function redraw() {
  drawFlame();
  drawPlots(byId('quantity').value);
}

function onKey(event) {
  if (event.key === '/' && event.target.tagName !== 'INPUT') {
    byId('filter').focus();
    event.preventDefault();
  }
}

function tellFacts() {
  const classes = data.accesses_known ? 'Cold is blue, hot is red.'
    : 'Accesses were not counted, so no context is known to be cold or hot.';
  const dropped = data.dropped_blocks > 0 ? `; ${countText(data.dropped_blocks)} blocks have no record` : '';
  const libraries = data.accesses_known && data.library_bytes > 0
    ? ` Libraries allocate ${bytesText(data.library_bytes)}, ${bytesText(data.cold_library_bytes)} of them cold: hints reach these`
      + ' by hearth index --library-calls.' : '';
  byId('facts').textContent = `${countText(data.runs)} ${data.runs === 1 ? 'run' : 'runs'}, `
    + `${timeText(data.duration_ns)} in all${dropped}. ${classes}${libraries}`;
}

function start() {
  byId('quantity').append(...data.quantities.filter(isKnown).map((quantity) => make('option',
    { value: quantity.key, title: quantity.description, selected: quantity.key === data.value }, quantity.name)));
  tellFacts();
  startFlame();
  startTable();
  plots = startPlots();
  startBuild();
  update();
  byId('quantity').addEventListener('change', update);
  byId('flame-mode').addEventListener('change', update);
  byId('filter').addEventListener('input', updateSoon);
  document.querySelectorAll('input[name=class]').forEach((box) => box.addEventListener('change', update));
  document.addEventListener('keydown', onKey);
  window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
}

start();
