// @ts-check
// The flame graph: a row for each depth, callers above, as wide as the quantity of all below; or the same tree as a treemap.
// Boxes are laid out when something changes, and drawn as far as they are in view.

const ROW_HEIGHT = 19;
const LEAST_WIDTH = 1; // of a box that is drawn, in pixels

const flame = {
  view: byId('flame-view'), canvas: byId('flame-view').querySelector('canvas'),
  tree: null, sums: null, quantity: '', colouring: null,
  lit: null, // by function: is it looked for?
  zoom: 0, cursor: 0, // nodes
  rows: [], // by depth: boxes { node, x, y, width, height }, from the left
};

// Those of at least so much, heaviest first.
function childrenOf(parent, least) {
  const { tree, sums } = flame;
  const children = [];
  for (let node = tree.child[parent]; node !== 0; node = tree.sibling[node]) {
    if (sums.all[node] >= least) {
      children.push(node);
    }
  }
  return children.sort((a, b) => sums.all[b] - sums.all[a]);
}

// Those that are wide enough.
function childBoxes(box, scale) {
  let { x } = box;
  return childrenOf(box.node, LEAST_WIDTH / scale).map((node) => {
    const child = { node, x, y: box.y + ROW_HEIGHT, width: flame.sums.all[node] * scale, height: ROW_HEIGHT };
    x += child.width;
    return child;
  });
}

// From the root to the zoomed node, each as wide as everything.
function ancestorRows(width) {
  const rows = [];
  for (let node = flame.zoom; node >= 0; node = flame.tree.parent[node]) {
    rows.unshift([{ node, x: 0, y: 0, width, height: ROW_HEIGHT }]);
  }
  rows.forEach(([box], depth) => { box.y = depth * ROW_HEIGHT; });
  return rows;
}

function layOutRows(rows) {
  const [root] = rows[rows.length - 1];
  const whole = flame.sums.all[root.node];
  let row = whole > 0 ? [root] : [];
  while (row.length > 0) {
    row = [].concat(...row.map((box) => childBoxes(box, root.width / whole)));
    if (row.length > 0) {
      rows.push(row);
    }
  }
}

// -------------------------------------------------- treemap --------------------------------------------------

// The tree of the flame graph as boxes in boxes, whose areas are the quantity: the squarified treemap of Bruls, Huizing and
// van Wijk (2000). What a box has beyond its children stays free. A child that is nearly all of its parent covers it.

const MAP_HEAD = 17; // room for a name
const NEARLY_ALL = 0.98;
const LEAST_AREA = 12; // of a box that is drawn, in square pixels

// Heaviest first, in rows along the shorter side of what is left; a row ends where one more box would make its boxes less square.
function fillRoom(boxes, room) {
  for (let first = 0, end = 1; first < boxes.length; end = first + 1) {
    const upright = room.width >= room.height;
    const side = Math.min(room.width, room.height);
    const worst = (sum, last) => Math.max(side * side * boxes[first].area / sum ** 2, sum ** 2 / (side * side * boxes[last].area));
    let sum = boxes[first].area;
    while (end < boxes.length && worst(sum + boxes[end].area, end) <= worst(sum, end - 1)) {
      sum += boxes[end++].area;
    }
    const depth = sum / side;
    for (let at = 0; first < end; first++) {
      const length = boxes[first].area / depth;
      Object.assign(boxes[first], upright ? { x: room.x, y: room.y + at, width: depth, height: length }
        : { x: room.x + at, y: room.y, width: length, height: depth });
      at += length;
    }
    Object.assign(room, upright ? { x: room.x + depth, width: room.width - depth } : { y: room.y + depth, height: room.height - depth });
  }
}

function boxesInside(box) {
  const { all } = flame.sums;
  const { x, y, width, height } = box;
  const covers = (child) => all[child] >= NEARLY_ALL * all[box.node];
  const children = childrenOf(box.node, LEAST_AREA * all[box.node] / (width * height));
  if (children.length > 0 && covers(children[0])) {
    return [{ node: children[0], x, y, width, height }];
  }
  const room = { x: x + 2, y: y + MAP_HEAD, width: width - 5, height: height - MAP_HEAD - 3 };
  if (room.width < 8 || room.height < 8) {
    return [];
  }
  const scale = room.width * room.height / all[box.node];
  const boxes = children.map((node) => ({ node, area: all[node] * scale }));
  fillRoom(boxes, room);
  return boxes;
}

