// @ts-check
// Quantities as people read them, as the command prints them.

function withUnit(value, units, factor) {
  let unit = 0;
  while (unit + 1 < units.length && value >= factor) {
    value /= factor;
    unit++;
  }
  return `${value.toFixed(unit === 0 && Number.isInteger(value) ? 0 : 1)} ${units[unit]}`;
}

function bytesText(bytes) {
  return withUnit(bytes, ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'], 1024);
}

function timeText(ns) {
  return withUnit(ns, ['ns', 'us', 'ms', 's'], 1000);
}

const countFormat = new Intl.NumberFormat('en');

function countText(count) {
  return countFormat.format(Math.round(count));
}

function byteSecondsText(value) {
  return `${bytesText(value)} s`;
}

const quantityTexts = { bytes: bytesText, live: bytesText, peak: bytesText, byte_seconds: byteSecondsText };

function isKnown(quantity) {
  return quantity.key.startsWith('peak') ? hasPeak : quantity.key !== 'accesses' || data.accesses_counted;
}

function quantityText(key, value) {
  return (quantityTexts[key] || countText)(value);
}

function shareText(part, whole) {
  return whole > 0 ? `${(100 * part / whole).toFixed(1)} %` : '0 %';
}

function unitText(unit, value) {
  return unit === 'ns' ? timeText(value) : bytesText(value);
}

// Elements and canvases. Text only ever becomes text, never markup.

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
