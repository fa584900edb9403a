// @ts-check
// The page as a whole: what is shown, its tabs and its address.

// -------------------------------------------------- tabs and address --------------------------------------------------

// What the reader chose stands behind the address's '#', so that a link or the history leads back to it.

const page = { tab: '', chosen: {}, wrappers: [], by: 'function' };
const tables = {}; // by tab
const views = {}; // by tab: functions that draw
const flameChoices = [['frames', 'flame-mode'], ['shape', 'flame-shape'], ['colour', 'flame-colour']];
const withDetails = ['summary', 'functions', 'flame', 'contexts', 'leaks', 'temporary', 'advice'];

function tabNames() {
  return all('#views > section').map((section) => section.id).filter((name) => views[name]);
}

function keepState() {
  const table = tables[page.tab];
  const boxes = all('input[name=class]');
  const state = {
    tab: page.tab, measure: byId('quantity').value, only: byId('filter').value, without: byId('hidden').value,
    classes: boxes.every((box) => box.checked) ? '' : boxes.filter((box) => box.checked).map((box) => box.value).join() || 'none',
    fold: page.tab === 'contexts' && table.folding ? 1 : '', sort: table ? table.sorting : '',
    wrappers: page.wrappers.join(), by: page.by === 'function' ? '' : page.by, context: page.chosen.context,
    [page.chosen.by || 'function']: page.chosen.group,
  };
  flameChoices.forEach(([key, id]) => { state[key] = page.tab === 'flame' ? byId(id).value : ''; });
  const kept = Object.keys(state).filter((key) => state[key] !== '' && state[key] !== undefined);
  const text = kept.map((key) => `${key}=${encodeURIComponent(state[key])}`).join('&');
  history.replaceState(null, '', `#${text}`);
}

function inRange(text, count) {
  return /^\d+$/.test(text || '') && Number(text) < count ? Number(text) : undefined;
}

function readState() {
  const state = new URLSearchParams(window.location.hash.slice(1));
  const known = data.quantities.find((quantity) => quantity.key === state.get('measure') && isKnown(quantity));
  byId('quantity').value = known ? known.key : data.quantities[0].key;
  byId('filter').value = state.get('only') || '';
  byId('hidden').value = state.get('without') || '';
  const classes = state.get('classes');
  all('input[name=class]').forEach((box) => {
    box.checked = !classes || classes.split(',').includes(box.value);
  });
  for (const [key, id] of flameChoices) {
    const values = Array.from(byId(id).options, (option) => option.value);
    byId(id).value = values.includes(state.get(key)) ? state.get(key) : values[0];
  }
  tables.contexts.folding = byId('fold').checked = state.get('fold') === '1';
  page.tab = tabNames().includes(state.get('tab')) ? state.get('tab') : tabNames()[0];
  if (tables[page.tab] && state.get('sort')) {
    tables[page.tab].sorting = state.get('sort');
  }
  const wrappers = (state.get('wrappers') || '').split(',').map((text) => inRange(text, grouping.count));
  lookThrough(wrappers.filter((group) => group !== undefined));
  page.by = kindsOfGroups.includes(state.get('by')) ? state.get('by') : 'function';
  const by = kindsOfGroups.find((kind) => state.has(kind)) || 'function';
  page.chosen = { context: inRange(state.get('context'), contexts.count), group: inRange(state.get(by), groupings[by].count), by };
}

function showTab() {
  for (const name of tabNames()) {
    const tab = byId(`tab-${name}`);
    const isOpen = name === page.tab;
    byId(name).hidden = !isOpen;
    tab.setAttribute('aria-selected', String(isOpen));
    tab.tabIndex = isOpen ? 0 : -1;
  }
  drawTab();
}

// Beside the view, unless there is nothing to say.
function showPanel() {
  const { context, group } = page.chosen;
  const alone = !withDetails.includes(page.tab) || (page.tab === 'summary' && context === undefined && group === undefined);
  byId('details').hidden = alone;
  document.querySelector('main').classList.toggle('alone', alone);
}

function openTab(name) {
  page.tab = name;
  showPanel();
  showTab();
  showDetails();
  keepState();
}

function onTabKey(event) {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  const names = tabNames();
  if (step) {
    openTab(names[(names.indexOf(page.tab) + step + names.length) % names.length]);
    byId(`tab-${page.tab}`).focus();
    event.preventDefault();
  }
}

function startTabs() {
  all('#views > section').forEach((section) => {
    section.hidden = true;
    if (!views[section.id]) {
      return;
    }
    const tab = make('button', { type: 'button', id: `tab-${section.id}`, onclick: () => openTab(section.id) }, section.dataset.tab);
    tab.setAttribute('role', 'tab');
    tab.setAttribute('aria-controls', section.id);
    section.setAttribute('role', 'tabpanel');
    section.setAttribute('aria-labelledby', tab.id);
    byId('tabs').append(tab);
  });
  byId('tabs').addEventListener('keydown', onTabKey);
}

// -------------------------------------------------- selection --------------------------------------------------

// What is shown: the contexts that pass the filters, measured by one quantity.

function quantityName(key) {
  return data.quantities.find((quantity) => quantity.key === key).name;
}

function shownClasses() {
  const checked = all('input[name=class]:checked').map((box) => box.value);
  return data.classes.map((name) => checked.includes(name === 'unknown' ? 'notcold' : name));
}

