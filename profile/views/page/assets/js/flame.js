// The flame graph: a row for each depth, callers above, as wide as the quantity of all below. Rows are laid out when
// something changes, and drawn as far as they are in view.

const ROW_HEIGHT = 19;
const LEAST_WIDTH = 1; // of a box that is drawn, in pixels

const flame = {
  view: byId('flame-view'), canvas: byId('flame-view').querySelector('canvas'),
  tree: null, sums: null, quantity: '', matches: null,
  zoom: 0, cursor: 0, // nodes
  rows: [], // by depth: boxes { node, x, width }, from the left
};

// Those that are wide enough, heaviest first.
function childBoxes(box, scale) {
  const { tree, sums } = flame;
  const boxes = [];
  for (let node = tree.child[box.node]; node !== 0; node = tree.sibling[node]) {
    if (sums.all[node] * scale >= LEAST_WIDTH) {
      boxes.push({ node, x: 0, width: sums.all[node] * scale });
    }
  }
  boxes.sort((a, b) => b.width - a.width);
  let { x } = box;
  for (const child of boxes) {
    child.x = x;
    x += child.width;
  }
  return boxes;
}

// From the root to the zoomed node, each as wide as everything.
function ancestorRows(width) {
  const rows = [];
  for (let node = flame.zoom; node >= 0; node = flame.tree.parent[node]) {
    rows.unshift([{ node, x: 0, width }]);
  }
  return rows;
}

function layOutFlame() {
  const width = flame.view.clientWidth;
  const whole = flame.sums.all[flame.zoom];
  const rows = ancestorRows(width);
  let row = whole > 0 ? rows[rows.length - 1] : [];
  while (row.length > 0) {
    row = [].concat(...row.map((box) => childBoxes(box, width / whole)));
    if (row.length > 0) {
      rows.push(row);
    }
  }
  flame.rows = rows;
  flame.view.querySelector('.spacer').style.height = `${rows.length * ROW_HEIGHT - flame.view.clientHeight}px`;
}

// What grew is red, what shrank is green.
function changeColor(node, theme) {
  const { all, now, before } = flame.sums;
  const share = all[node] > 0 ? (now[node] - before[node]) / all[node] : 0;
  return mixColors([theme.colors[0], share > 0 ? theme.more : theme.less], [1 - Math.abs(share), Math.abs(share)]);
}

function boxColor(node, theme) {
  const { colors } = theme;
  const { all, cold, hot } = flame.sums;
  const coldShare = all[node] > 0 ? cold[node] / all[node] : 0;
  const hotShare = all[node] > 0 ? hot[node] / all[node] : 0;
  return mixColors(colors, [Math.max(0, 1 - coldShare - hotShare), coldShare, hotShare]);
}

function isMatch(node) {
  const { tree } = flame;
  return flame.matches !== null && node > 0
    && flame.matches[functionOfNode(tree, node)] === 1;
}

function drawBox(context, box, y, theme) {
  context.fillStyle = data.base ? changeColor(box.node, theme) : boxColor(box.node, theme);
  context.fillRect(box.x, y, Math.max(box.width - 1, 0.5), ROW_HEIGHT - 1);
  if (isMatch(box.node)) {
    context.fillStyle = theme.mark;
    context.fillRect(box.x, y + ROW_HEIGHT - 4, Math.max(box.width - 1, 0.5), 3);
  }
  if (box.width > 24) {
    context.fillStyle = theme.text;
    context.fillText(fitText(context, nodeName(flame.tree, box.node), box.width - 8), box.x + 4, y + 13);
  }
  if (box.node === flame.cursor) {
    context.strokeStyle = theme.mark;
    context.lineWidth = 2;
    context.strokeRect(box.x + 1, y + 1, Math.max(box.width - 3, 1), ROW_HEIGHT - 3);
  }
}

function drawFlame() {
  const { view, rows } = flame;
  const context = prepareCanvas(flame.canvas, view.clientWidth, view.clientHeight);
  const theme = {
    colors: ['notcold', 'cold', 'hot'].map((name) => colorParts(themeColor(name))),
    text: themeColor('text'), mark: themeColor('mark'), more: colorParts(themeColor('more')), less: colorParts(themeColor('less')),
  };
  const first = Math.floor(view.scrollTop / ROW_HEIGHT);
  const end = Math.min(rows.length, Math.ceil((view.scrollTop + view.clientHeight) / ROW_HEIGHT));
  for (let depth = first; depth < end; depth++) {
    for (const box of rows[depth]) {
      drawBox(context, box, depth * ROW_HEIGHT - view.scrollTop, theme);
    }
  }
}

function tellComparison() {
  const { tree, sums, cursor, quantity } = flame;
  byId('flame-text').textContent = `${nodeText(tree, cursor)}: ${quantityText(quantity, sums.now[cursor])}, `
    + `before ${quantityText(quantity, sums.before[cursor])}: ${changeText(sums.now[cursor] - sums.before[cursor])}`;
}

