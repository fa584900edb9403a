// @ts-check
// The tables: functions, contexts, leaks, temporary blocks.

function averageOf(column) {
  return (context) => contexts[column][context] / Math.max(contexts.allocs[context], 1);
}

// The functions on the way to the owner, nearest first, wrappers looked through.
function callersText(context) {
  const names = [];
  for (let node = data.nodes.caller[contexts.owner[context]]; node >= 0 && names.length < 8; node = data.nodes.caller[node]) {
    if (!data.functions.wrapper[nodeFunction[node]]) {
      names.push(data.functions.name[nodeFunction[node]]);
    }
  }
  return names.join(' \u2190 ');
}

// What tells the contexts of a function apart. Places without lines do not.
function placeAndCallers(context) {
  const place = placeText(ownerPlaceOf(context), false);
  return [data.places.line[ownerPlaceOf(context)] > 0 && place, callersText(context)].filter(Boolean).join(' \u2190 ') || place;
}

// As wide as the longest place, which is what tells contexts of one function apart.
function widestPlace() {
  let longest = 6;
  for (let place = 0; place < data.places.count; place++) {
    longest = Math.max(longest, placeText(place, false).length);
  }
  return Math.min(7.6 * longest, 330);
}

const contextColumns = [
  { name: 'class', least: 52, rank: 2.1, of: (c) => data.classes[contexts.class[c]], absent: !data.accesses_known },
  { name: 'function', least: 165, grow: 3, rank: 0, of: (c) => data.functions.name[data.places.function[ownerPlaceOf(c)]] },
  { name: 'source', least: widestPlace(), rank: 1.8, of: (c) => placeText(ownerPlaceOf(c), false), title: (c) => placeText(ownerPlaceOf(c), true), absent: !data.places.line.some((line) => line > 0) },
  { name: 'called from', least: 150, grow: 5, rank: 1.9, of: callersText },
  { name: 'type', least: 90, grow: contexts.type.filter((type) => type > 0).length > contexts.count / 4 ? 3 : 0, rank: 2.5, of: typeOf, absent: data.types.length === 0 },
  { name: 'bytes', least: 80, rank: 1, of: (c) => contexts.bytes[c], text: bytesText, add: true },
  { name: 'change', least: 95, rank: 1.5, of: (c) => contextChange(c), text: changeText, add: true, absent: !data.base },
  { name: 'allocs', least: 90, rank: 2, of: (c) => contexts.allocs[c], text: countText, add: true },
  { name: 'accesses', least: 110, rank: 5, of: (c) => contexts.accesses[c], text: countText, add: true, absent: !data.accesses_counted },
  { name: 'average size', least: 70, rank: 9, of: averageOf('bytes'), text: bytesText, over: 'bytes' },
  { name: 'average lifetime', least: 70, rank: 7, of: averageOf('lifetime_ns'), text: timeText, over: 'lifetime_ns' },
  { name: 'byte-seconds', least: 100, rank: 11, of: (c) => contexts.byte_seconds[c], text: byteSecondsText, add: true },
  { name: 'live', least: 75, rank: 10, of: (c) => contexts.live[c], text: bytesText, add: true, absent: !hasLive },
  { name: 'untouched', least: 75, rank: 9.5, of: (c) => contexts.untouched[c], text: bytesText, add: true, absent: !data.untouched_known },
  { name: 'at the peak', least: 75, rank: 4.5, of: (c) => contexts.peak[c], text: bytesText, add: true, absent: !hasPeak },
].filter((column) => !column.absent);

function sumColumn(name) {
  return (group) => groupSums(selectionNow, page.by)[name][group];
}

function averageColumn(name) {
  return (group) => sumColumn(name)(group) / Math.max(sumColumn('allocs')(group), 1);
}

function shareOf(name, whole) {
  return (group) => sumColumn(name)(group) / Math.max(whole(), 1);
}

function perCent(value) {
  return `${(100 * value).toFixed(1)} %`;
}

// Bytes, from the sum of bytes times seconds of life.
function heldOnAverage(byteSeconds) {
  return byteSeconds * 1e9 / Math.max(data.duration_ns, 1);
}

const wholes = {
  value: () => selectionNow.sum,
  live: () => sumOf('live', selectionNow.shown),
  allocs: () => sumOf('allocs', selectionNow.shown),
};