function escapePattern(text) {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

// A regular expression; what is none is a plain text. NULL: there is nothing to look for.
function patternOf(input) {
  const text = input.value.trim();
  input.setAttribute('aria-invalid', 'false');
  if (text === '') {
    return null;
  }
  try {
    return new RegExp(text, 'i');
  } catch (error) {
    input.setAttribute('aria-invalid', 'true');
    return new RegExp(escapePattern(text), 'i');
  }
}

// By function: does its name or its file match?
function matchFunctions(pattern) {
  const files = data.files.map((file) => pattern.test(file));
  return Uint8Array.from(data.functions.name, (name, fn) => {
    const file = data.functions.file[fn];
    return pattern.test(name) || (file > 0 && files[file - 1]) ? 1 : 0;
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

// By context: does its stack or its type match?
function matcherOf(functions, pattern) {
  const stacks = matchStacks(functions);
  const types = [0, ...data.types.map((type) => (pattern.test(type) ? 1 : 0))];
  return (context) => stacks[contexts.node[context]] === 1 || types[contexts.type[context]] === 1;
}

function sumOf(quantity, shown) {
  const values = contexts[quantity];
  return shown.reduce((sum, context) => sum + values[context], 0);
}

// The selection: `quantity`, `shown` contexts, their `sum`, and by function whether the filter finds it (or null).
function select() {
  const only = patternOf(byId('filter'));
  const without = patternOf(byId('hidden'));
  const matches = only && matchFunctions(only);
  const isWanted = only ? matcherOf(matches, only) : () => true;
  const isHidden = without ? matcherOf(matchFunctions(without), without) : () => false;
  const classes = shownClasses();
  const shown = new Int32Array(contexts.count);
  let count = 0;
  for (let context = 0; context < shown.length; context++) {
    if (classes[contexts.class[context]] && isWanted(context) && !isHidden(context)) {
      shown[count++] = context;
    }
  }
  const quantity = byId('quantity').value;
  const selection = { quantity, matches, shown: shown.slice(0, count) };
  selection.sum = sumOf(quantity, selection.shown);
  return selection;
}

let selectionNow = null;

function tellShown() {
  const { quantity, shown, sum } = selectionNow;
  byId('shown').textContent = `${countText(shown.length)} of ${countText(contexts.count)} contexts, `
    + `${quantityText(quantity, sum)} (${shareText(sum, sumAll(quantity))})`;
  byId('nothing').hidden = shown.length > 0 || contexts.count === 0;
}

function showAll() {
  byId('filter').value = byId('hidden').value = '';
  all('input[name=class]').forEach((box) => { box.checked = true; });
  update();
}

let plots = [];

function drawPlots() {
  for (const plot of plots) {
    plot.quantity = selectionNow.quantity;
    plot.draw();
  }
}

// The open view, unless it shows this selection already.
function drawTab() {
  const selection = selectionNow;
  selection.drawn = selection.drawn || new Set();
  if (!selection.drawn.has(page.tab)) {
    selection.drawn.add(page.tab);
    views[page.tab]();
  }
}

// What no longer passes the filters is not chosen any more.
function keepChoice() {
  const { context, group, by } = page.chosen;
  const isKept = context !== undefined ? selectionNow.shown.includes(context)
    : group !== undefined && groupSums(selectionNow, by).cumulative[group] > 0;
  page.chosen = isKept ? page.chosen : {};
}

function pointAtChosen() {
  if (tables[page.tab]) {
    tables[page.tab].pointAt(chosenItem());
  }
}

function update() {
  selectionNow = select();
  tellShown();
  keepChoice();
  drawTab();
  pointAtChosen();
  showDetails();
  keepState();
}

function setFilter(text) {
  byId('filter').value = text;
  update();
}

// The function that was chosen may be none of those that are shown then.
function setWrappers(groups) {
  lookThrough(groups);
  page.chosen = {};
  update();
}

function setBy(by) {
  page.by = by;
  page.chosen = {};
  update();
}

function setHidden(text) {
  byId('hidden').value = text;
  update();
}

// Typing does not wait for a large profile.
let updateTimer;

function updateSoon() {
  clearTimeout(updateTimer);
  updateTimer = setTimeout(update, contexts.count > 20000 ? 250 : 0);
}

// In the open table.
function chosenItem() {
  return page.tab === 'contexts' ? page.chosen.context : page.chosen.group;
}

function redraw() {
  selectionNow.drawn = new Set();
  drawTab();
}

function followAddress() {
  readState();
  selectionNow = select();
  tellShown();
  showPanel();
  showTab();
  pointAtChosen();
  showDetails();
}

function startViews() {
  views.summary = drawSummary;
  startLists();
  views.flame = drawFlameView;
  if (data.advice) {
    views.advice = drawAdvice;
  }
  if (data.globals) {
    views.globals = drawGlobals;
  }
  views.plots = drawPlots;
  if (!hasLive) {
    delete views.leaks;
  }
}

function start() {
  byId('quantity').append(...data.quantities.filter(isKnown).map((quantity) => make('option',
    { value: quantity.key, title: quantity.description }, quantity.name)));
  byId('class-boxes').hidden = !data.accesses_known;
  tellFacts();
  startFlame();
  startViews();
  startTabs();
  plots = startPlots();
  followAddress();
  ['quantity', ...flameChoices.map((choice) => choice[1])].forEach((id) => byId(id).addEventListener('change', update));
  byId('show-all').addEventListener('click', showAll);
  ['filter', 'hidden'].forEach((id) => byId(id).addEventListener('input', updateSoon));
  all('input[name=class]').forEach((box) => box.addEventListener('change', update));
  window.addEventListener('hashchange', followAddress);
  window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
}

start();
