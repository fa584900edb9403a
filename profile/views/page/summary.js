// @ts-check
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
  return data.last_day === data.first_day ? first : `${first} to ${dayText(data.last_day)}`;
}

// A profile has the greatest peak of its runs.
function peakText() {
  const { peak_ns: peak } = data.plots;
  return data.peak_bytes && `${bytesText(data.peak_bytes)}${data.runs > 1 ? ' in one of the runs' : ''}${peak === undefined ? '' : ` at ${timeText(peak)}`}`;
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
    data.start_unix_ns && ['started', dateText(data.start_unix_ns)],
    data.last_day && ['run on', daysText()],
    !data.command && data.binaries.length > 0 && ['program', programNames()],
    ['duration', `${timeText(data.duration_ns)}${data.runs === 1 ? ', 1 run' : ` in ${countText(data.runs)} runs`}`],
    peakText() && ['peak', peakText()],
    ['live at exit', `${data.live_estimated ? 'about ' : ''}${bytesText(sumAll('live'))} in ${countText(sumAll('live_allocs'))} blocks`],
    ['allocated', `${bytesText(sumAll('bytes'))} in ${countText(sumAll('allocs'))} blocks`],
    data.dropped_blocks > 0 && ['without record', `${countText(data.dropped_blocks)} blocks`],
    data.base && ['compared with', data.base],
    (data.commands_differ || data.command) && ['command', data.commands_differ ? 'the runs had several' : data.command],
  ].filter(Boolean);
}

function densityText(density) {
  return density >= 100 || density === 0 ? countText(density) : density.toPrecision(3);
}

function tellFacts() {
  byId('facts').textContent = runFacts().map(([name, text]) => `${name} ${text.length > 100 ? `${text.slice(0, 97)}...` : text}`).join(' \u00b7 ');
}

// Of what is selected, in per cent: functions that no symbol names, FILE+0xBEGIN.
function namelessShare() {
  const { flat } = groupSums(selectionNow);
  const nameless = flat.reduce((sum, value, group) => sum + (/\+0x[0-9a-f]+$/.test(groupName(group)) ? value : 0), 0);
  return nameless / Math.max(selectionNow.sum, 1);
}

function allFacts() {
  const facts = runFacts();
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
  return facts.concat(data.binaries.map((binary) => [binary.library ? 'library' : 'binary', binaryText(binary)]));
}

function topTable(title, name, measure, textOf, whole) {
  const sums = groupSums(selectionNow)[name];
  const rows = Array.from(sortItems(groupsWith(name), (group) => sums[group], true).slice(0, MOST_LINES),
    (group) => [groupButton(group), textOf(sums[group]), shareText(sums[group], whole)]);
  return make('div', {}, makeTable([title, measure, '%'], rows, 'wide'));
}

// The functions whose own bytes, or what is measured, changed most.
function changeTable() {
  const { flat, baseFlat } = groupSums(selectionNow);
  const changed = Int32Array.from(flat.keys()).filter((group) => flat[group] !== baseFlat[group]);
  const most = sortItems(changed, (group) => Math.abs(flat[group] - baseFlat[group]), true).slice(0, MOST_LINES);
  return make('div', {}, makeTable(['changed most', 'change', 'before', 'now'], Array.from(most, (group) => [groupButton(group),
    changeText(flat[group] - baseFlat[group]), measuredText(baseFlat[group]), measuredText(flat[group])]), 'wide'));
}

function tabButton(tab, text) {
  return make('button', { type: 'button', className: 'link', onclick: () => openTab(tab) }, text);
}

// The meaning of each class, in a line. Without a counted access no density is hot.
function classMeanings() {
  const rule = data.classifier;
  const time = timeText(rule.cold_min_lifetime_ns);
  return ['neither, or not known: left where it is',
    rule.mode === 'llvm' ? `at most ${densityText(rule.cold_max_density)} accesses per byte and second, for ${time}: kept apart, so that other data fills the caches`
      : `left alone for ${time} at a time, and for the last half of longer lives: kept apart, so that its pages can leave the memory`,
    rule.hot_min_density === null ? 'none: no access was counted'
      : `at least ${densityText(rule.hot_min_density)} accesses per byte and second: kept together, so that the caches hold it`];
}

