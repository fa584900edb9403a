// @ts-check
'use strict';
// The data of the page: columns of numbers become typed arrays, and stay as they are from then on.

// LEB128 numbers in base64, into a column of integers below 2^31, or of doubles, which lose digits above 2^53.
function decodeNumbers(text, column) {
  const bytes = atob(text);
  for (let row = 0, at = 0; row < column.length; row++) {
    let byte = bytes.charCodeAt(at++);
    let value = byte & 127;
    for (let scale = 128; byte & 128; scale *= 128) {
      byte = bytes.charCodeAt(at++);
      value += (byte & 127) * scale;
    }
    column[row] = value;
  }
  return column;
}

// When it is first asked for: what nothing shows costs nothing.
function decodeLater(decoded, name, decode) {
  Object.defineProperty(decoded, name, {
    configurable: true,
    enumerable: true,
    get() {
      const value = decode();
      Object.defineProperty(decoded, name, { value, enumerable: true });
      return value;
    },
  });
}

// `doubles`: columns whose numbers may be large.
function decodeTable(table, doubles) {
  const decoded = { count: table.count };
  for (const name of Object.keys(table)) {
    if (typeof table[name] === 'string') {
      const Column = doubles.includes(name) ? Float64Array : Int32Array;
      decodeLater(decoded, name, () => decodeNumbers(table[name], new Column(table.count)));
    } else if (name !== 'count') {
      decoded[name] = table[name];
    }
  }
  return decoded;
}

// Written as the distance to the caller, which has a lower number; 0 is none. In place.
function decodeCallers(column) {
  for (let node = 0; node < column.length; node++) {
    column[node] = column[node] === 0 ? -1 : node - column[node];
  }
}

function readData() {
  const element = document.getElementById('data');
  const data = JSON.parse(element.textContent);
  for (const table of ['functions', 'places', 'nodes']) {
    data[table] = decodeTable(data[table], []);
  }
  data.contexts = decodeTable(data.contexts, ['lifetime_ns', 'untouched', 'temporary', ...data.quantities.flatMap((quantity) => [quantity.key, `base_${quantity.key}`])]);
  decodeCallers(data.nodes.caller);
  element.remove(); // its text is several times as large as what was made of it
  return data;
}

const data = readData();
const { contexts } = data;

// In the profile that is compared with.
function baseOf(quantity, context) {
  return contexts[`base_${quantity}`][context];
}

const hasLive = contexts.live_allocs.some((count) => count > 0);
const hasPeak = contexts.peak.some((bytes) => bytes > 0);

function functionsOf(nodePlace, placeFunction) {
  const functions = new Int32Array(nodePlace.length);
  for (let node = 0; node < functions.length; node++) {
    functions[node] = placeFunction[nodePlace[node]];
  }
  return functions;
}

// Which function a node is in.
const nodeFunction = functionsOf(data.nodes.place, data.places.function);

function fileOf(fn) {
  const file = data.functions.file[fn];
  return file === 0 ? '' : data.files[file - 1];
}

function typeOf(context) {
  const type = data.contexts.type[context];
  return type === 0 ? '' : data.types[type - 1];
}

// Of code without source, the library alone.
function placeText(place, whole) {
  const file = fileOf(data.places.function[place]);
  const base = file.slice(file.lastIndexOf('/') + 1);
  const line = data.places.line[place];
  const column = data.places.column[place];
  return line === 0 && data.functions.library[data.places.function[place]] ? base
    : `${(whole ? file : base) || '?'}:${line || '?'}${column ? `:${column}` : ''}`;
}

const STARTER = 2; // a wrapper that starts a program, thread or library

// Where the first function of a context's stack is that is no wrapper; else the outermost that is no starter, else its root.
function ownerOf(leaf) {
  let owner = -1;
  let node = leaf;
  for (let above = leaf; above >= 0; above = data.nodes.caller[node]) {
    node = above;
    const wrapper = data.functions.wrapper[nodeFunction[node]];
    owner = wrapper === STARTER ? owner : node;
    if (!wrapper) {
      return node;
    }
  }
  return owner >= 0 ? owner : node;
}

data.contexts.owner = data.contexts.node.map(ownerOf);

function ownerPlaceOf(context) {
  return data.nodes.place[data.contexts.owner[context]];
}

// -------------------------------------------------- texts --------------------------------------------------

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
