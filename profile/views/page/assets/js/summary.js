// What this is, and what stands out.

const MOST_LINES = 10;

function dateText(ns) {
  return new Date(ns / 1e6).toISOString().replace('T', ' ').replace(/\..*/, ' UTC');
}

function dayText(day) {
  return new Date(day * 86400000).toISOString().slice(0, 10);
}

function daysText() {
  const first = dayText(data.first_day);
  const text = data.last_day === data.first_day ? first : `${first} to ${dayText(data.last_day)}`;
  return data.weeks ? `in the week of ${text}` : text;
}

function commandText() {
  return data.commands_differ ? 'the runs had several' : data.command;
}

// A profile has the greatest peak of its runs.
function peakText() {
  const { live, peak_ns: peak } = data.plots;
  if (live) {
    return `${bytesText(live.peak_bytes)} at ${timeText(live.peak_ns)}`;
  }
  return data.peak_bytes && `${bytesText(data.peak_bytes)}${data.runs > 1 ? ' in one of the runs' : ''}${peak === undefined ? '' : ` at ${timeText(peak)}`}`;
}

function durationText() {
  return data.runs === 1 ? `${timeText(data.duration_ns)}, 1 run`
    : `${timeText(data.duration_ns)} in ${countText(data.runs)} runs`;
}

function sumAll(quantity) {
  return contexts[quantity].reduce((a, b) => a + b, 0);
}

function binaryText(binary) {
  return `${binary.name || '(no name)'}${binary.build_id ? `, build id ${binary.build_id}` : ''}`;
}

function programNames() {
  const programs = data.binaries.filter((binary) => !binary.library);
  return (programs.length > 0 ? programs : data.binaries).map((binary) => binary.name).join(', ');
}

// [name, text], for the line on top and the list.
function runFacts() {
  return [
    commandText() && ['command', commandText()],
    data.start_unix_ns && ['started', dateText(data.start_unix_ns)],
    data.last_day && ['run on', daysText()],
    !data.command && data.binaries.length > 0 && ['program', programNames()],
    ['duration', durationText()],
    peakText() && ['peak', peakText()],
    ['live at exit', `${data.live_estimated ? 'about ' : ''}${bytesText(sumAll('live'))} in ${countText(sumAll('live_allocs'))} blocks`],
    ['allocated', `${bytesText(sumAll('bytes'))} in ${countText(sumAll('allocs'))} blocks`],
    data.dropped_blocks > 0 && ['without record', `${countText(data.dropped_blocks)} blocks`],
    data.base && ['compared with', data.base],
  ].filter(Boolean);
}

function densityText(density) {
  return density >= 100 || density === 0 ? countText(density) : density.toPrecision(3);
}

function classFact() {
  const rule = data.classifier;
  if (data.base) {
    return 'none in a comparison: red grew, green shrank';
  }
  if (!data.accesses_known) {
    return 'accesses were not counted, so no context is known to be cold or hot';
  }
  const time = timeText(rule.cold_min_lifetime_ns);
  const cold = rule.mode === 'llvm'
    ? `at most ${densityText(rule.cold_max_density)} accesses per byte and second and an average life of at least ${time}`
    : `a page of such blocks is left alone for ${time}, and for the last half of longer lives`;
  return `cold (blue): ${cold}; `
    + `hot (red): at least ${densityText(rule.hot_min_density)} accesses per byte and second; by the rule '${rule.mode}'`;
}

function tellFacts() {
  byId('facts').textContent = runFacts().map(([name, text]) => `${name} ${text}`).join(' \u00b7 ');
}

// Of what is selected, in per cent: functions that no symbol names, FILE+0xBEGIN.
function namelessShare() {
  const { flat } = groupSums(selectionNow);
  const nameless = flat.reduce((sum, value, group) => sum + (/\+0x[0-9a-f]+$/.test(groupName(group)) ? value : 0), 0);
  return nameless / Math.max(selectionNow.sum, 1);
}