// One bar of a quantity, each band as wide as its share.
function bandBar(name, colouring, sums, textOf) {
  const whole = sums.reduce((a, b) => a + b, 0);
  const texts = colouring.labels.map((label, i) => `${shareText(sums[i], whole)} ${label}`);
  const bar = make('div', { className: 'bands' }, ...texts.map((text, i) => {
    const band = make('span', { title: `${text}: ${textOf(sums[i])}` }, sums[i] > 0.05 * whole ? text : '');
    const colour = colouring.colour(i);
    band.style.cssText = `flex-grow: ${sums[i] / Math.max(whole, 1)}; background: rgb(${colour.join()}); color: ${textColor(colour)}`;
    return band;
  }).filter((band, i) => sums[i] > 0));
  bar.setAttribute('role', 'img');
  bar.setAttribute('aria-label', `${name}: ${texts.join(', ')}`);
  return [make('span', {}, make('span', { className: 'strong' }, name), ` ${textOf(whole)}`), bar];
}

// Bytes and accesses by class; where accesses are not known, bytes and allocations by lifetime.
function bandBars() {
  const second = data.accesses_known ? 'accesses' : 'allocs';
  const colouring = colouringOf(data.accesses_known ? 'class' : 'lifetime');
  const sums = ['bytes', second].map((quantity) => bandSums(colouring, quantity, selectionNow.shown));
  const meanings = data.accesses_known ? classMeanings() : [];
  const lines = colouring.labels.map((label, i) => [colouring.colour(i), `${label}: ${bytesText(sums[0][i])}${meanings[i] ? `; ${meanings[i]}` : ''}`]);
  const note = data.accesses_known ? `Bytes and accesses by class (--classify=${data.classifier.mode}).`
    : 'Bytes and allocations by the average lifetime of blocks. Accesses were not counted: hearth record --accesses estimates them, a build with hearth flags instrument counts them.';
  return make('div', { className: 'shares' }, make('p', { className: 'caption' }, note),
    make('div', { className: 'bars' }, ...bandBar('bytes', colouring, sums[0], bytesText), ...bandBar(second, colouring, sums[1], countText)),
    legendOf(lines.filter((line, i) => sums[0][i] > 0)));
}

function firstFindings() {
  const findings = data.advice ? data.advice.findings.slice(0, 3) : [];
  const items = findings.map((finding) => make('li', {}, findingPlace(finding),
    `: ${finding.title}, ${savingText(finding)}. ${finding.evidence}. Remedy: ${finding.remedy}.`));
  const rest = data.advice && data.advice.findings.length > 3 ? [make('p', {}, tabButton('advice', `All ${countText(data.advice.findings.length)} findings`))] : [];
  return items.length > 0 ? [make('h2', {}, 'What to do first'), make('ol', { className: 'findings' }, ...items), ...rest] : [];
}

function namelessText() {
  return namelessShare() < 0.1 ? '' : `Functions without a name, FILE+0xBEGIN, have ${perCent(namelessShare())} of the ${quantityName(selectionNow.quantity)}:`
    + ' hearth index names them by debug packages (PACKAGE-dbgsym; of libraries with --debug-dir=/usr/lib/debug) or debuginfod servers (DEBUGINFOD_URLS).'
    + ' If one passes allocations on for its callers: Look through, in its details.';
}

// Memory that is not malloc's.
function otherHeapText() {
  const binary = data.binaries.find((candidate) => candidate.other_heap);
  return binary ? `Not in it: ${binary.other_heap}.` : '';
}

function standingOut() {
  return make('ul', {}, ...[tabButton('temporary', temporaryCaption()), hasLive ? tabButton('leaks', leaksCaption()) : 'Nothing was live when the program ended.', namelessText(), otherHeapText()]
    .filter(Boolean).map((item) => make('li', {}, item)));
}

