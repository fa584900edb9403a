// @ts-check
// An optimised build: what the profile asked for, what the compiler found of it, and what the allocator did.

function sumByClass(quantity, wanted) {
  const sums = {};
  data.classes.forEach((name) => { sums[name] = 0; });
  for (let context = 0; context < contexts.count; context++) {
    if (wanted(context)) {
      sums[data.classes[contexts.class[context]]] += contexts[quantity][context];
    }
  }
  return sums;
}

// Of a module that was compiled several times, the last line counts.
function lastReports(annotation) {
  const modules = new Map(annotation.map((report) => [report.module, report]));
  return Array.from(modules.values());
}

function linkageName(fn) {
  return data.functions.linkage_name[fn] === null ? data.functions.name[fn] : data.functions.linkage_name[fn];
}

function siteKey(name, file, line, column) {
  return JSON.stringify([name, file, line, column]);
}

function contextSite(context) {
  const place = placeOf(context);
  const fn = data.places.function[place];
  return siteKey(linkageName(fn), fileOf(fn), data.places.line[place], data.places.column[place]);
}

// Places that allocated and whose calls were not found: reason by place.
function missedSites(reports) {
  const sites = new Map();
  for (const report of reports) {
    for (const site of report.unmatched) {
      sites.set(siteKey(site.function, site.file, site.line, site.column), site.reason);
    }
  }
  return sites;
}

function addTotals(reports, name) {
  return reports.reduce((sum, report) => ({
    contexts: sum.contexts + report[name].contexts, bytes: sum.bytes + report[name].bytes,
  }), { contexts: 0, bytes: 0 });
}

function compilerTable(reports) {
  const rows = ['all', 'matched', 'salvaged', 'elsewhere'].map((name) => {
    const total = addTotals(reports, name);
    return [name, countText(total.contexts), bytesText(total.bytes)];
  });
  return makeTable(['compiled modules', 'contexts', 'bytes'], rows);
}

function reasonTable(missed) {
  const byReason = new Map();
  for (let context = 0; context < contexts.count; context++) {
    const reason = missed.get(contextSite(context));
    if (reason) {
      const sum = byReason.get(reason) || { contexts: 0, bytes: 0, cold: 0 };
      sum.contexts++;
      sum.bytes += contexts.bytes[context];
      sum.cold += data.classes[contexts.class[context]] === 'cold' ? contexts.bytes[context] : 0;
      byReason.set(reason, sum);
    }
  }
  const rows = Array.from(byReason, ([reason, sum]) => [reason, countText(sum.contexts), bytesText(sum.bytes), bytesText(sum.cold)]);
  return makeTable(['reason why not found', 'contexts', 'bytes', 'cold bytes'], rows);
}

// The profile's allocations beside the allocator's counts.
function joinTable(missed, sample) {
  const asked = sumByClass('allocs', () => true);
  const found = missed && sumByClass('allocs', (context) => !missed.has(contextSite(context)));
  const rows = ['cold', 'hot'].map((name) => {
    const range = sample ? sample[name] : {};
    const count = (value) => (value === undefined ? '' : countText(value));
    const bytes = (value) => (value === undefined ? '' : bytesText(value));
    return [name, count(asked[name]), count(found ? found[name] : undefined), count(range.placed), count(range.fallbacks),
      count(range.live_blocks), bytes(range.live_bytes), bytes(range.resident_bytes), bytes(range.swap_bytes)];
  });
  const heads = ['class', 'allocations in the profile', 'found by the compiler', 'placed in the range',
    'not placed: range full', 'live blocks', 'live', 'resident', 'swapped'];
  return makeTable(heads, rows);
}

// The last line of each process, summed: sizes and counts are numbers, thresholds are the same in all.
function sumSamples(samples) {
  const processes = Array.from(new Map(samples.map((sample) => [sample.pid, sample])).values());
  return processes.reduce((sum, sample) => ({
    cold_below: sample.cold_below, hot_from: sample.hot_from, passed_on: sum.passed_on + sample.passed_on,
    cold: addNumbers(sum.cold, sample.cold), hot: addNumbers(sum.hot, sample.hot),
  }));
}

function addNumbers(a, b) {
  const sum = {};
  Object.keys(a).forEach((key) => { sum[key] = a[key] + b[key]; });
  return sum;
}

// The objects of a file, one a line. `option` is the command-line option that named the file.
function parseLines(option, lines = []) {
  return lines.flatMap((line, i) => {
    try {
      return line.trim() === '' ? [] : [JSON.parse(line)];
    } catch (error) {
      throw new Error(`line ${i + 1} of the file of ${option} is not JSON: ${error.message}`);
    }
  });
}

function buildParts(malloc, annotation) {
  const reports = annotation.length > 0 ? lastReports(annotation) : null;
  const missed = reports && missedSites(reports);
  const sample = malloc.length > 0 ? sumSamples(malloc) : null;
  const parts = [
    make('p', { className: 'caption' }, 'The hints of the profile and their effect: allocations of the profiled run, '
      + 'and of a run of the optimised program.'),
    joinTable(missed, sample)];
  if (sample) {
    parts.push(make('p', {}, `Requests whose hint was between the thresholds (${sample.cold_below} and `
      + `${sample.hot_from}), or for a range that is off: ${countText(sample.passed_on)}.`));
  }
  if (reports) {
    parts.push(compilerTable(reports), reasonTable(missed));
  }
  return parts;
}

function startBuild() {
  const section = byId('build');
  views.build = () => {};
  try {
    const malloc = parseLines('--malloc', data.malloc);
    const annotation = parseLines('--annotation', data.annotation);
    if (malloc.length + annotation.length === 0) {
      delete views.build;
      return;
    }
    section.append(...buildParts(malloc, annotation));
  } catch (error) { // the rest of the page is shown
    section.append(make('p', { role: 'alert' }, `This section cannot be shown: ${error.message}.`));
  }
}