// What the tables sum by, where it tells something.
const kindsOfGroups = Object.keys(groupings).filter((by) => by === 'function' || groupings[by].count > 1);
const pluralOf = { function: 'functions', file: 'files', library: 'libraries', type: 'types' };

// Of paths the end, which tells them apart.
function shortGroupName(group) {
  const parts = { file: 2, library: 1 }[page.by];
  const name = groupName(group, page.by);
  return parts ? name.split('/').slice(-parts).join('/') : name;
}

const groupColumn = { get name() { return page.by; }, least: 200, grow: 4, rank: 0, of: shortGroupName, title: (g) => groupName(g, page.by) };
const fileColumn = { name: 'file', least: 110, grow: 2, rank: 6, of: (g) => groupFile(g).slice(groupFile(g).lastIndexOf('/') + 1), title: (g) => groupFile(g), isHidden: () => page.by !== 'function' };
const allocsColumn = { name: 'allocs', least: 100, rank: 4, of: sumColumn('allocs'), text: countText };
const sizeColumn = { name: 'average size', least: 75, rank: 8, of: averageColumn('bytes'), text: (value) => (value > 0 ? bytesText(value) : '') };
const lifeColumn = { name: 'average lifetime', least: 75, rank: 7, of: averageColumn('lifetime_ns'), text: (value) => (value > 0 ? timeText(value) : '') };

// What is in the measured quantity.
function measuredText(value) {
  return quantityText(selectionNow.quantity, value);
}

function changeText(value) {
  return value === 0 ? '0' : `${value > 0 ? '+' : '\u2212'}${measuredText(Math.abs(value))}`;
}

function contextChange(context) {
  return contexts[selectionNow.quantity][context] - baseOf(selectionNow.quantity, context);
}

function callsNothing() {
  return page.by === 'type';
}

// Since the profile that is compared with.
const changeColumns = [
  { name: 'change', least: 95, rank: 1.5, of: (g) => sumColumn('flat')(g) - sumColumn('baseFlat')(g), text: changeText },
  { name: 'change with all it calls', isHidden: callsNothing, least: 95, rank: 2.5, of: (g) => sumColumn('cumulative')(g) - sumColumn('baseCumulative')(g), text: changeText },
].map((column) => Object.assign(column, { absent: !data.base }));

const functionColumns = [groupColumn, fileColumn, ...changeColumns,
  { name: 'itself', least: 85, rank: 1, of: sumColumn('flat'), text: measuredText, share: shareOf('flat', wholes.value), help: 'the contexts that it owns' },
  { name: '%', least: 62, rank: 3, of: shareOf('flat', wholes.value), text: perCent },
  { name: 'with all it calls', isHidden: callsNothing, least: 95, rank: 2, of: sumColumn('cumulative'), text: measuredText, share: shareOf('cumulative', wholes.value), help: 'contexts with it in their stacks' },
  { name: 'all %', isHidden: callsNothing, least: 62, rank: 5, of: shareOf('cumulative', wholes.value), text: perCent },
  allocsColumn, sizeColumn, lifeColumn,
  { name: 'held on average', least: 80, rank: 6.5, of: (g) => heldOnAverage(sumColumn('byte_seconds')(g)), text: bytesText, help: 'bytes times lifetime, by the length of the run' },
  { name: 'live at exit', least: 75, rank: 9, of: sumColumn('live'), text: bytesText, absent: !hasLive },
  { name: 'untouched', least: 75, rank: 6.7, of: sumColumn('untouched'), text: bytesText, help: 'parts of blocks, of 64 bytes each, without a counted access', absent: !data.untouched_known },
  { name: 'at the peak', least: 75, rank: 5.5, of: sumColumn('peak'), text: bytesText, absent: !hasPeak },
].filter((column) => !column.absent);

const leakColumns = [groupColumn, fileColumn,
  { name: 'live at exit', least: 85, rank: 1, of: sumColumn('live'), text: bytesText, share: shareOf('live', wholes.live) },
  { name: '%', least: 62, rank: 3, of: shareOf('live', wholes.live), text: perCent },
  { name: 'live blocks', least: 90, rank: 2, of: sumColumn('live_allocs'), text: countText },
  allocsColumn,
  { name: 'of its blocks', least: 70, rank: 5, of: (g) => sumColumn('live_allocs')(g) / Math.max(sumColumn('allocs')(g), 1), text: perCent },
  sizeColumn, lifeColumn];

// What 'hearth record' and traces call temporary is fewer.
const temporaryName = data.tallied ? 'temporary' : 'short-lived';