function topTables() {
  const { quantity, sum, shown } = selectionNow;
  const held = sumOf('byte_seconds', shown);
  const measured = [quantityName(quantity), measuredText, sum];
  return [
    ...(hasPeak ? [topTable('functions at the peak', 'peak', data.runs > 1 ? 'live then, all runs' : 'live then', bytesText, sumOf('peak', shown))] : []),
    topTable('functions, themselves', 'flat', ...measured),
    ...(held > 0 ? [topTable('functions that hold most', 'byte_seconds', 'on average', (value) => bytesText(heldOnAverage(value)), held)] : []),
    topTable('functions, with all they call', 'cumulative', ...measured),
  ];
}

let heapPlot; // undefined: not made yet

function drawSummary() {
  heapPlot = heapPlot === undefined ? startHistory() : heapPlot;
  byId('summary').replaceChildren(...(data.base ? [changeTable()] : [bandBars()]), ...(heapPlot ? [heapPlot.figure] : []), ...firstFindings(), standingOut(),
    make('div', { className: 'columns' }, ...topTables()),
    make('details', {}, make('summary', {}, 'About this profile'), factList(allFacts())));
  if (heapPlot) {
    heapPlot.draw();
  }
}

// What `hearth advise` finds, as it prints it. Filters do not apply.

// Its details are those of the context of most bytes there.
function findingPlace(finding) {
  return finding.context === undefined ? finding.place
    : make('button', { type: 'button', className: 'link', onclick: () => choose({ context: finding.context }) }, finding.place);
}

function savingText(finding) {
  const whole = {allocations: 'all allocations', bytes: 'all allocated bytes', memory: 'all memory, over time'}[finding.saves];
  return `may save ${perCent(finding.share)} of ${whole}`;
}

function findingElement(finding, number) {
  return make('article', {},
    make('h2', {}, `${number}. ${finding.title}: ${savingText(finding)}`),
    make('p', {}, findingPlace(finding)),
    make('p', {}, finding.evidence),
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

// -------------------------------------------------- globals --------------------------------------------------

// Global variables: how much of each section is accessed, what could be better, the hottest and the largest untouched ones.

function globalRow(global) {
  const place = global.file ? `  ${global.file}${global.line ? `:${global.line}` : ''}` : '';
  const lines = Math.ceil(global.size / 64);
  return [`${global.name}${place}`, global.section, countText(global.accesses), global.stores === undefined ? '' : countText(global.stores),
    bytesText(global.size), shareText(Math.min(global.touched_lines, lines), lines)];
}

function globalTable(title, globals) {
  const heads = ['global variable', 'section', 'accesses', 'stores', 'bytes', 'lines'];
  return globals.length === 0 ? [] : [make('h2', {}, title), makeTable(heads, globals.map(globalRow), 'wide')];
}

function sectionTable(sections) {
  const heads = ['section', 'globals', 'bytes', 'accesses', 'hot bytes', 'hot accesses', 'untouched bytes'];
  return makeTable(heads, sections.map((section) => [section.section, countText(section.count), bytesText(section.bytes), countText(section.accesses),
    shareText(section.hot_bytes, section.bytes), shareText(section.hot_accesses, section.accesses), shareText(section.untouched_bytes, section.bytes)]));
}

function globalFinding(finding) {
  const largest = finding.largest.map((global) => make('li', {}, `${global.name}: ${bytesText(global.size)}, ${countText(global.accesses)} accesses`));
  return make('article', {},
    make('h3', {}, `${finding.title}: ${countText(finding.count)}, ${bytesText(finding.bytes)}`),
    make('ul', {}, ...largest), make('p', {}, `Remedy: ${finding.remedy}.`));
}

function drawGlobals() {
  const { sections, hottest, untouched, global_findings: findings } = data.globals;
  byId('globals').replaceChildren(
    make('p', { className: 'caption' }, 'Hot variables have together 99.9 % of the accesses of their section. Filters do not apply.'),
    sectionTable(sections), ...findings.map(globalFinding), ...globalTable('Hottest', hottest), ...globalTable('Largest untouched', untouched));
}
