// @ts-check
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