function layOutMap(rows) {
  const height = flame.view.clientHeight;
  const [root] = rows[rows.length - 1];
  let row = flame.sums.all[root.node] > 0 ? [Object.assign(root, { y: 0, height })] : [];
  while (row.length > 0) {
    row = [].concat(...row.map(boxesInside));
    if (row.length > 0) {
      rows.push(row);
    }
  }
}

function layOutFlame() {
  const isMap = byId('flame-shape').value === 'treemap';
  flame.rows = ancestorRows(flame.view.clientWidth);
  (isMap ? layOutMap : layOutRows)(flame.rows);
  const height = isMap ? 0 : flame.rows.length * ROW_HEIGHT;
  byId('flame-spacer').style.height = `${height - flame.view.clientHeight}px`;
}

// What grew is red, what shrank is blue: the more of it, the stronger.
function changeColor(node, theme) {
  const { all, now, before } = flame.sums;
  const share = all[node] > 0 ? (now[node] - before[node]) / all[node] : 0;
  const strength = Math.sqrt(Math.abs(share));
  return mixColors([theme.same, share > 0 ? theme.more : theme.less], [1 - strength, strength]);
}

function boxColor(node, theme) {
  const { all, bands } = flame.sums;
  if (!flame.colouring) {
    return changeColor(node, theme);
  }
  if (flame.colouring.ofFunction) {
    return node === 0 ? theme.same : flame.colouring.colour(flame.colouring.ofFunction(functionOfNode(flame.tree, node)));
  }
  return all[node] > 0 ? mixColors(theme.bands, bands.map((sums) => sums[node] / all[node])) : theme.same;
}

function isLit(node) {
  return flame.lit !== null && node > 0 && flame.lit[functionOfNode(flame.tree, node)] === 1;
}

// Dark upon bright boxes, bright upon dark ones.
function textColor([red, green, blue]) {
  return 0.3 * red + 0.59 * green + 0.11 * blue > 125 ? '#1b1b1d' : '#f4f3ef';
}

function drawBox(context, box, y, theme) {
  const colour = boxColor(box.node, theme);
  const width = Math.max(box.width - 1, 0.5);
  context.fillStyle = theme.panel;
  context.fillRect(box.x, y, width, Math.max(box.height - 1, 0.5));
  context.globalAlpha = flame.lit === null || isLit(box.node) ? 1 : 0.35;
  context.fillStyle = `rgb(${colour.map(Math.round).join()})`;
  context.fillRect(box.x, y, width, Math.max(box.height - 1, 0.5));
  if (isLit(box.node)) {
    context.fillStyle = theme.mark;
    context.fillRect(box.x, y + Math.min(box.height, ROW_HEIGHT) - 4, width, 3);
  }
  context.globalAlpha = 1;
  if (box.width > 24 && box.height > 13) {
    context.fillStyle = flame.lit === null || isLit(box.node) ? textColor(colour) : theme.text;
    context.fillText(fitText(context, nodeName(flame.tree, box.node), box.width - 8), box.x + 4, y + 13);
  }
}

function drawCursor(context, top, theme) {
  const found = findBox(flame.cursor);
  if (found) {
    const { x, y, width, height } = flame.rows[found.depth][found.at];
    context.strokeStyle = theme.mark;
    context.lineWidth = 2;
    context.strokeRect(x + 1, y - top + 1, Math.max(width - 3, 1), Math.max(height - 3, 1));
  }
}

function flameTheme() {
  const parts = (name) => colorParts(themeColor(name));
  return {
    same: parts('notcold'), more: parts('hot'), less: parts('cold'),
    bands: flame.colouring ? flame.colouring.labels.map((unused, band) => flame.colouring.colour(band)) : [],
    text: themeColor('text'), mark: themeColor('mark'), panel: themeColor('panel'),
  };
}

