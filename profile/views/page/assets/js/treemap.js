// @ts-check
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
