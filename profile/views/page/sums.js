// @ts-check
// What is below what, and how much: trees of call stacks, and sums of functions, files, libraries and types.

// -------------------------------------------------- trees --------------------------------------------------

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

// For each band of a colouring.
function sumBands(tree, shown, values, colouring) {
  return colouring.labels.map((unused, band) => sumContexts(tree, shown.filter((context) => colouring.bandOf[context] === band), values));
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

// -------------------------------------------------- groups --------------------------------------------------

// Sums by function, file, library or type: what each allocates itself (flat: of the contexts that it owns) and with all that
// it calls (cumulative). The rules are those of `hearth show`: instances of a template are one function, wrappers are looked through, and a context
// counts once for each function of its stack.

const NO_GROUP = -1;

// Rows with one name and file are one group.
function makeGroups(count, nameOf, pathOf) {
  const numbers = new Map();
  const names = [];
  const files = [];
  const groups = Int32Array.from({ length: count }, (unused, row) => {
    const name = nameOf(row);
    const file = pathOf(row);
    const key = `${name}\n${file}`;
    if (!numbers.has(key)) {
      numbers.set(key, names.length);
      names.push(name);
      files.push(file);
    }
    return numbers.get(key);
  });
  return { groups, names, files, count: names.length };
}

// The library of code whose source is known.
function libraryWithSource() {
  const programs = data.binaries.filter((binary) => !binary.library);
  return programs.length === 1 ? `(${programs[0].name}, and libraries with debug information)` : '(code with debug information)';
}

// By type the rows are types, else functions.
function makeGroupings() {
  const { count, name, library } = data.functions;
  const withSource = libraryWithSource();
  const noFile = () => '';
  return {
    function: makeGroups(count, (fn) => name[fn], fileOf),
    file: makeGroups(count, (fn) => fileOf(fn) || '(unknown file)', noFile),
    library: makeGroups(count, (fn) => (library[fn] ? fileOf(fn) : withSource), noFile),
    type: makeGroups(data.types.length + 1, (type) => (type === 0 ? '(type not known)' : data.types[type - 1]), noFile),
  };
}

const groupings = makeGroupings();
const grouping = groupings.function;

function groupName(group, by = 'function') {
  return groupings[by].names[group];
}

function groupFile(group, by = 'function') {
  return groupings[by].files[group];
}

// By node; NO_GROUP: a wrapper, unless it is asked for libraries.
function groupsOfNodes(by) {
  const isHidden = (fn) => by !== 'library' && data.functions.wrapper[fn];
  const ofFunction = groupings[by].groups.map((group, fn) => (isHidden(fn) ? NO_GROUP : group));
  return nodeFunction.map((fn) => ofFunction[fn]);
}

// By node: is its function none of its callers? The walk goes down and up again, and counts what is above. It numbers nodes
// from 1: 0 is above all.
function findOutermost(groups, groupCount) {
  const { caller, count } = data.nodes;
  const { child, sibling } = linkChildren(Int32Array.from({ length: count + 1 }, (unused, i) => (i > 0 ? caller[i - 1] + 1 : -1)), count + 1);
  const above = new Int32Array(groupCount);
  const outermost = new Uint8Array(count);
  for (let i = child[0]; i > 0;) {
    const group = groups[i - 1];
    if (group !== NO_GROUP && above[group]++ === 0) {
      outermost[i - 1] = 1;
    }
    let next = child[i];
    while (next === 0 && i > 0) {
      if (groups[i - 1] !== NO_GROUP) {
        above[groups[i - 1]]--;
      }
      next = sibling[i];
      i = caller[i - 1] + 1;
    }
    i = next;
  }
  return outermost;
}

// Look through these functions, too: what they allocate is their callers' then.
function lookThrough(wanted) {
  const before = page.wrappers;
  if (wanted.length === before.length && wanted.every((group) => before.includes(group))) {
    return;
  }
  const { wrapper } = data.functions;
  grouping.groups.forEach((group, fn) => {
    if (before.includes(group) !== wanted.includes(group)) {
      wrapper[fn] = wanted.includes(group) ? 1 : 0;
    }
  });
  page.wrappers = wanted;
  contexts.owner = contexts.node.map(ownerOf);
  callsOfData.made = {};
  delete madeTrees.reversed;
}

// Made once, when a view asks for it. Types are those of contexts, and call nothing.
function callsBy(by) {
  const { groups } = groupings[by];
  if (by === 'type') {
    return { owners: contexts.type.map((type) => groups[type]) };
  }
  const ofNodes = groupsOfNodes(by);
  const owner = by === 'library' ? contexts.node : contexts.owner;
  return { groups: ofNodes, owners: owner.map((node) => groups[nodeFunction[node]]), outermost: findOutermost(ofNodes, groupings[by].count) };
}

function callsOfData(by = 'function') {
  callsOfData.made[by] = callsOfData.made[by] || callsBy(by);
  return callsOfData.made[by];
}

callsOfData.made = {};

// Sums of a selection's contexts in and below each node.
function addUpwards(selection, values) {
  const { caller, count } = data.nodes;
  const sums = new Float64Array(count);
  for (const context of selection.shown) {
    sums[contexts.node[context]] += values[context];
  }
  for (let node = count - 1; node >= 0; node--) {
    if (caller[node] >= 0) {
      sums[caller[node]] += sums[node];
    }
  }
  return sums;
}

function nodeSums(selection) {
  selection.nodeSums = selection.nodeSums || addUpwards(selection, contexts[selection.quantity]);
  return selection.nodeSums;
}

function sumByOwner(shown, by, value) {
  const { owners } = callsOfData(by);
  const sums = new Float64Array(groupings[by].count);
  for (const context of shown) {
    sums[owners[context]] += value(context);
  }
  return sums;
}

// Of each group with all that it calls.
function cumulativeSums(selection, by, column) {
  const { groups, owners, outermost } = callsOfData(by);
  const values = contexts[column];
  if (by === 'type') {
    return sumByOwner(selection.shown, by, (context) => values[context]);
  }
  const sums = column === selection.quantity ? nodeSums(selection) : addUpwards(selection, values);
  const cumulative = new Float64Array(groupings[by].count);
  for (let node = 0; node < groups.length; node++) {
    if (outermost[node] === 1) {
      cumulative[groups[node]] += sums[node];
    }
  }
  for (const context of selection.shown) { // all of its functions may be wrappers
    if (by !== 'library' && data.functions.wrapper[nodeFunction[contexts.owner[context]]]) {
      cumulative[owners[context]] += values[context];
    }
  }
  return cumulative;
}

const flatColumns = ['contexts', 'bytes', 'allocs', 'byte_seconds', 'live', 'live_allocs', 'lifetime_ns', 'peak', 'untouched', 'temporary'];
const flatValues = { contexts: () => 1 };

// Columns by group, each made when it is first asked for.
function makeSums(selection, by) {
  const { quantity, shown } = selection;
  const sums = {};
  decodeLater(sums, 'cumulative', () => cumulativeSums(selection, by, quantity));
  decodeLater(sums, 'baseCumulative', () => cumulativeSums(selection, by, `base_${quantity}`));
  decodeLater(sums, 'baseFlat', () => sumByOwner(shown, by, (context) => baseOf(quantity, context)));
  decodeLater(sums, 'flat', () => sumByOwner(shown, by, (context) => contexts[quantity][context]));
  for (const name of flatColumns) {
    decodeLater(sums, name, () => sumByOwner(shown, by, flatValues[name] || ((context) => contexts[name][context])));
  }
  return sums;
}

function groupSums(selection, by = 'function') {
  selection.groupSums = selection.groupSums || {};
  selection.groupSums[by] = selection.groupSums[by] || makeSums(selection, by);
  return selection.groupSums[by];
}

// -------------------------------------------------- callers and callees --------------------------------------------------

const ITSELF = -2; // in place of a function: it allocates, or the program begins with it

function addTo(sums, key, value) {
  sums.set(key, (sums.get(key) || 0) + value);
}

function sortedSums(sums) {
  return Array.from(sums).filter((entry) => entry[1] > 0).sort((a, b) => b[1] - a[1]);
}

// [function, sum], most first: the callers of the outermost call.
function callersOf(selection, wanted, by) {
  const { groups, outermost } = callsOfData(by);
  const { caller } = data.nodes;
  const sums = nodeSums(selection);
  const found = new Map();
  for (let node = 0; node < groups.length; node++) {
    if (groups[node] === wanted && outermost[node] === 1 && sums[node] > 0) {
      let above = caller[node];
      while (above >= 0 && groups[above] === NO_GROUP) {
        above = caller[above];
      }
      addTo(found, above < 0 ? ITSELF : groups[above], sums[node]);
    }
  }
  return sortedSums(found);
}

// By node: is the function in its stack?
function nodesWithin(wanted, by) {
  const { groups } = callsOfData(by);
  const { caller, count } = data.nodes;
  const within = new Uint8Array(count);
  for (let node = 0; node < count; node++) {
    within[node] = groups[node] === wanted || (caller[node] >= 0 && within[caller[node]]) ? 1 : 0;
  }
  return within;
}

// [function, sum]: what the innermost call calls.
function calleesOf(selection, wanted, by) {
  const { groups } = callsOfData(by);
  const { caller } = data.nodes;
  const within = nodesWithin(wanted, by);
  const values = contexts[selection.quantity];
  const found = new Map();
  for (const context of selection.shown) {
    if (within[contexts.node[context]] === 1) {
      let callee = ITSELF;
      for (let node = contexts.node[context]; groups[node] !== wanted; node = caller[node]) {
        callee = groups[node] === NO_GROUP ? callee : groups[node];
      }
      addTo(found, callee, values[context]);
    }
  }
  return sortedSums(found);
}

// Where all functions of a stack are looked through, its owner is in no node.
function contextsWithin(selection, wanted, by) {
  const { owners } = callsOfData(by);
  const within = by === 'type' ? null : nodesWithin(wanted, by);
  return selection.shown.filter((context) => owners[context] === wanted || (within && within[contexts.node[context]] === 1));
}
