// Sums by function: what each allocates itself (flat: of the contexts that it owns) and with all that it calls (cumulative).
// The rules are those of `hearth show`: instances of a template are one function, wrappers are looked through, and a context
// counts once for each function of its stack.

// By function: the number of those with its name and file.
function groupFunctions() {
  const numbers = new Map();
  const first = [];
  const groups = Int32Array.from(data.functions.name, (name, fn) => {
    const key = `${name}\n${data.functions.file[fn]}`;
    if (!numbers.has(key)) {
      numbers.set(key, first.length);
      first.push(fn);
    }
    return numbers.get(key);
  });
  return { groups, first, count: first.length };
}

const grouping = groupFunctions();
const NO_GROUP = -1;

function groupName(group) {
  return data.functions.name[grouping.first[group]];
}

function groupFile(group) {
  return fileOf(grouping.first[group]);
}

// By node; NO_GROUP: a wrapper.
function groupsOfNodes() {
  const ofFunction = Int32Array.from(grouping.groups, (group, fn) => (data.functions.wrapper[fn] ? NO_GROUP : group));
  return nodeFunction.map((fn) => ofFunction[fn]);
}

// By node: is its function none of its callers? The walk goes down and up again, and counts what is above.
function findOutermost(groups) {
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
  const above = new Int32Array(grouping.count);
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
  callsOfData.made = null;
  delete madeTrees.reversed;
}

// Made once, when a view asks for it.
function callsOfData() {
  if (!callsOfData.made) {
    const groups = groupsOfNodes();
    const owners = contexts.owner.map((node) => grouping.groups[nodeFunction[node]]);
    callsOfData.made = { groups, owners, outermost: findOutermost(groups) };
  }
  return callsOfData.made;
}

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

function sumByOwner(shown, value) {
  const { owners } = callsOfData();
  const sums = new Float64Array(grouping.count);
  for (const context of shown) {
    sums[owners[context]] += value(context);
  }
  return sums;
}

// Of each function with all that it calls.
function cumulativeSums(selection, sums, values) {
  const { groups, owners, outermost } = callsOfData();
  const cumulative = new Float64Array(grouping.count);
  for (let node = 0; node < groups.length; node++) {
    if (outermost[node] === 1) {
      cumulative[groups[node]] += sums[node];
    }
  }
  for (const context of selection.shown) { // all of its functions may be wrappers
    if (data.functions.wrapper[nodeFunction[contexts.owner[context]]]) {
      cumulative[owners[context]] += values[context];
    }
  }
  return cumulative;
}

const TEMPORARY_NS = 1e6;

// Single blocks are known of a trace. Of a profile, contexts count whose blocks live less than a millisecond and a thousandth
// of the run, on average: the rule of `hearth advise`.
function temporaryOf(context) {
  if (data.tallied) {
    return contexts.temporary[context];
  }
  const lives = contexts.lifetime_ns[context] / Math.max(contexts.allocs[context], 1);
  return lives <= Math.min(TEMPORARY_NS, data.duration_ns / Math.max(data.runs, 1) / 1000) ? contexts.allocs[context] : 0;
}

const flatColumns = {
  contexts: () => 1,
  bytes: (context) => contexts.bytes[context],
  allocs: (context) => contexts.allocs[context],
  byte_seconds: (context) => contexts.byte_seconds[context],
  live: (context) => contexts.live[context],
  live_allocs: (context) => contexts.live_allocs[context],
  lifetime_ns: (context) => contexts.lifetime_ns[context],
  peak: (context) => contexts.peak[context],
  temporary: temporaryOf,
};

// Columns by function, each made when it is first asked for.
function functionSums(selection) {
  if (!selection.functions) {
    const sums = {};
    const { quantity } = selection;
    decodeLater(sums, 'cumulative', () => cumulativeSums(selection, nodeSums(selection), contexts[quantity]));
    decodeLater(sums, 'baseCumulative', () => cumulativeSums(selection, addUpwards(selection, contexts[`base_${quantity}`]),
      contexts[`base_${quantity}`]));
    decodeLater(sums, 'baseFlat', () => sumByOwner(selection.shown, (context) => baseOf(quantity, context)));
    decodeLater(sums, 'flat', () => sumByOwner(selection.shown, (context) => contexts[selection.quantity][context]));
    for (const name of Object.keys(flatColumns)) {
      decodeLater(sums, name, () => sumByOwner(selection.shown, flatColumns[name]));
    }
    selection.functions = sums;
  }
  return selection.functions;
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
function callersOf(selection, wanted) {
  const { groups, outermost } = callsOfData();
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
function nodesWithin(wanted) {
  const { groups } = callsOfData();
  const { caller, count } = data.nodes;
  const within = new Uint8Array(count);
  for (let node = 0; node < count; node++) {
    within[node] = groups[node] === wanted || (caller[node] >= 0 && within[caller[node]]) ? 1 : 0;
  }
  return within;
}

// [function, sum]: what the innermost call calls.
function calleesOf(selection, wanted) {
  const { groups } = callsOfData();
  const { caller } = data.nodes;
  const within = nodesWithin(wanted);
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

function contextsWithin(selection, wanted) {
  const within = nodesWithin(wanted);
  return selection.shown.filter((context) => within[contexts.node[context]] === 1);
}