// Programs with plug-ins load dozens of libraries: they would push all else out of the window.
function binaryFacts() {
  const programs = data.binaries.filter((binary) => !binary.library);
  const libraries = data.binaries.filter((binary) => binary.library);
  const facts = programs.map((binary) => ['binary', binaryText(binary)]);
  if (libraries.length > 0) {
    facts.push(['shared libraries', make('details', {}, make('summary', {}, countText(libraries.length)),
      ...libraries.map((binary) => make('div', {}, binaryText(binary))))]);
  }
  return facts;
}

function allFacts() {
  const facts = runFacts();
  facts.push(['classes', classFact()]);
  if (data.untouched_known) {
    const bytes = contexts.untouched.reduce((a, b) => a + b, 0);
    facts.push(['untouched', `about ${bytesText(bytes)}, ${shareText(bytes, sumAll('bytes'))} of the bytes, in parts of 64 bytes without a counted access`]);
  }
  if (data.accesses_known && data.library_bytes > 0) {
    facts.push(['libraries', `allocate ${bytesText(data.library_bytes)}, ${bytesText(data.cold_library_bytes)} of them cold: no hint reaches these`]);
  }
  if (data.dropped_frames > 0) {
    facts.push(['unknown code', `${countText(data.dropped_frames)} ${data.dropped_frames === 1 ? 'address has' : 'addresses have'} no name`]);
  }
  if (namelessShare() >= 0.1) {
    facts.push(['without names', `functions with ${perCent(namelessShare())} of the ${quantityName(selectionNow.quantity)}: hearth index names them by debug packages (of libraries:`
      + ' --debug-dir=/usr/lib/debug) or debuginfod servers (DEBUGINFOD_URLS)']);
  }
  return facts.concat(binaryFacts());
}

function topTable(title, name, measure, textOf, whole) {
  const sums = groupSums(selectionNow)[name];
  const rows = Array.from(sortByNumber(groupsWith(name), (group) => sums[group], true).slice(0, MOST_LINES),
    (group) => [groupButton(group), textOf(sums[group]), shareText(sums[group], whole)]);
  const table = makeTable([title, measure, '%'], rows);
  table.className = 'wide';
  return make('div', {}, table);
}

// The functions whose own bytes, or what is measured, changed most.
function changeTable() {
  const { flat, baseFlat } = groupSums(selectionNow);
  const changed = Int32Array.from(flat.keys()).filter((group) => flat[group] !== baseFlat[group]);
  const most = sortByNumber(changed, (group) => Math.abs(flat[group] - baseFlat[group]), true).slice(0, MOST_LINES);
  const table = makeTable(['changed most', 'change', 'before', 'now'], Array.from(most, (group) => [groupButton(group),
    changeText(flat[group] - baseFlat[group]), measuredText(baseFlat[group]), measuredText(flat[group])]));
  table.className = 'wide';
  return make('div', {}, table);
}

function tabButton(tab, text) {
  return make('button', { type: 'button', className: 'link', onclick: () => openTab(tab) }, text);
}

function standingOut() {
  const items = [];
  if (data.advice && data.advice.findings.length > 0) {
    const [first] = data.advice.findings;
    items.push(make('li', {}, tabButton('advice', `${countText(data.advice.findings.length)} ${data.advice.findings.length === 1 ? 'finding' : 'findings'} of advice`),
      `; the first: ${first.title}, ${first.place}: ${first.evidence}`));
  }
  items.push(make('li', {}, tabButton('temporary', temporaryCaption())));
  items.push(hasLive ? make('li', {}, tabButton('leaks', leaksCaption())) : make('li', {}, 'Nothing was live when the program ended.'));
  return make('ul', {}, ...items);
}

