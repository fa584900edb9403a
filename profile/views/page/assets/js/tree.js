// @ts-check
// Trees of call stacks. Node 0 is the root, "all"; a parent has a lower number than its children.

// Numbers of (parent, key): a hash table without objects, as there may be millions.
class NodeTable {
  // With room for so many, at first.
  constructor(room) {
    this.count = 1;
    this.parent = new Int32Array(room + 1).fill(-1);
    this.key = new Int32Array(room + 1).fill(-1);
    this.slots = new Int32Array(2 ** Math.ceil(Math.log2(2 * room + 2)));
  }

  slotOf(parent, key) {
    const { slots } = this;
    const mask = slots.length - 1;
    let at = Math.imul(parent, 0x9e3779b1) ^ Math.imul(key, 0x85ebca6b);
    at = (at ^ (at >>> 15)) & mask;
    for (;;) {
      const node = slots[at];
      if (node === 0 || (this.parent[node] === parent && this.key[node] === key)) {
        return at;
      }
      at = (at + 1) & mask;
    }
  }

  grow() {
    const widen = (column) => {
      const wider = new Int32Array(2 * column.length);
      wider.set(column);
      return wider;
    };
    this.parent = widen(this.parent);
    this.key = widen(this.key);
    this.slots = new Int32Array(2 * this.slots.length);
    for (let node = 1; node < this.count; node++) {
      this.slots[this.slotOf(this.parent[node], this.key[node])] = node;
    }
  }

  // The node, made if it is not there.
  number(parent, key) {
    let slot = this.slotOf(parent, key);
    if (this.slots[slot] === 0) {
      if (this.count === this.parent.length) {
        this.grow();
        slot = this.slotOf(parent, key);
      }
      this.parent[this.count] = parent;
      this.key[this.count] = key;
      this.slots[slot] = this.count++;
    }
    return this.slots[slot];
  }
}

function linkChildren(parent, count) {
  const child = new Int32Array(count);
  const sibling = new Int32Array(count);
  for (let node = count - 1; node > 0; node--) {
    sibling[node] = child[parent[node]];
    child[parent[node]] = node;
  }
  return { child, sibling };
}

// `contextNode`: where a context ends.
function finishTree(table, contextNode, keyIsPlace) {
  const { count, parent, key } = table;
  return Object.assign({ count, parent, key, contextNode, keyIsPlace }, linkChildren(parent, count));
}

// The nodes of the data, but equal keys below one parent are one node.
function callersFirst(keys, keyIsPlace) {
  const { caller, count } = data.nodes;
  const table = new NodeTable(count);
  const numbers = new Int32Array(count);
  for (let node = 0; node < count; node++) {
    numbers[node] = table.number(caller[node] < 0 ? 0 : numbers[caller[node]], keys[node]);
  }
  return finishTree(table, data.contexts.node.map((node) => numbers[node]), keyIsPlace);
}

// From the owners on: what wrappers allocate is their callers'.
function allocationFirst() {
  const table = new NodeTable(data.nodes.count);
  const { caller } = data.nodes;
  const contextNode = data.contexts.owner.map((owner) => {
    let number = 0;
    for (let node = owner; node >= 0; node = caller[node]) {
      number = table.number(number, nodeFunction[node]);
    }
    return number;
  });
  return finishTree(table, contextNode, false);
}

const treeMakers = {
  functions: () => callersFirst(nodeFunction, false),
  lines: () => callersFirst(data.nodes.place, true),
  reversed: allocationFirst,
};
const madeTrees = {};

function treeOf(mode) {
  madeTrees[mode] = madeTrees[mode] || treeMakers[mode]();
  return madeTrees[mode];
}

// Sums over contexts in and below each node.
function sumContexts(tree, summed, values) {
  const { count, parent, contextNode } = tree;
  const sums = new Float64Array(count);
  for (const context of summed) {
    sums[contextNode[context]] += values[context];
  }
  for (let node = summed.length > 0 ? count - 1 : 0; node > 0; node--) {
    sums[parent[node]] += sums[node];
  }
  return sums;
}

// Of a comparison: `all` has room for what is and for what was, so that what is gone is seen, too.
function sumComparison(tree, shown, quantity) {
  const now = contexts[quantity];
  const before = contexts[`base_${quantity}`];
  return {
    all: sumContexts(tree, shown, now.map((value, context) => Math.max(value, before[context]))),
    now: sumContexts(tree, shown, now), before: sumContexts(tree, shown, before),
  };
}

// Of the shown ones: all, and those of each class.
function sumClasses(tree, shown, values) {
  const ofClass = (name) => {
    const number = data.classes.indexOf(name);
    return sumContexts(tree, shown.filter((context) => data.contexts.class[context] === number), values);
  };
  return { all: sumContexts(tree, shown, values), cold: ofClass('cold'), hot: ofClass('hot') };
}

function nodeName(tree, node) {
  if (node === 0) {
    return 'all';
  }
  const key = tree.key[node];
  return data.functions.name[tree.keyIsPlace ? data.places.function[key] : key];
}

// With where it is.
function nodeText(tree, node) {
  if (node === 0) {
    return 'all';
  }
  const key = tree.key[node];
  return tree.keyIsPlace ? `${nodeName(tree, node)}  ${placeText(key, true)}` : `${nodeName(tree, node)}  ${fileOf(key)}`;
}
