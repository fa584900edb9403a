// @ts-check
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

// By node: is its function none of its callers? The walk goes down and up again, and counts what is above.
function findOutermost(groups, groupCount) {
  const { caller, count } = data.nodes;
  const child = new Int32Array(count).fill(-1);
  const sibling = new Int32Array(count).fill(-1);
  let root = -1;
  for (let node = count - 1; node >= 0; node--) {
    if (caller[node] < 0) {
      sibling[node] = root;
      root = node;
    } else {
      sibling[node] = child[caller[node]];
      child[caller[node]] = node;
    }
  }
  const above = new Int32Array(groupCount);
  const outermost = new Uint8Array(count);
  for (let node = root; node >= 0;) {
    const group = groups[node];
    if (group !== NO_GROUP && above[group]++ === 0) {
      outermost[node] = 1;
    }
    if (child[node] >= 0) {
      node = child[node];
      continue;
    }
    while (node >= 0) {
      if (groups[node] !== NO_GROUP) {
        above[groups[node]]--;
      }
      if (sibling[node] >= 0) {
        node = sibling[node];
        break;
      }
      node = caller[node];
    }
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
