// @ts-check
// Tables of which only the rows in view are elements, and as many columns as there is room for. Rows may be folded into groups.

const TABLE_ROW_HEIGHT = 22;
const TWO_LINES = 40; // the height of a row with a second line
const MOST_HEIGHT = 8e6; // of what is scrolled, in pixels: browsers have a limit
const COLUMN_GAP = 8;
const ROOM_FOR_NAMES = 150; // is left to names, beside numbers that few ask for

// By numbers or texts; equal ones stay in order.
function sortItems(items, of, descending) {
  const keys = Array.from(items, of);
  const sign = descending ? -1 : 1;
  const positions = Int32Array.from(keys.keys());
  positions.sort((a, b) => (keys[a] < keys[b] ? -sign : keys[a] > keys[b] ? sign : a - b));
  return positions.map((position) => items[position]);
}

// A group of rows: its number and members. Its value of a column is the sum, or the average, of theirs, or null.
function groupValue(group, column) {
  if (!group.values.has(column)) {
    const sum = (of) => group.members.reduce((total, item) => total + of(item), 0);
    group.values.set(column, column.add ? sum(column.of)
      : column.over ? sum((item) => contexts[column.over][item]) / Math.max(sum((item) => contexts.allocs[item]), 1) : null);
  }
  return group.values.get(column);
}

function makeTableGroups(items, groupOf) {
  const groups = new Map();
  items.forEach((item) => {
    const number = groupOf(item);
    groups.set(number, groups.get(number) || { number, members: [], values: new Map() });
    groups.get(number).members.push(item);
  });
  return Array.from(groups.values());
}

// A column: `name`; `least` width in pixels; `grow`: its part of what is left; `rank`: columns of low ranks stay where there
// is little room; `of`: the value to sort by, `text`: its text (numbers only); `title`; `share`: from 0 to 1, drawn as a bar;
// `add`, `over`: what groups have of it.
class Table {
  // Its items are numbers. `choice`: what is chosen with one; `rowClass` gives a class to its row;
  // `second` its second line, where one of `insteadOf` has no room; `groupOf`, `groupName`: of groups.
  constructor(section, id, options) {
    this.id = id;
    this.options = options;
    this.columns = options.columns;
    this.items = new Int32Array(0);
    this.order = /** @type {ArrayLike<any> & any} */ (this.items); // as they are shown; -1 - i: the i-th group
    this.groups = [];
    this.folding = false;
    this.unfolded = new Set(); // numbers of groups
    this.cursor = 0; // position in `order`
    this.rows = []; // elements
    this.rowHeight = TABLE_ROW_HEIGHT;
    this.sorted = this.columns.find((column) => column.name === options.sorted);
    this.descending = true;
    this.makeElements(section, options.label);
  }

  makeElements(section, label) {
    const { id } = this;
    this.spacer = make('div', { className: 'spacer' });
    this.view = make('div', { id: `${id}-view`, className: 'viewport', tabIndex: 0 }, this.spacer);
    this.head = make('div', { id: `${id}-head`, className: 'table-head' });
    this.head.setAttribute('role', 'row');
    this.view.setAttribute('role', 'grid');
    this.view.setAttribute('aria-label', `${label}: arrows move, Enter shows details`);
    this.view.setAttribute('aria-owns', this.head.id);
    this.none = make('p', { className: 'caption', hidden: true }, 'Nothing to show here.');
    this.element = make('div', { id, className: 'table' }, this.head, this.none, this.view);
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
      if (room < (column.rank > 6 ? ROOM_FOR_NAMES : 0) && taken.size > 0) {
        break;
      }
      taken.add(column);
    }
    const visible = this.columns.filter((column) => taken.has(column));
    if (!this.visible || visible.length !== this.visible.length || visible.some((column, i) => column !== this.visible[i])) {
      this.visible = visible;
      this.hasSecond = Boolean(this.options.second) && !visible.some((column) => column.name === this.options.insteadOf);
      this.rowHeight = this.hasSecond ? TWO_LINES : TABLE_ROW_HEIGHT;
      this.spacer.style.height = `${Math.min(this.order.length * this.rowHeight, MOST_HEIGHT)}px`;
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
    const second = this.hasSecond ? [make('span', { className: 'second' })] : [];
    const row = make('div', { className: 'row' }, ...cells, ...second);
    second.forEach((cell) => cell.setAttribute('role', 'gridcell'));
    row.style.height = `${this.rowHeight}px`;
    row.setAttribute('role', 'row');
    row.style.gridTemplateColumns = this.template;
    this.view.append(row);
    return row;
  }

  fillCell(cell, column, item) {
    const group = item < 0 ? this.groups[-1 - item] : null;
    const value = group ? groupValue(group, column) : column.of(item);
    cell.textContent = value === null ? '' : column.text ? column.text(value) : value;
    cell.title = group ? '' : column.title ? column.title(item) : column.text ? '' : value;
    if (column.share) {
      cell.style.setProperty('--share', `${(100 * Math.max(0, Math.min(1, column.share(item)))).toFixed(1)}%`);
    }
  }