function tellFlame() {
  const { tree, sums, cursor, quantity } = flame;
  if (data.base) {
    tellComparison();
    return;
  }
  const value = sums.all[cursor];
  const classes = data.accesses_known
    ? `; cold ${shareText(sums.cold[cursor], value)}, hot ${shareText(sums.hot[cursor], value)}` : '';
  byId('flame-text').textContent = `${nodeText(tree, cursor)}: ${quantityText(quantity, value)}, `
    + `${shareText(value, sums.all[0])} of the selection${classes}`;
}

function findBox(node) {
  for (let depth = 0; depth < flame.rows.length; depth++) {
    const at = flame.rows[depth].findIndex((box) => box.node === node);
    if (at >= 0) {
      return { depth, at };
    }
  }
  return null;
}

function scrollToCursor() {
  const found = findBox(flame.cursor);
  const { view } = flame;
  const y = found.depth * ROW_HEIGHT;
  if (y < view.scrollTop) {
    view.scrollTop = y;
  } else if (y + ROW_HEIGHT > view.scrollTop + view.clientHeight) {
    view.scrollTop = y + ROW_HEIGHT - view.clientHeight;
  }
}

function pointFlameAt(node) {
  flame.cursor = node;
  scrollToCursor();
  drawFlame();
  tellFlame();
}

function zoomFlame(node) {
  flame.zoom = node;
  layOutFlame();
  pointFlameAt(node);
}

function zoomFlameOut() {
  if (flame.zoom > 0) {
    zoomFlame(flame.tree.parent[flame.zoom]);
  }
}

// The box under or above the middle of the present one; or beside it.
function neighbour(down, right) {
  const { depth, at } = findBox(flame.cursor);
  const row = flame.rows[depth + down] || [];
  if (right !== 0) {
    return row[at + right];
  }
  const { node, x, width } = flame.rows[depth][at];
  return down > 0 ? row.find((box) => flame.tree.parent[box.node] === node)
    : row.find((box) => box.x <= x + width / 2 && x + width / 2 <= box.x + box.width);
}

function functionOfNode(tree, node) {
  const key = tree.key[node];
  return tree.keyIsPlace ? data.places.function[key] : key;
}

function filterByCursor() {
  if (flame.cursor > 0) {
    setFilter(`^${escapePattern(nodeName(flame.tree, flame.cursor))}$`);
  }
}

function chooseCursor() {
  if (flame.cursor > 0) {
    choose({ group: grouping.groups[functionOfNode(flame.tree, flame.cursor)] });
  }
}

function zoomToCursor() {
  zoomFlame(flame.cursor);
  chooseCursor();
}

const flameMoves = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
const flameKeys = {
  Enter: zoomToCursor, Escape: zoomFlameOut, Home: () => zoomFlame(0), f: filterByCursor,
};

function onFlameKey(event) {
  const move = flameMoves[event.key];
  const box = move && neighbour(...move);
  if (box) {
    pointFlameAt(box.node);
  } else if (flameKeys[event.key] && !event.ctrlKey && !event.metaKey) {
    flameKeys[event.key]();
  } else if (!move) {
    return;
  }
  event.preventDefault();
}

function boxAt(event) {
  const place = flame.canvas.getBoundingClientRect();
  const row = flame.rows[Math.floor((event.clientY - place.top + flame.view.scrollTop) / ROW_HEIGHT)] || [];
  const x = event.clientX - place.left;
  return row.find((box) => box.x <= x && x < box.x + box.width);
}

function onFlameHover(event) {
  const box = boxAt(event);
  if (box && box.node !== flame.cursor) {
    flame.cursor = box.node;
    drawFlame();
    tellFlame();
  }
}

function onFlameClick(event) {
  const box = boxAt(event);
  if (box) {
    flame.cursor = box.node;
    zoomToCursor();
  }
}

// Show other contexts, another quantity or another tree. The zoom stays if its node still has something.
function drawFlameView() {
  const { shown, quantity, matches } = selectionNow;
  const tree = treeOf(byId('flame-mode').value);
  flame.sums = data.base ? sumComparison(tree, shown, quantity) : sumTree(tree, shown, data.contexts[quantity]);
  flame.zoom = tree === flame.tree && flame.sums.all[flame.zoom] > 0 ? flame.zoom : 0;
  Object.assign(flame, { tree, quantity, matches });
  zoomFlame(flame.zoom);
}

// A narrower view may have no room for the box of the cursor.
function resizeFlame() {
  if (!flame.tree || flame.view.clientWidth === 0) {
    return;
  }
  layOutFlame();
  flame.cursor = findBox(flame.cursor) ? flame.cursor : flame.zoom;
  drawFlame();
}

function startFlame() {
  flame.view.addEventListener('keydown', onFlameKey);
  flame.view.addEventListener('scroll', drawFlame);
  flame.canvas.addEventListener('mousemove', onFlameHover);
  flame.canvas.addEventListener('click', onFlameClick);
  byId('flame-out').addEventListener('click', zoomFlameOut);
  byId('flame-filter').addEventListener('click', filterByCursor);
  new ResizeObserver(resizeFlame).observe(flame.view);
}
