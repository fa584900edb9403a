// @ts-check
// Elements and canvases, and what colours mean.

// -------------------------------------------------- elements --------------------------------------------------

// Text only ever becomes text, never markup.

/** @returns {any} */
function byId(id) {
  return document.getElementById(id);
}

/** @returns {any[]} */
function all(selector) {
  return Array.from(document.querySelectorAll(selector));
}

function make(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

// Rows of texts or elements; all but the first column are numbers.
function makeTable(heads, rows, className = '') {
  const cells = (tag, texts) => texts.map((text, i) => make(tag, { className: i > 0 ? 'number' : '' }, text));
  return make('table', { className },
    make('thead', {}, make('tr', {}, ...cells('th', heads))),
    make('tbody', {}, ...rows.map((row) => make('tr', {}, ...cells('td', row)))));
}

// Size a canvas in pixels of the page, as sharp as the screen is. Returns its context, cleared.
function prepareCanvas(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext('2d');
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.font = '12px system-ui, sans-serif';
  return context;
}

function themeColor(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

function colorParts(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

// Between colours of the theme, by weights that sum to 1.
function mixColors(colors, weights) {
  return [0, 1, 2].map((i) => Math.round(colors.reduce((sum, color, c) => sum + color[i] * weights[c], 0)));
}

// Cut a text to a width, by halves.
function fitText(context, text, width) {
  if (context.measureText(text).width <= width) {
    return text;
  }
  let fits = 0;
  for (let ends = text.length; fits < ends;) {
    const middle = (fits + ends + 1) >> 1;
    if (context.measureText(`${text.slice(0, middle)}\u2026`).width <= width) {
      fits = middle;
    } else {
      ends = middle - 1;
    }
  }
  return fits > 1 ? `${text.slice(0, fits)}\u2026` : '';
}

// -------------------------------------------------- colours --------------------------------------------------

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
