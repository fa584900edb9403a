// @ts-check
// Tabs, and the address: what the reader chose stands behind its '#', so that a link or the history leads back to it.

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
