// Tabs, and the address: what the reader chose stands behind its '#', so that a link or the history leads back to it.

const page = { tab: '', chosen: {}, wrappers: [], by: 'function' };
const tables = {}; // by tab
const views = {}; // by tab: functions that draw
const withDetails = ['summary', 'functions', 'flame', 'contexts', 'leaks', 'temporary', 'sizes', 'advice'];

function tabNames() {
  return Object.keys(views);
}

function keepState() {
  const table = tables[page.tab];
  const boxes = Array.from(document.querySelectorAll('input[name=class]'));
  const state = {
    tab: page.tab, measure: byId('quantity').value, only: byId('filter').value, without: byId('hidden').value,
    classes: boxes.every((box) => box.checked) ? '' : boxes.filter((box) => box.checked).map((box) => box.value).join() || 'none',
    frames: page.tab === 'flame' ? byId('flame-mode').value : '', sort: table ? table.sorting : '',
    wrappers: page.wrappers.join(), by: page.by === 'function' ? '' : page.by, context: page.chosen.context,
    [page.chosen.by || 'function']: page.chosen.group,
  };
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
  byId('quantity').value = known ? known.key : data.value;
  byId('filter').value = state.get('only') || '';
  byId('hidden').value = state.get('without') || '';
  const classes = state.get('classes');
  document.querySelectorAll('input[name=class]').forEach((box) => {
    box.checked = !classes || classes.split(',').includes(box.value);
  });
  byId('flame-mode').value = state.get('frames') in treeMakers ? state.get('frames') : 'functions';
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
    tab.setAttribute('aria-selected', isOpen);
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
  keepState();
}

// The step-th tab from the open one.
function stepTab(step) {
  const names = tabNames();
  openTab(names[(names.indexOf(page.tab) + step + names.length) % names.length]);
  byId(`tab-${page.tab}`).focus();
}

function onTabKey(event) {
  const steps = { ArrowLeft: -1, ArrowRight: 1 };
  if (steps[event.key]) {
    stepTab(steps[event.key]);
    event.preventDefault();
  }
}

function startTabs() {
  document.querySelectorAll('#views > section').forEach((section) => {
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