function drawFlame() {
  const { view, rows } = flame;
  const context = prepareCanvas(flame.canvas, view.clientWidth, view.clientHeight);
  const theme = flameTheme();
  for (const box of [].concat(...rows)) {
    if (box.y + box.height > view.scrollTop && box.y < view.scrollTop + view.clientHeight) {
      drawBox(context, box, box.y - view.scrollTop, theme);
    }
  }
  drawCursor(context, view.scrollTop, theme);
}

function tellFlame() {
  const { tree, sums, cursor, quantity } = flame;
  const value = sums.all[cursor];
  const amount = data.base ? `${quantityText(quantity, sums.now[cursor])}, before ${quantityText(quantity, sums.before[cursor])}: ${changeText(sums.now[cursor] - sums.before[cursor])}`
    : `${quantityText(quantity, value)}, ${shareText(value, sums.all[0])} of the selection`;
  const classes = flame.colouring === madeColourings.class ? `; cold ${shareText(sums.bands[1][cursor], value)}, hot ${shareText(sums.bands[2][cursor], value)}` : '';
  byId('flame-text').textContent = `${nodeText(tree, cursor)}: ${amount}${classes}`;
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
  const { y, height } = flame.rows[found.depth][found.at];
  if (y < view.scrollTop) {
    view.scrollTop = y;
  } else if (y + height > view.scrollTop + view.clientHeight) {
    view.scrollTop = y + height - view.clientHeight;
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
const flameKeys = { Enter: zoomToCursor, Escape: zoomFlameOut, Home: () => zoomFlame(0) };

function onFlameKey(event) {
  const move = flameMoves[event.key];
  const box = move && neighbour(...move);
  if (box) {
    pointFlameAt(box.node);
  } else if (flameKeys[event.key]) {
    flameKeys[event.key]();
  } else if (!move) {
    return;
  }
  event.preventDefault();
}

function boxAt(event) {
  const place = flame.canvas.getBoundingClientRect();
  const y = event.clientY - place.top + flame.view.scrollTop;
  const x = event.clientX - place.left;
  const holds = (box) => box.x <= x && x < box.x + box.width && box.y <= y && y < box.y + box.height;
  return [].concat(...flame.rows).reverse().find(holds); // the innermost
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

// The share of all that has a function in its stack which is looked for.
function litShare() {
  const { tree, sums } = flame;
  const within = new Uint8Array(tree.count);
  let sum = 0;
  for (let node = 1; node < tree.count; node++) {
    within[node] = within[tree.parent[node]] | (isLit(node) ? 1 : 0);
    sum += within[node] > within[tree.parent[node]] ? sums.all[node] : 0;
  }
  return shareText(sum, sums.all[0]);
}

function lightUp() {
  const pattern = patternOf(byId('flame-find'));
  flame.lit = pattern ? matchFunctions(pattern) : selectionNow.matches;
  byId('flame-lit').textContent = pattern ? `${litShare()} lit up` : '';
}

function sumFlame(tree) {
  const { shown, quantity } = selectionNow;
  const values = contexts[quantity];
  const sums = data.base ? sumComparison(tree, shown, quantity) : { all: sumContexts(tree, shown, values) };
  if (flame.colouring && !flame.colouring.ofFunction) {
    const most = data.base ? values.map((value, context) => Math.max(value, contexts[`base_${quantity}`][context])) : values;
    sums.bands = sumBands(tree, shown, most, flame.colouring);
  }
  return sums;
}

// Show other contexts, another quantity, another tree or other colours. The zoom stays if its node still has something.
function drawFlameView() {
  const tree = treeOf(byId('flame-mode').value);
  const by = byId('flame-colour').value;
  flame.colouring = by === 'change' ? null : colouringOf(by);
  flame.sums = sumFlame(tree);
  flame.zoom = tree === flame.tree && flame.sums.all[flame.zoom] > 0 ? flame.zoom : 0;
  Object.assign(flame, { tree, quantity: selectionNow.quantity });
  byId('flame-legend').replaceChildren(flame.colouring ? colourLegend(flame.colouring, flame.quantity, selectionNow.shown) : 'Red grew, blue shrank.');
  lightUp();
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
  byId('flame-colour').append(...usableColourings().map((name) => make('option', { value: name }, name)));
  byId('flame-find').addEventListener('input', () => { lightUp(); drawFlame(); });
  new ResizeObserver(resizeFlame).observe(flame.view);
}