function topTables() {
  const { quantity, sum, shown } = selectionNow;
  const held = sumOf('byte_seconds', shown);
  const measured = [quantityName(quantity), measuredText, sum];
  return [
    topTable('functions, themselves', 'flat', ...measured),
    topTable('functions, with all they call', 'cumulative', ...measured),
    ...(held > 0 ? [topTable('functions that hold most', 'byte_seconds', 'on average', (value) => bytesText(heldOnAverage(value)), held)] : []),
    ...(hasPeak ? [topTable('functions at the peak', 'peak', 'live then', bytesText, sumOf('peak', shown))] : []),
  ];
}

function drawSummary() {
  byId('summary').replaceChildren(factList(allFacts()), standingOut(),
    make('div', { className: 'columns' }, ...(data.base ? [changeTable()] : []), ...topTables()));
}

// Contexts by the average size of their blocks: a line for each power of two.

function sizeClass(context) {
  return Math.floor(Math.log2(Math.max(1, contexts.bytes[context] / Math.max(1, contexts.allocs[context]))));
}

function sumBySize() {
  const sums = new Map();
  const { owners } = callsOfData();
  const values = contexts[selectionNow.quantity];
  for (const context of selectionNow.shown) {
    const size = sizeClass(context);
    const sum = sums.get(size) || { value: 0, allocs: 0, byOwner: new Map() };
    sum.value += values[context];
    sum.allocs += contexts.allocs[context];
    addTo(sum.byOwner, owners[context], values[context]);
    sums.set(size, sum);
  }
  return Array.from(sums).sort((a, b) => a[0] - b[0]);
}

function drawSizes() {
  const { quantity, sum: whole } = selectionNow;
  const sums = sumBySize();
  const most = sums.reduce((a, b) => Math.max(a, b[1].value), 1);
  const rows = sums.map(([size, sum]) => {
    const [largest] = sortedSums(sum.byOwner);
    return [`${bytesText(2 ** size)} to ${bytesText(2 ** (size + 1))}`, quantityText(quantity, sum.value), shareText(sum.value, whole),
      countText(sum.allocs), largest ? groupButton(largest[0]) : ''];
  });
  const table = makeTable(['average size', quantityName(quantity), '%', 'allocs', 'most by'], rows);
  table.className = 'wide';
  table.querySelectorAll('tbody tr').forEach((row, i) => {
    row.children[1].classList.add('bar');
    row.children[1].style.setProperty('--share', `${(100 * sums[i][1].value / most).toFixed(1)}%`);
    row.children[4].className = '';
  });
  byId('sizes').replaceChildren(make('p', { className: 'caption' }, 'Contexts by the average size of their blocks.'), table);
}

// What `hearth advise` finds, as it prints it. Filters do not apply.

// Its details are those of the context of most bytes there.
function findingPlace(finding) {
  return finding.context === undefined ? finding.place
    : make('button', { type: 'button', className: 'link', onclick: () => choose({ context: finding.context }) }, finding.place);
}

function findingElement(finding, number) {
  const whole = {allocations: 'all allocations', bytes: 'all allocated bytes', memory: 'all memory, over time'}[finding.saves];
  const saves = `${perCent(finding.share)} of ${whole}`;
  return make('article', {},
    make('h3', {}, `${number}. ${finding.title}: may save ${saves}`),
    make('p', {}, findingPlace(finding)),
    make('p', {}, finding.evidence), ...(finding.fields ? [make('p', {}, finding.fields)] : []),
    make('p', {}, `Remedy: ${finding.remedy}.`));
}

function drawAdvice() {
  const { findings, not_looked_for: missing } = data.advice;
  const parts = [make('p', { className: 'caption' }, findings.length === 0 ? 'Nothing was found that is worth a change.'
    : `${countText(findings.length)} ${findings.length === 1 ? 'place' : 'places'} where a change may save allocations or memory, most first. Filters do not apply.`)];
  if (missing.length > 0) {
    parts.push(make('p', { className: 'caption' }, `Not looked for, as the profile has no data for it: ${missing.join(', ')}.`));
  }
  byId('advice').replaceChildren(...parts, ...findings.map((finding, i) => findingElement(finding, i + 1)));
}
