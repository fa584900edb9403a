// Tables of which only the rows in view are elements, and as many columns as there is room for.

const TABLE_ROW_HEIGHT = 22;
const MOST_HEIGHT = 8e6; // of what is scrolled, in pixels: browsers have a limit
const COLUMN_GAP = 8;

function compareTexts(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

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
function sortByNumber(items, of, descending) {
  const keys = Float64Array.from(items, descending ? (item) => -of(item) : of);
  const sorted = keys.slice().sort();
  const taken = new Int32Array(items.length); // of the places from the first one of a number on
  const order = new Int32Array(items.length);
  for (let i = 0; i < items.length; i++) {
    const first = firstNotBelow(sorted, keys[i]);
    order[first + taken[first]++] = items[i];
  }
  return order;
}

function sortByText(items, of, descending) {
  const keys = Array.from(items, of);
  const positions = Int32Array.from(keys, (key, position) => position);
  const compare = (a, b) => compareTexts(keys[a], keys[b]);
  positions.sort(descending ? (a, b) => compare(b, a) || a - b : (a, b) => compare(a, b) || a - b);
  return positions.map((position) => items[position]);
}

// A column: `name`; `least` width in pixels; `grow`: its part of what is left; `rank`: columns of low ranks stay where there
// is little room; `of`: the value to sort by, `text`: its text (numbers only); `title`; `share`: from 0 to 1, drawn as a bar.
class Table {
  // Its items are numbers. `choose` is called with the one that the reader points at; `rowClass` gives a class to its row.
  constructor(section, id, options) {
    Object.assign(this, { id, columns: options.columns, choose: options.choose, rowClass: options.rowClass || (() => '') });
    this.items = new Int32Array(0);
    this.order = this.items; // as they are shown
    this.cursor = 0; // position in `order`
    this.rows = []; // elements
    this.sorted = this.columns.find((column) => column.name === options.sorted);
    this.descending = true;
    this.makeElements(section, options.label);
  }

  makeElements(section, label) {
    const { id } = this;
    this.spacer = make('div', { className: 'spacer' });
    this.view = make('div', { id: `${id}-view`, className: 'viewport', tabIndex: 0 }, this.spacer);
    this.view.setAttribute('aria-label', `${label}: arrows move, Enter shows details`);
    this.head = make('div', { id: `${id}-head`, className: 'table-head' });
    this.head.setAttribute('role', 'row');
    this.element = make('div', { id, className: 'table' }, this.head, this.view);
    this.element.setAttribute('role', 'grid');
    this.element.setAttribute('aria-label', label);
    section.append(this.element);
    this.view.addEventListener('scroll', () => this.draw());
    this.view.addEventListener('keydown', (event) => this.onKey(event));
    this.view.addEventListener('click', (event) => this.onClick(event));
    new ResizeObserver(() => this.layOut()).observe(this.view);
  }

  // A copy: those that mean something now.
  get usable() {
    return this.columns.filter((column) => !column.isHidden || !column.isHidden());
  }

  // Which columns fit?
  layOut() {
    const { view } = this;
    let room = view.clientWidth - 40;
    if (room <= 0) {
      return;
    }
    this.head.style.paddingRight = `${7 + view.offsetWidth - view.clientWidth}px`; // that of a row, and the scroll bar
    const taken = new Set();
    for (const column of this.usable.sort((a, b) => a.rank - b.rank)) {
      room -= column.least + COLUMN_GAP;
      if (room < 0 && taken.size > 0) {
        break;
      }
      taken.add(column);
    }
    const visible = this.columns.filter((column) => taken.has(column));
    if (!this.visible || visible.length !== this.visible.length || visible.some((column, i) => column !== this.visible[i])) {
      this.visible = visible;
      this.makeColumns();
    }
    this.draw();
  }

  makeColumns() {
    const leastOf = (column) => (this.visible.length > 1 ? column.least : 0); // one alone may have less room than it needs
    this.template = this.visible.map((column) => (column.grow ? `minmax(${leastOf(column)}px, ${column.grow}fr)`
      : `minmax(0, ${column.least}px)`)).join(' ');
    this.rows.forEach((row) => row.remove());
    this.rows = [];
    this.head.style.gridTemplateColumns = this.template;
    this.head.replaceChildren(...this.visible.map((column) => this.makeHead(column)));
    this.markSorted();
  }

  makeHead(column) {
    const button = make('button', { type: 'button', title: column.help || '', onclick: () => this.sortBy(column) });
    const head = make('span', { className: column.text ? 'number' : '' }, button);
    head.setAttribute('role', 'columnheader');
    return head;
  }

  makeRow() {
    const cells = this.visible.map((column) => {
      const cell = make('span', { className: `${column.text ? 'number' : ''}${column.share ? ' bar' : ''}` });
      cell.setAttribute('role', 'gridcell');
      return cell;
    });
    const row = make('div', { className: 'row' }, ...cells);
    row.setAttribute('role', 'row');
    row.style.gridTemplateColumns = this.template;
    this.view.append(row);
    return row;
  }

  fillRow(row, position, y) {
    const item = this.order[position];
    row.id = `${this.id}-row-${position}`;
    row.className = `row ${this.rowClass(item)}`;
    row.style.top = `${y}px`;
    row.setAttribute('aria-rowindex', position + 2);
    row.setAttribute('aria-selected', position === this.cursor);
    this.visible.forEach((column, i) => {
      const value = column.of(item);
      const cell = row.children[i];
      cell.textContent = column.text ? column.text(value) : value;
      cell.title = column.title ? column.title(item) : column.text ? '' : value;
      if (column.share) {
        cell.style.setProperty('--share', `${(100 * Math.max(0, Math.min(1, column.share(item)))).toFixed(1)}%`);
      }
    });
  }

  // Rows lie one below the other, unless there are so many that the scroll bar has to stand for them.
  firstRow() {
    const { view, order } = this;
    const height = order.length * TABLE_ROW_HEIGHT;
    const scrolled = Math.min(height, MOST_HEIGHT) - view.clientHeight;
    const share = scrolled > 0 ? view.scrollTop / scrolled : 0;
    return share * Math.max(height - view.clientHeight, 0) / TABLE_ROW_HEIGHT;
  }

  scrollToRow(position) {
    const { view, order } = this;
    const height = order.length * TABLE_ROW_HEIGHT;
    const scale = (Math.min(height, MOST_HEIGHT) - view.clientHeight) / Math.max(height - view.clientHeight, 1);
    const visible = Math.floor(view.clientHeight / TABLE_ROW_HEIGHT);
    const first = this.firstRow();
    if (position < first) {
      view.scrollTop = position * TABLE_ROW_HEIGHT * scale;
    } else if (position + 1 > first + visible) {
      view.scrollTop = Math.ceil((position + 1 - view.clientHeight / TABLE_ROW_HEIGHT) * TABLE_ROW_HEIGHT * scale);
    }
  }

  draw() {
    const { view, rows, order } = this;
    if (!this.visible) {
      return;
    }
    const first = this.firstRow();
    const begin = Math.floor(first);
    const count = Math.min(order.length - begin, Math.ceil(view.clientHeight / TABLE_ROW_HEIGHT) + 1);
    while (rows.length < count) {
      rows.push(this.makeRow());
    }
    rows.forEach((row, i) => {
      row.hidden = i >= count;
      if (!row.hidden) {
        this.fillRow(row, begin + i, view.scrollTop + (begin + i - first) * TABLE_ROW_HEIGHT);
      }
    });
    view.setAttribute('aria-activedescendant', `${this.id}-row-${this.cursor}`);
  }

  moveTo(position) {
    if (this.order.length > 0) {
      this.cursor = Math.max(0, Math.min(position, this.order.length - 1));
      this.scrollToRow(this.cursor);
      this.draw();
    }
  }

  // Details follow the cursor, but not every row that it passes.
  moveAndChoose(position) {
    this.moveTo(position);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.chooseCursor(), 150);
  }

  chooseCursor() {
    clearTimeout(this.timer);
    if (this.order.length > 0) {
      this.choose(this.order[this.cursor]);
    }
  }

  onKey(event) {
    const page = Math.floor(this.view.clientHeight / TABLE_ROW_HEIGHT);
    const targets = {
      ArrowDown: this.cursor + 1, ArrowUp: this.cursor - 1, PageDown: this.cursor + page,
      PageUp: this.cursor - page, Home: 0, End: this.order.length - 1,
    };
    if (event.key in targets) {
      this.moveAndChoose(targets[event.key]);
    } else if (event.key === 'Enter') {
      this.chooseCursor();
    } else {
      return;
    }
    event.preventDefault();
  }

  onClick(event) {
    const row = event.target.closest('.row');
    if (row) {
      this.moveTo(Number(row.id.slice(this.id.length + '-row-'.length)));
      this.chooseCursor();
    }
  }

  markSorted() {
    (this.visible || []).forEach((column, i) => {
      const head = this.head.children[i];
      const isSorted = column === this.sorted;
      head.setAttribute('aria-sort', isSorted ? (this.descending ? 'descending' : 'ascending') : 'none');
      head.firstChild.textContent = column.name + (isSorted ? (this.descending ? ' \u25be' : ' \u25b4') : '');
    });
  }

  sortBy(column) {
    this.descending = column === this.sorted ? !this.descending : Boolean(column.text);
    this.sorted = column;
    this.update(this.items);
    keepState();
  }

  // "name" or "-name": descending.
  get sorting() {
    return `${this.descending ? '-' : ''}${this.sorted.name}`;
  }

  set sorting(text) {
    const found = this.columns.find((column) => column.name === text.replace(/^-/, ''));
    if (found) {
      this.sorted = found;
      this.descending = text[0] === '-';
    }
  }

  // Show these items.
  update(items) {
    this.items = items;
    this.sorted = this.usable.includes(this.sorted) ? this.sorted : this.columns[0];
    this.order = (this.sorted.text ? sortByNumber : sortByText)(items, this.sorted.of, this.descending);
    this.cursor = 0;
    this.view.scrollTop = 0;
    this.spacer.style.height = `${Math.min(items.length * TABLE_ROW_HEIGHT, MOST_HEIGHT)}px`;
    this.element.setAttribute('aria-rowcount', items.length + 1);
    this.markSorted();
    this.layOut();
  }

  pointAt(item) {
    const position = this.order.indexOf(item);
    if (position >= 0) {
      this.moveTo(position);
    }
  }
}
