'use strict';
// The data of the page: columns of numbers become typed arrays, and stay as they are from then on.

// LEB128 numbers in base64. Above 2^53 a double loses digits.
function decodeColumn(text, count, ArrayType) {
  const bytes = atob(text);
  const column = new ArrayType(count);
  for (let row = 0, at = 0; row < count; row++) {
    let value = 0;
    let byte;
    let scale = 1;
    do {
      byte = bytes.charCodeAt(at++);
      value += (byte & 127) * scale;
      scale *= 128;
    } while (byte & 128);
    column[row] = value;
  }
  return column;
}

function decodeTable(table, ArrayTypes) {
  const decoded = { count: table.count };
  for (const name of Object.keys(table)) {
    if (typeof table[name] === 'string') {
      decoded[name] = decodeColumn(table[name], table.count, ArrayTypes[name] || Int32Array);
    } else if (name !== 'count') {
      decoded[name] = table[name];
    }
  }
  return decoded;
}

// Written as the distance to the caller, which has a lower number; 0 is none.
function decodeCallers(distances) {
  return distances.map((distance, node) => (distance === 0 ? -1 : node - distance));
}

function readData() {
  const element = document.getElementById('data');
  const data = JSON.parse(element.textContent);
  const doubles = { lifetime_ns: Float64Array };
  for (const quantity of data.quantities) {
    doubles[quantity.key] = Float64Array;
  }
  data.functions = decodeTable(data.functions, {});
  data.places = decodeTable(data.places, {});
  data.nodes = decodeTable(data.nodes, {});
  data.merged = decodeTable(data.merged, {});
  data.contexts = decodeTable(data.contexts, doubles);
  data.nodes.caller = decodeCallers(data.nodes.caller);
  element.remove(); // its text is several times as large as what was made of it
  return data;
}

const data = readData();

// Which function a node is in.
const nodeFunction = data.nodes.place.map((place) => data.places.function[place]);

function fileOf(fn) {
  const file = data.functions.file[fn];
  return file === 0 ? '' : data.files[file - 1];
}

function typeOf(context) {
  const type = data.contexts.type[context];
  return type === 0 ? '' : data.types[type - 1];
}

function placeText(place, whole) {
  const file = fileOf(data.places.function[place]);
  const name = whole ? file : file.slice(file.lastIndexOf('/') + 1);
  const line = data.places.line[place];
  const column = data.places.column[place];
  return `${name || '?'}:${line || '?'}${column ? `:${column}` : ''}`;
}

function placeOf(context) {
  return data.nodes.place[data.contexts.node[context]];
}
