// @ts-check
// The panel beside the views: facts of the context or group that the reader points at.

const MOST_RELATIVES = 12;
const MOST_CONTEXTS = 6;

function groupButton(group, by) {
  return make('button', { type: 'button', className: 'link', title: groupFile(group, by), onclick: () => choose({ group, by }) },
    groupName(group, by));
}

// With a button, unless it is a wrapper.
function frameItem(place) {
  const fn = data.places.function[place];
  const name = data.functions.wrapper[fn] ? data.functions.name[fn] : groupButton(grouping.groups[fn]);
  return make('li', {}, make('code', {}, name), ` ${placeText(place, true)}`);
}

function factList(facts) {
  return make('dl', {}, ...facts.flatMap(([name, ...value]) => [make('dt', {}, name), make('dd', {}, ...value)]));
}

// Profiles have percentages of 64-byte parts, by block.
function untouchedText(value, bytes) {
  return `${bytesText(value)}, ${shareText(value, Math.max(bytes, 1))}`;
}

function contextFacts(context) {
  const average = (column) => contexts[column][context] / Math.max(contexts.allocs[context], 1);
  const facts = data.quantities.filter(isKnown)
    .map((quantity) => [quantity.name, quantityText(quantity.key, contexts[quantity.key][context])]);
  facts.push(['average size', bytesText(average('bytes'))], ['average lifetime', timeText(average('lifetime_ns'))]);
  if (data.untouched_known) {
    facts.push(['untouched', untouchedText(contexts.untouched[context], contexts.bytes[context])]);
  }
  if (data.tallied) {
    facts.push(['temporary', countText(contexts.temporary[context])]);
  }
  if (data.base) {
    facts.push([`${selectionNow.quantity} in ${data.base}`, quantityText(selectionNow.quantity, baseOf(selectionNow.quantity, context))]);
  }
  if (data.accesses_known) {
    facts.push(['class', data.classes[contexts.class[context]]]);
  }
  return typeOf(context) ? facts.concat([['type', typeOf(context)]]) : facts;
}

function contextDetails(context) {
  const list = make('ol', {});
  for (let node = contexts.node[context]; node >= 0; node = data.nodes.caller[node]) {
    list.append(frameItem(data.nodes.place[node]));
  }
  return [make('h2', {}, `Context of ${data.functions.name[nodeFunction[contexts.owner[context]]]}`),
    factList(contextFacts(context)), make('h3', {}, 'Call stack of the allocation'), list];
}

function relativeTable(title, by, relatives, itself, whole) {
  const { quantity } = selectionNow;
  const rows = relatives.slice(0, MOST_RELATIVES).map(([group, sum]) => [
    group === ITSELF ? itself : groupButton(group, by), quantityText(quantity, sum), shareText(sum, whole)]);
  if (relatives.length > MOST_RELATIVES) {
    const rest = relatives.slice(MOST_RELATIVES);
    const sum = rest.reduce((total, entry) => total + entry[1], 0);
    rows.push([`${countText(rest.length)} more`, quantityText(quantity, sum), shareText(sum, whole)]);
  }
  return makeTable([title, quantityName(quantity), '%'], rows, 'wide');
}

function relativeTables(selection, group, by, cumulative) {
  const callers = callersOf(selection, group, by);
  return callers.length === 0 ? [make('p', { className: 'caption' }, 'It is called by functions that are looked through.')] : [
    relativeTable('called by', by, callers, '(nobody: the stack begins here)', cumulative),
    relativeTable('calls', by, calleesOf(selection, group, by), '(allocates itself)', cumulative)];
}

function contextButton(context) {
  return make('button', { type: 'button', className: 'link', onclick: () => choose({ context }) }, placeAndCallers(context));
}

function groupTools(group, by) {
  const pattern = `^${escapePattern(groupName(group, by))}$`;
  return make('p', { className: 'tools' },
    make('button', { type: 'button', onclick: () => setFilter(pattern) }, 'Only with this'),
    make('button', { type: 'button', onclick: () => setHidden(pattern) }, 'Without this'),
    make('button', { type: 'button', onclick: () => { setFilter(pattern); openTab('flame'); } }, 'Flame graph'),
    ...(by === 'function' ? [make('button', {
      type: 'button', title: 'it is a wrapper: what it allocates is its callers\u2019',
      onclick: () => setWrappers(page.wrappers.concat([group])),
    }, 'Look through')] : []));
}

// A name in parentheses stands for things without one, which no filter finds.
function isNamed(group, by) {
  return by === 'function' || groupName(group, by)[0] !== '(';
}

function groupDetails(group, by = 'function') {
  const selection = selectionNow;
  const { quantity } = selection;
  const sums = groupSums(selection, by);
  const cumulative = sums.cumulative[group];
  const largest = sortItems(contextsWithin(selection, group, by), (context) => contexts[quantity][context], true)
    .slice(0, MOST_CONTEXTS);
  const contextTable = makeTable(['contexts of most', quantityName(quantity)],
    Array.from(largest, (context) => [contextButton(context), quantityText(quantity, contexts[quantity][context])]), 'wide');
  const amount = (value) => `${quantityText(quantity, value)}, ${shareText(value, selection.sum)}`;
  return [make('h2', {}, groupName(group, by)), make('p', { className: 'caption' }, groupFile(group, by)),
    factList([['itself', amount(sums.flat[group])], ...(by === 'type' ? [] : [['with all it calls', amount(cumulative)]]),
      ['allocations', countText(sums.allocs[group])],
      ...(sums.allocs[group] > 0 ? [
        ['average size', bytesText(sums.bytes[group] / sums.allocs[group])],
        ['average lifetime', timeText(sums.lifetime_ns[group] / sums.allocs[group])],
        ['held on average', bytesText(heldOnAverage(sums.byte_seconds[group]))],
        ...(data.untouched_known ? [['untouched', untouchedText(sums.untouched[group], sums.bytes[group])]] : [])] : []),
      ['live at exit', bytesText(sums.live[group])]]),
    ...(isNamed(group, by) ? [groupTools(group, by)] : []),
    ...(by === 'type' ? [] : relativeTables(selection, group, by, cumulative)),
    contextTable];
}

// Of the first row, or of the function of most: what the reader would ask for first.
function firstChoice() {
  const table = tables[page.tab];
  if (table) {
    return table.order.length > 0 ? table.choiceOf(table.order[0]) : {};
  }
  const finding = page.tab === 'advice' && data.advice.findings.find(({ context }) => context !== undefined);
  const { flat } = groupSums(selectionNow);
  return finding ? { context: finding.context } : selectionNow.sum > 0 ? { group: flat.indexOf(flat.reduce((a, b) => Math.max(a, b))) } : {};
}

let detailsTimer;

// Those of the first row do not delay the view of a large profile.
function showDetails() {
  const isChosen = page.chosen.context !== undefined || page.chosen.group !== undefined;
  showPanel();
  clearTimeout(detailsTimer);
  if (!isChosen && contexts.count > 20000) {
    detailsTimer = setTimeout(() => fillDetails(firstChoice()), 100);
  } else {
    fillDetails(isChosen ? page.chosen : firstChoice());
  }
}

function fillDetails({ context, group, by }) {
  const panel = byId('details');
  if (!panel.hidden) {
    panel.replaceChildren(...(context !== undefined ? contextDetails(context) : group !== undefined ? groupDetails(group, by)
      : [make('p', { className: 'caption' }, 'Nothing is selected.')]));
    panel.scrollTop = 0;
  }
}

function choose(chosen) {
  page.chosen = chosen;
  showDetails();
  keepState();
}