const temporaryColumns = [groupColumn, fileColumn,
  { name: temporaryName, least: 100, rank: 1, of: sumColumn('temporary'), text: countText, share: shareOf('temporary', wholes.allocs) },
  { name: '% of all', least: 65, rank: 2, of: shareOf('temporary', wholes.allocs), text: perCent },
  allocsColumn,
  { name: 'of its blocks', least: 70, rank: 5, of: (g) => sumColumn('temporary')(g) / Math.max(sumColumn('allocs')(g), 1), text: perCent },
  sizeColumn, lifeColumn];

// The groups of which a column is not 0, or was not.
function groupsWith(name, by) {
  const sums = groupSums(selectionNow, by)[name];
  const before = data.base && name === 'cumulative' ? groupSums(selectionNow, by).baseCumulative : sums;
  return Int32Array.from(sums.keys()).filter((group) => sums[group] > 0 || before[group] > 0);
}

function bySelect() {
  return make('select', { className: 'by', onchange: (event) => setBy(event.target.value) },
    ...kindsOfGroups.map((by) => make('option', { value: by }, by)));
}

// A tab with a table of functions, or of files, libraries or types. `caption` gives the text above it; its item is told by `counted` being above 0.
function startFunctionTable(name, counted, sorted, columns, caption) {
  const section = byId(name);
  const text = make('span', { className: 'caption' });
  const kinds = bySelect();
  section.append(make('p', { className: 'tools' }, make('label', {}, 'By ', kinds), text));
  const table = new Table(section, `${name}-table`, { columns, sorted, label: section.dataset.tab, choice: (group) => ({ group, by: page.by }) });
  tables[name] = table;
  views[name] = () => {
    const items = groupsWith(counted, page.by);
    kinds.value = page.by;
    text.replaceChildren(caption(items), ...wrapperButtons());
    table.update(items);
  };
}

// Those that the reader made wrappers.
function wrapperButtons() {
  return page.wrappers.flatMap((group) => [' ', make('button', {
    type: 'button', onclick: () => setWrappers(page.wrappers.filter((other) => other !== group)),
  }, `Show ${groupName(group)} again`)]);
}

function functionsCaption(items) {
  const wrappers = ['function', 'file'].includes(page.by) ? ' Wrappers, such as malloc and std::, are looked through.' : '';
  return `${countText(items.length)} ${items.length === 1 ? page.by : pluralOf[page.by]} by ${quantityName(selectionNow.quantity)}.${wrappers}`;
}

function leaksCaption() {
  const { shown } = selectionNow;
  return `${bytesText(wholes.live())} in ${countText(sumOf('live_allocs', shown))} blocks were not freed when the program ended.`;
}

function temporaryCaption() {
  const sum = groupSums(selectionNow).temporary.reduce((a, b) => a + b, 0);
  const rule = data.tallied ? 'Blocks that their thread freed before it allocated or freed another one'
    : 'Short-lived blocks, of contexts that live less than a millisecond and a thousandth of the run on average';
  return `${rule}: ${countText(sum)}, ${shareText(sum, wholes.allocs())} of all allocations.`;
}

function startLists() {
  startFunctionTable('functions', 'cumulative', 'itself', functionColumns, functionsCaption);
  startFunctionTable('leaks', 'live_allocs', 'live at exit', leakColumns, leaksCaption);
  startFunctionTable('temporary', 'temporary', temporaryName, temporaryColumns, temporaryCaption);
  startContexts();
}

function ownerGroup(context) {
  return grouping.groups[nodeFunction[contexts.owner[context]]];
}

function startContexts() {
  const fold = make('input', { type: 'checkbox', id: 'fold', onchange: () => foldContexts(fold.checked) });
  byId('contexts').append(make('p', { className: 'tools' }, make('label', {}, fold, ' Fold by function')));
  tables.contexts = new Table(byId('contexts'), 'table', {
    columns: contextColumns, sorted: 'bytes', label: 'Contexts', choice: (context) => ({ context }),
    rowClass: (context) => (data.accesses_known ? data.classes[contexts.class[context]] : ''),
    insteadOf: 'called from', second: placeAndCallers,
    groupOf: ownerGroup, groupName,
  });
  views.contexts = () => tables.contexts.update(selectionNow.shown);
}

function foldContexts(folding) {
  tables.contexts.folding = folding;
  tables.contexts.update(selectionNow.shown);
  showDetails();
  keepState();
}
