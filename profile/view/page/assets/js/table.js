// The table of contexts. Only the rows in view are elements.

const TABLE_ROW_HEIGHT = 22;
const MOST_HEIGHT = 8e6; // of what is scrolled, in pixels: browsers have a limit

const { contexts } = data;

function averageOf(column) {
  return (context) => contexts[column][context] / Math.max(contexts.allocs[context], 1);
}

function compareTexts(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

// The functions on the way to the owner, nearest first.
function callersText(context) {
  const names = [];
  for (let node = data.nodes.caller[contexts.owner[context]]; node >= 0 && names.length < 6; node = data.nodes.caller[node]) {
    names.push(data.functions.name[nodeFunction[node]]);
  }
  return names.join(' \u2190 ');
}

// `of` is the value to sort by, `text` its text.
const tableColumns = [
  { name: 'class', width: '4em', of: (c) => data.classes[contexts.class[c]] },
  { name: 'function', width: 'minmax(6em, 3fr)', of: (c) => data.functions.name[data.places.function[ownerPlaceOf(c)]] },
  { name: 'source', width: 'minmax(6em, 2fr)', of: (c) => placeText(ownerPlaceOf(c), false), title: (c) => placeText(ownerPlaceOf(c), true) },
  { name: 'called from', width: 'minmax(6em, 4fr)', of: callersText },
  { name: 'type', width: 'minmax(4em, 1fr)', of: typeOf, absent: data.types.length === 0 },
  { name: 'bytes', width: '5.5em', of: (c) => contexts.bytes[c], text: bytesText },
  { name: 'allocs', width: '6em', of: (c) => contexts.allocs[c], text: countText },
  { name: 'accesses', width: '8em', of: (c) => contexts.accesses[c], text: countText, absent: !data.accesses_counted },
  { name: 'average size', width: '5em', of: averageOf('bytes'), text: bytesText },
  { name: 'average lifetime', width: '5em', of: averageOf('lifetime_ns'), text: timeText },
  { name: 'byte-seconds', width: '7em', of: (c) => contexts.byte_seconds[c], text: countText },
  { name: 'live', width: '5.5em', of: (c) => contexts.live[c], text: bytesText },
].filter((column) => !column.absent);

const table = {
  view: byId('table-view'), spacer: byId('table-view').querySelector('.spacer'),
  order: new Int32Array(0), // contexts as they are shown
  sorted: tableColumns.find((column) => column.name === 'bytes'), descending: true,
  cursor: 0, // position in `order`
  rows: [], // elements
};

function firstNotBelow(sorted, number) {
  let low = 0;
  for (let high = sorted.length; low < high;) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < number) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// By a number: sorting numbers is much faster than calling a function to compare two, and then each one's place is looked up.
// Equal ones stay in order.
function sortByNumber(shown, of, descending) {
  const keys = Float64Array.from(shown, descending ? (context) => -of(context) : of);
  const sorted = keys.slice().sort();
  const taken = new Int32Array(shown.length); // of the places from the first one of a number on
  const order = new Int32Array(shown.length);
  for (let i = 0; i < shown.length; i++) {
    const first = firstNotBelow(sorted, keys[i]);
    order[first + taken[first]++] = shown[i];
  }
  return order;
}

function sortByText(shown, of, descending) {
  const keys = Array.from(shown, of);
  const positions = Int32Array.from(keys, (key, position) => position);
  const compare = (a, b) => compareTexts(keys[a], keys[b]);
  positions.sort(descending ? (a, b) => compare(b, a) || a - b : (a, b) => compare(a, b) || a - b);
  return positions.map((position) => shown[position]);
}

function sortContexts(shown) {
  const { sorted, descending } = table;
  return (sorted.text ? sortByNumber : sortByText)(shown, sorted.of, descending);
}

function makeCell(column) {
  const cell = make('span', { className: column.text ? 'number' : '' });
  cell.setAttribute('role', 'gridcell');
  return cell;
}

function makeRow() {
  const row = make('div', { className: 'row' }, ...tableColumns.map(makeCell));
  row.setAttribute('role', 'row');
  row.style.gridTemplateColumns = table.template;
  table.view.append(row);
  return row;
}

function fillRow(row, position, y) {
  const context = table.order[position];
  row.id = `row-${position}`;
  row.className = `row ${data.classes[contexts.class[context]]}`;
  row.style.top = `${y}px`;
  row.setAttribute('aria-rowindex', position + 2);
  row.setAttribute('aria-selected', position === table.cursor);
  tableColumns.forEach((column, i) => {
    const value = column.of(context);
    row.children[i].textContent = column.text ? column.text(value) : value;
    row.children[i].title = column.title ? column.title(context) : column.text ? '' : value;
  });
}

// Rows lie one below the other, unless there are so many that the scroll bar has to stand for them.
function firstRow() {
  const { view, order } = table;
  const height = order.length * TABLE_ROW_HEIGHT;
  const scrolled = Math.min(height, MOST_HEIGHT) - view.clientHeight;
  const share = scrolled > 0 ? view.scrollTop / scrolled : 0;
  return share * Math.max(height - view.clientHeight, 0) / TABLE_ROW_HEIGHT;
}

function scrollToRow(position) {
  const { view, order } = table;
  const height = order.length * TABLE_ROW_HEIGHT;
  const scale = (Math.min(height, MOST_HEIGHT) - view.clientHeight) / Math.max(height - view.clientHeight, 1);
  const visible = Math.floor(view.clientHeight / TABLE_ROW_HEIGHT);
  const first = firstRow();
  if (position < first) {
    view.scrollTop = position * TABLE_ROW_HEIGHT * scale;
  } else if (position + 1 > first + visible) {
    view.scrollTop = Math.ceil((position + 1 - view.clientHeight / TABLE_ROW_HEIGHT) * TABLE_ROW_HEIGHT * scale);
  }
}

function drawTable() {
  const { view, rows, order } = table;
  const first = firstRow();
  const begin = Math.floor(first);
  const count = Math.min(order.length - begin, Math.ceil(view.clientHeight / TABLE_ROW_HEIGHT) + 1);
  while (rows.length < count) {
    rows.push(makeRow());
  }
  rows.forEach((row, i) => {
    row.hidden = i >= count;
    row.style.display = row.hidden ? 'none' : '';
    if (!row.hidden) {
      fillRow(row, begin + i, view.scrollTop + (begin + i - first) * TABLE_ROW_HEIGHT);
    }
  });
  view.setAttribute('aria-activedescendant', `row-${table.cursor}`);
}

function frameItem(place) {
  const name = data.functions.name[data.places.function[place]];
  return make('li', {}, make('code', {}, name), ` ${placeText(place, true)}`);
}

function showDetails() {
  const context = table.order[table.cursor];
  const list = make('ol', {});
  for (let node = contexts.node[context]; node >= 0; node = data.nodes.caller[node]) {
    list.append(frameItem(data.nodes.place[node]));
  }
  const numbers = data.quantities.filter(isKnown)
    .map((quantity) => `${quantity.name} ${quantityText(quantity.key, contexts[quantity.key][context])}`);
  const type = typeOf(context) && `, type ${typeOf(context)}`;
  byId('details').replaceChildren(
    make('h3', {}, `Call stack of the allocation (${data.classes[contexts.class[context]]}${type})`),
    list, make('p', { className: 'caption' }, numbers.join('; ')));
}

function moveCursor(position) {
  if (table.order.length > 0) {
    table.cursor = Math.max(0, Math.min(position, table.order.length - 1));
    scrollToRow(table.cursor);
    drawTable();
  }
}

function onTableKey(event) {
  const page = Math.floor(table.view.clientHeight / TABLE_ROW_HEIGHT);
  const targets = {
    ArrowDown: table.cursor + 1, ArrowUp: table.cursor - 1, PageDown: table.cursor + page,
    PageUp: table.cursor - page, Home: 0, End: table.order.length - 1,
  };
  if (event.key in targets) {
    moveCursor(targets[event.key]);
  } else if (event.key === 'Enter' && table.order.length > 0) {
    showDetails();
  } else {
    return;
  }
  event.preventDefault();
}

function onTableClick(event) {
  const row = event.target.closest('.row');
  if (row) {
    moveCursor(Number(row.id.slice('row-'.length)));
    showDetails();
  }
}

function markSorted() {
  tableColumns.forEach((column, i) => {
    const head = byId('table-head').children[i];
    const direction = table.descending ? 'descending' : 'ascending';
    head.setAttribute('aria-sort', column === table.sorted ? direction : 'none');
    head.firstChild.textContent = column.name + (column === table.sorted ? (table.descending ? ' \u25be' : ' \u25b4') : '');
  });
}

function sortBy(column) {
  table.descending = column === table.sorted ? !table.descending : Boolean(column.text);
  table.sorted = column;
  updateTable(table.order.slice().sort());
}

// Show these contexts.
function updateTable(shown) {
  table.order = sortContexts(shown);
  table.cursor = 0;
  table.view.scrollTop = 0;
  table.spacer.style.height = `${Math.min(shown.length * TABLE_ROW_HEIGHT, MOST_HEIGHT)}px`;
  byId('table').setAttribute('aria-rowcount', shown.length + 1);
  byId('details').replaceChildren();
  markSorted();
  drawTable();
}

function makeHead(column) {
  const button = make('button', { type: 'button', onclick: () => sortBy(column) });
  const head = make('span', { className: column.text ? 'number' : '' }, button);
  head.setAttribute('role', 'columnheader');
  return head;
}

function startTable() {
  table.template = tableColumns.map((column) => column.width).join(' ');
  byId('table-head').style.gridTemplateColumns = table.template;
  byId('table-head').append(...tableColumns.map(makeHead));
  table.view.addEventListener('scroll', drawTable);
  table.view.addEventListener('keydown', onTableKey);
  table.view.addEventListener('click', onTableClick);
  new ResizeObserver(drawTable).observe(table.view);
}