  fillRow(row, position, y) {
    const item = this.order[position];
    row.id = `${this.id}-row-${position}`;
    row.className = `row ${item < 0 ? 'group' : this.options.rowClass ? this.options.rowClass(item) : ''}`;
    row.style.top = `${y}px`;
    row.setAttribute('aria-rowindex', position + 2);
    row.setAttribute('aria-selected', position === this.cursor);
    this.visible.forEach((column, i) => this.fillCell(row.children[i], column, item));
    this.fillGroupName(row, item);
    if (this.hasSecond) {
      row.lastChild.textContent = item < 0 ? '' : this.options.second(item);
    }
  }

  // A group's name has the room of all columns of text.
  fillGroupName(row, item) {
    const texts = this.visible.filter((column) => !column.text);
    const { number, members } = this.groups[-1 - item] || { number: 0, members: [] };
    const name = `${this.unfolded.has(number) ? '\u25be' : '\u25b8'} ${this.options.groupName ? this.options.groupName(number) : ''} (${countText(members.length)})`;
    this.visible.forEach((column, i) => {
      const isName = item < 0 && column.name === 'function';
      row.children[i].hidden = item < 0 && !column.text && !isName;
      row.children[i].style.gridColumnEnd = isName ? `span ${texts.length}` : '';
      row.children[i].textContent = isName ? name : row.children[i].textContent;
    });
  }

  // Rows lie one below the other, unless there are so many that the scroll bar has to stand for them.
  firstRow() {
    const { view, order } = this;
    const height = order.length * this.rowHeight;
    const scrolled = Math.min(height, MOST_HEIGHT) - view.clientHeight;
    const share = scrolled > 0 ? view.scrollTop / scrolled : 0;
    return share * Math.max(height - view.clientHeight, 0) / this.rowHeight;
  }

  scrollToRow(position) {
    const { view, order } = this;
    const height = order.length * this.rowHeight;
    const scale = (Math.min(height, MOST_HEIGHT) - view.clientHeight) / Math.max(height - view.clientHeight, 1);
    const visible = Math.floor(view.clientHeight / this.rowHeight);
    const first = this.firstRow();
    if (position < first) {
      view.scrollTop = position * this.rowHeight * scale;
    } else if (position + 1 > first + visible) {
      view.scrollTop = Math.ceil((position + 1 - view.clientHeight / this.rowHeight) * this.rowHeight * scale);
    }
  }

  draw() {
    const { view, rows, order } = this;
    if (!this.visible) {
      return;
    }
    const first = this.firstRow();
    const begin = Math.floor(first);
    const count = Math.min(order.length - begin, Math.ceil(view.clientHeight / this.rowHeight) + 1);
    while (rows.length < count) {
      rows.push(this.makeRow());
    }
    rows.forEach((row, i) => {
      row.hidden = i >= count;
      if (!row.hidden) {
        this.fillRow(row, begin + i, view.scrollTop + (begin + i - first) * this.rowHeight);
      }
    });
    if (order.length > 0) {
      view.setAttribute('aria-activedescendant', `${this.id}-row-${this.cursor}`);
    } else {
      view.removeAttribute('aria-activedescendant');
    }
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

  choiceOf(item) {
    return item < 0 ? { group: this.groups[-1 - item].number } : this.options.choice(item);
  }

  chooseCursor() {
    clearTimeout(this.timer);
    if (this.order.length > 0) {
      choose(this.choiceOf(this.order[this.cursor]));
    }
  }

  onKey(event) {
    const page = Math.floor(this.view.clientHeight / this.rowHeight);
    const targets = {
      ArrowDown: this.cursor + 1, ArrowUp: this.cursor - 1, PageDown: this.cursor + page,
      PageUp: this.cursor - page, Home: 0, End: this.order.length - 1,
    };
    if (event.key in targets) {
      this.moveAndChoose(targets[event.key]);
    } else if (event.key === 'Enter') {
      this.turnGroup();
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
      this.turnGroup();
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

  // Fold or unfold the group of the cursor.
  turnGroup() {
    const item = this.order[this.cursor];
    if (item < 0) {
      const { number } = this.groups[-1 - item];
      this.unfolded[this.unfolded.has(number) ? 'delete' : 'add'](number);
      this.arrange();
      this.draw();
    }
  }

  // Groups by what they have of the sorted column, else by name; below each its rows, unless it is folded.
  arrangeGroups() {
    this.groups = makeTableGroups(sortItems(this.items, this.sorted.of, this.descending), this.options.groupOf);
    const numbers = Int32Array.from(this.groups.keys());
    const key = (i) => (this.sorted.text ? groupValue(this.groups[i], this.sorted) : this.options.groupName(this.groups[i].number));
    this.order = [].concat(...Array.from(sortItems(numbers, key, this.descending),
      (i) => (this.unfolded.has(this.groups[i].number) ? [-1 - i, ...this.groups[i].members] : [-1 - i])));
  }

  arrange() {
    if (this.folding) {
      this.arrangeGroups();
    } else {
      this.order = sortItems(this.items, this.sorted.of, this.descending);
    }
    this.none.hidden = this.order.length > 0;
    this.spacer.style.height = `${Math.min(this.order.length * this.rowHeight, MOST_HEIGHT)}px`;
    this.view.setAttribute('aria-rowcount', this.order.length + 1);
  }

  // Show these items.
  update(items) {
    this.items = items;
    this.sorted = this.usable.includes(this.sorted) ? this.sorted : this.columns[0];
    this.cursor = 0;
    this.view.scrollTop = 0;
    this.arrange();
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
