// @ts-check
// What the colours of boxes and bars mean is the reader's choice. A colouring puts every context into one of a few bands; a
// box that has contexts of several bands has the mixture of their colours, by weight.

const MOST_BANDS = 9; // of names, before "others"

function isDark() {
  return window.matchMedia('(prefers-color-scheme: dark)').matches;
}

function hslParts(hue, saturation, lightness) {
  const reach = saturation * Math.min(lightness, 1 - lightness);
  return [0, 8, 4].map((n) => {
    const k = (n + hue / 30) % 12;
    return Math.round(255 * (lightness - reach * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  });
}

// Neighbours differ in lightness, too. The text on all of these has a contrast of 4.5 (WCAG 2.1).
function hueParts(i, count) {
  return isDark() ? hslParts(360 * i / count, 0.4, i % 2 ? 0.24 : 0.32) : hslParts(360 * i / count, 0.6, i % 2 ? 0.69 : 0.78);
}

// From pale yellow to violet: less to more.
function rampParts(i, count) {
  const share = i / Math.max(count - 1, 1);
  return isDark() ? hslParts(50 + 220 * share, 0.35, 0.25 + 0.1 * share) : hslParts(50 + 220 * share, 0.55, 0.84 - 0.2 * share);
}

function bandOf(value, bounds) {
  const band = bounds.findIndex((bound) => value < bound);
  return band < 0 ? bounds.length : band;
}

// The library, or the folder of the source file.
function moduleOf(fn) {
  const path = fileOf(fn);
  return path === '' ? '?' : (data.functions.library[fn] ? path.split('/').slice(-1) : path.split('/').slice(-3, -1)).join('/') || '.';
}

// Of names by row: those of most bytes have a band each.
function namedColouring(names, rowOf) {
  const weights = new Map();
  const sums = new Float64Array(names.length);
  contexts.bytes.forEach((bytes, context) => { sums[rowOf(context)] += bytes; });
  names.forEach((name, row) => addTo(weights, name, sums[row]));
  const labels = sortedSums(weights).slice(0, MOST_BANDS).map((entry) => entry[0]);
  const bands = names.map((name) => (labels.includes(name) ? labels.indexOf(name) : labels.length));
  const colour = (i) => (i === labels.length - 1 ? colorParts(themeColor('notcold')) : hueParts(i, labels.length - 1));
  const several = sums.length > 0 && weights.get(labels[0]) < 0.9 * sums.reduce((a, b) => a + b, 0);
  labels.push('others');
  return { several, labels, colour, bands, of: (context) => bands[rowOf(context)] };
}

function moduleColouring() {
  const names = Array.from(data.functions.name, (unused, fn) => moduleOf(fn));
  const colouring = namedColouring(names, (context) => nodeFunction[contexts.owner[context]]);
  return Object.assign(colouring, { ofFunction: (fn) => colouring.bands[fn] });
}

function rampColouring(labels, bounds, valueOf) {
  return { labels, colour: (i) => rampParts(i, labels.length), of: (context) => bandOf(valueOf(context), bounds) };
}

const colourMakers = {
  class: () => ({
    labels: ['not cold', 'cold', 'hot'], colour: (i) => colorParts(themeColor(['notcold', 'cold', 'hot'][i])),
    of: (context) => Math.max(0, ['cold', 'hot'].indexOf(data.classes[contexts.class[context]]) + 1),
  }),
  module: moduleColouring,
  type: () => namedColouring(['(type not known)', ...data.types], (context) => contexts.type[context]),
  lifetime: () => rampColouring(['less than 10 us', '10 us to 1 ms', '1 to 100 ms', '100 ms to 10 s', '10 s and more'],
    [1e4, 1e6, 1e8, 1e10], averageOf('lifetime_ns')),
  'accesses per byte': () => rampColouring(['none', 'less than 1', '1 to 10', '10 to 100', '100 and more'], [1e-9, 1, 10, 100],
    (context) => contexts.accesses[context] / Math.max(contexts.bytes[context], 1)),
};
const madeColourings = {};

// `bandOf`: by context.
function colouringOf(name) {
  if (!madeColourings[name]) {
    const colouring = colourMakers[name]();
    madeColourings[name] = colouring;
    decodeLater(colouring, 'bandOf', () => Uint8Array.from({ length: contexts.count }, (unused, context) => colouring.of(context)));
  }
  return madeColourings[name];
}

// Those that tell something of this profile, the best one first.
function usableColourings() {
  const { several } = colouringOf('module');
  return [data.base && 'change', data.accesses_known && 'class', ...(several ? ['module', 'lifetime'] : ['lifetime', 'module']),
    data.types.length > 0 && 'type', data.accesses_counted && 'accesses per byte'].filter(Boolean);
}

function bandSums(colouring, quantity, shown) {
  const sums = new Float64Array(colouring.labels.length);
  for (const context of shown) {
    sums[colouring.bandOf[context]] += contexts[quantity][context];
  }
  return sums;
}

function swatch(parts) {
  const element = make('span', { className: 'swatch' });
  element.style.background = `rgb(${parts.join()})`;
  return element;
}

// Of [colour, text or element].
function legendOf(entries) {
  return make('ul', { className: 'legend' }, ...entries.map(([parts, text]) => make('li', {}, swatch(parts), text)));
}

function colourLegend(colouring, quantity, shown) {
  const sums = bandSums(colouring, quantity, shown);
  const whole = sums.reduce((a, b) => a + b, 0);
  return legendOf(colouring.labels.map((label, i) => [colouring.colour(i), `${label} ${shareText(sums[i], whole)}`]).filter((entry, i) => sums[i] > 0));
}

// By node: the mixture of the colours of all contexts below, as three sums.
function sumColours(tree, shown, values, colouring) {
  const colours = colouring.labels.map((unused, i) => colouring.colour(i));
  return [0, 1, 2].map((part) => {
    const weighed = new Float64Array(contexts.count);
    for (const context of shown) {
      weighed[context] = values[context] * colours[colouring.bandOf[context]][part];
    }
    return sumContexts(tree, shown, weighed);
  });
}
