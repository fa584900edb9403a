// @ts-check
// The plots: two-dimensional histograms, and the heap over time.

const PLOT = { width: 600, height: 340, left: 80, right: 28, top: 10, bottom: 40 };

function axisBound(axis, bin) {
  return axis.step > 0 ? bin * axis.step : 2 ** (bin / 2);
}

function rangeText(axis, bin) {
  return `${unitText(axis.unit, axisBound(axis, bin))} to ${unitText(axis.unit, axisBound(axis, bin + 1))}`;
}

// [first, end) of the bins that hold something.
function binExtent(cells, column) {
  const bins = cells.map((cell) => cell[column]);
  return [bins.reduce((a, b) => Math.min(a, b)), bins.reduce((a, b) => Math.max(a, b)) + 1];
}

// Where a plot's bins lie on its canvas.
function makeScale(cells) {
  const [x, xEnd] = binExtent(cells, 0);
  const [y, yEnd] = binExtent(cells, 1);
  const width = (PLOT.width - PLOT.left - PLOT.right) / (xEnd - x);
  const height = (PLOT.height - PLOT.top - PLOT.bottom) / (yEnd - y);
  return {
    x, xEnd, y, yEnd, width, height,
    left: (bin) => PLOT.left + (bin - x) * width,
    bottom: (bin) => PLOT.height - PLOT.bottom - (bin - y) * height,
  };
}

// Where a value is, in bins.
function axisPosition(axis, value) {
  return axis.step > 0 ? value / axis.step : 2 * Math.log2(value);
}

// Powers of ten or two, as many as there is room for.
function logarithmicTicks(base, least, greatest, most) {
  const digits = (value) => Math.log(value) / Math.log(base);
  const first = Math.ceil(digits(least) - 1e-9);
  const end = Math.floor(digits(greatest) + 1e-9);
  const step = Math.ceil((end - first + 1) / most);
  return Array.from({ length: Math.max(0, Math.ceil((end - first + 1) / step)) }, (unused, i) => base ** (first + i * step));
}

// The least round number above: of bytes a power of two, else 1, 2 or 5 times a power of ten.
function roundStep(unit, least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return unit === 'bytes' ? 2 ** Math.ceil(Math.log2(least)) : power * [1, 2, 5, 10].find((factor) => power * factor >= least);
}

function linearTicks(unit, least, greatest, most) {
  const step = roundStep(unit, (greatest - least) / most);
  const first = Math.ceil(least / step);
  return Array.from({ length: Math.floor(greatest / step) - first + 1 }, (unused, i) => (first + i) * step);
}

function ticksOf(axis, first, end, most) {
  const [least, greatest] = [axisBound(axis, first), axisBound(axis, end)];
  return axis.step > 0 ? linearTicks(axis.unit, least, greatest, most)
    : logarithmicTicks(axis.unit === 'ns' ? 10 : 2, least, greatest, most);
}

function fillTextUpwards(context, text, x, y) {
  context.save();
  context.translate(x, y);
  context.rotate(-Math.PI / 2);
  context.textAlign = 'center';
  context.fillText(text, 0, 0);
  context.restore();
}

// As many ticks as there is room for.
function drawAxes(context, plot) {
  const { x, y } = plot.grid;
  const { scale } = plot;
  const box = plot.box || PLOT;
  context.fillStyle = themeColor('faint');
  context.textAlign = 'center';
  for (const value of ticksOf(x, scale.x, scale.xEnd, box.width / 75)) {
    context.fillText(unitText(x.unit, value), scale.left(axisPosition(x, value)), box.height - box.bottom + 16);
  }
  context.fillText(x.label, (box.left + box.width) / 2, box.height - 6);
  context.textAlign = 'right';
  for (const value of ticksOf(y, scale.y, scale.yEnd, box.height / 28)) {
    context.fillText(unitText(y.unit, value), box.left - 4, scale.bottom(axisPosition(y, value)) + 4);
  }
  fillTextUpwards(context, y.label, 12, (box.top + box.height - box.bottom) / 2);
}

// Logarithmic, so that rare blocks are seen beside frequent ones.
function cellWeight(value, greatest) {
  return value > 0 ? 0.15 + 0.85 * Math.log1p(value) / Math.log1p(greatest) : 0;
}

function drawGrid(plot) {
  const { scale } = plot;
  const context = prepareCanvas(plot.canvas, PLOT.width, PLOT.height);
  const column = 2 + data.quantities.findIndex((quantity) => quantity.key === plot.quantity);
  const greatest = plot.grid.cells.reduce((most, cell) => Math.max(most, cell[column]), 0);
  const colors = ['panel', 'plot'].map((name) => colorParts(themeColor(name)));
  drawAxes(context, plot);
  for (const cell of plot.grid.cells) {
    const weight = cellWeight(cell[column], greatest);
    context.fillStyle = `rgb(${mixColors(colors, [1 - weight, weight]).join()})`;
    context.fillRect(scale.left(cell[0]), scale.bottom(cell[1] + 1), scale.width - 0.5, scale.height - 0.5);
  }
  context.strokeStyle = themeColor('mark');
  context.lineWidth = 2;
  context.strokeRect(scale.left(plot.cursor.x), scale.bottom(plot.cursor.y + 1), scale.width, scale.height);
}

function tellGrid(plot) {
  const { x, y } = plot.cursor;
  const cell = plot.grid.cells.find((c) => c[0] === x && c[1] === y);
  const numbers = data.quantities.map((quantity, q) => ({ quantity, value: cell ? cell[q + 2] : 0 }))
    .filter((number) => isKnown(number.quantity))
    .map((number) => `${number.quantity.name} ${quantityText(number.quantity.key, number.value)}`);
  plot.output.textContent = `${plot.grid.x.label} ${rangeText(plot.grid.x, x)}, ${plot.grid.y.label} `
    + `${rangeText(plot.grid.y, y)}: ${numbers.join(', ')}`;
}

function pointGridAt(plot, x, y) {
  const { scale } = plot;
  plot.cursor = {
    x: Math.max(scale.x, Math.min(x, scale.xEnd - 1)), y: Math.max(scale.y, Math.min(y, scale.yEnd - 1)),
  };
  drawGrid(plot);
  tellGrid(plot);
}

function onGridKey(plot, event) {
  const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
  const move = moves[event.key];
  if (move) {
    pointGridAt(plot, plot.cursor.x + move[0], plot.cursor.y + move[1]);
    event.preventDefault();
  }
}

function onGridHover(plot, event) {
  const place = plot.canvas.getBoundingClientRect();
  const { scale } = plot;
  const x = (event.clientX - place.left) * PLOT.width / place.width;
  const y = (event.clientY - place.top) * PLOT.height / place.height;
  pointGridAt(plot, scale.x + Math.floor((x - PLOT.left) / scale.width),
    scale.y + Math.floor((PLOT.height - PLOT.bottom - y) / scale.height));
}

function makeFigure(title, caption) {
  const canvas = make('canvas', { tabIndex: 0 });
  const output = make('output', {});
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', `${title}: arrows move`);
  const figure = make('figure', {}, make('figcaption', {}, title), make('p', { className: 'caption' }, caption), canvas, output);
  return { figure, canvas, output };
}

function startGrid(name, title, caption) {
  const grid = data.plots[name];
  if (!grid || grid.cells.length === 0) {
    return [];
  }
  const plot = Object.assign(makeFigure(title, caption), { grid, scale: makeScale(grid.cells) });
  byId('plots-list').append(plot.figure);
  const [x, y] = grid.cells[0];
  plot.cursor = { x, y };
  plot.canvas.id = `plot-${name}`;
  plot.canvas.addEventListener('keydown', (event) => onGridKey(plot, event));
  plot.canvas.addEventListener('mousemove', (event) => onGridHover(plot, event));
  plot.draw = () => drawGrid(plot);
  return [plot];
}

function startPlots() {
  const single = data.tallied;
  const darker = 'more is darker, in dark colours brighter.';
  return [
    ...startGrid('lifetime-size', 'Lifetime against size',
      `${single ? 'Blocks' : 'Contexts by their averages'}; the filter does not apply; ${darker}`),
    ...startGrid('lifetime-time', 'Lifetime against time of allocation', `Blocks; the filter does not apply; ${darker}`),
  ];
}

// -------------------------------------------------- heap over time --------------------------------------------------

// The heap over time, stacked by the functions that own it: the largest ones and all others. The peak is marked, and leads to
// who held it.

const HISTORY = { height: 250, left: 80, right: 28, top: 22, bottom: 36 };

// As the moments may miss the peak, it becomes one of them. Small contexts have no moments, so they count for all others there, too.
function addPeakMoment(plot) {
  const { times, layers, peak } = plot;
  const at = times.findIndex((time) => time >= peak);
  const sums = groupSums({ shown: contexts.type.map((unused, context) => context), quantity: 'peak' }).peak;
  const named = (layer) => (layer.peak || 0) / Math.max(data.runs, 1);
  const others = sums.reduce((a, b) => a + b, 0) / Math.max(data.runs, 1) - layers.reduce((sum, layer) => sum + named(layer), 0);
  times.splice(at, 0, peak);
  layers.forEach((layer) => layer.bytes.splice(at, 0, layer.function === null ? Math.max(others, 0) : named(layer)));
}

// All that is drawn, times in nanoseconds; null: this profile has none of it.
function readHistory() {
  const { owners, peak_ns: peak } = data.plots;
  if (!owners) {
    return null;
  }
  const layers = owners.map((owner) => ({ function: owner.function, peak: owner.peak, bytes: Array.from(decodeTable(owner, ['bytes']).bytes) }));
  const duration = data.duration_ns / Math.max(data.runs, 1);
  const step = duration / (layers[0].bytes.length - 1);
  const plot = { layers, duration, times: layers[0].bytes.map((unused, at) => at * step), peak, peakBytes: data.peak_bytes };
  if (hasPeak && peak !== undefined) {
    addPeakMoment(plot);
  }
  const totals = plot.times.map((unused, at) => layers.reduce((sum, layer) => sum + layer.bytes[at], 0));
  const most = totals.reduce((a, b) => Math.max(a, b));
  return Object.assign(plot, { totals, most: Math.max(1, most), cursor: totals.indexOf(most) });
}

function layerColor(plot, i) {
  return plot.layers[i].function !== null ? hueParts(i, plot.layers.length) : colorParts(themeColor('notcold'));
}

function layerName(layer) {
  return layer.function === null ? 'all others' : data.functions.name[layer.function];
}

function historyScale(plot) {
  const across = (plot.box.width - HISTORY.left - HISTORY.right) / plot.duration;
  const up = (HISTORY.height - HISTORY.top - HISTORY.bottom) / plot.most;
  return {
    x: 0, xEnd: plot.duration, y: 0, yEnd: plot.most,
    left: (ns) => HISTORY.left + ns * across, bottom: (bytes) => HISTORY.height - HISTORY.bottom - bytes * up,
  };
}

// One upon the other, the largest lowest.
function drawLayers(context, plot) {
  const { scale, layers, times } = plot;
  const below = new Float64Array(times.length);
  layers.forEach((layer, i) => {
    context.fillStyle = `rgb(${layerColor(plot, i).join()})`;
    context.beginPath();
    below.forEach((bytes, at) => context.lineTo(scale.left(times[at]), scale.bottom(bytes)));
    for (let at = times.length - 1; at >= 0; at--) {
      below[at] += layer.bytes[at];
      context.lineTo(scale.left(times[at]), scale.bottom(below[at]));
    }
    context.fill();
  });
}

function drawHistory(plot) {
  plot.box.width = Math.max(300, plot.figure.clientWidth);
  plot.scale = historyScale(plot);
  const context = prepareCanvas(plot.canvas, plot.box.width, HISTORY.height);
  const height = HISTORY.height - HISTORY.top - HISTORY.bottom;
  drawAxes(context, plot);
  drawLayers(context, plot);
  context.fillStyle = themeColor('text');
  context.fillRect(plot.scale.left(plot.times[plot.cursor]), HISTORY.top, 1, height);
  if (plot.peak !== undefined) {
    const x = plot.scale.left(plot.peak);
    context.fillStyle = themeColor('mark');
    context.fillRect(x - 1, HISTORY.top, 2, height);
    context.textAlign = plot.peak > plot.duration / 2 ? 'right' : 'left';
    context.fillText(`peak ${bytesText(plot.peakBytes)}`, x, HISTORY.top - 6);
  }
}

function pointHistoryAt(plot, moment) {
  const at = Math.max(0, Math.min(moment, plot.times.length - 1));
  const names = plot.layers.filter((layer) => layer.bytes[at] > 0).sort((a, b) => b.bytes[at] - a.bytes[at])
    .slice(0, 5).map((layer) => `${layerName(layer)} ${bytesText(layer.bytes[at])}`);
  plot.cursor = at;
  drawHistory(plot);
  plot.output.textContent = `at ${timeText(plot.times[at])}: ${bytesText(plot.totals[at])}; `
    + names.concat(plot.peak === undefined ? [] : [`at most ${bytesText(plot.peakBytes)}, at ${timeText(plot.peak)}`]).join(', ');
}

function onHistoryKey(plot, event) {
  const moves = { ArrowLeft: plot.cursor - 1, ArrowRight: plot.cursor + 1, Home: 0, End: plot.times.length - 1 };
  if (event.key in moves) {
    pointHistoryAt(plot, moves[event.key]);
    event.preventDefault();
  } else if (event.key === 'Enter') {
    showPeak();
  }
}

function isAtPeak(plot, event) {
  return plot.peak !== undefined && Math.abs(event.offsetX - plot.scale.left(plot.peak)) < 10;
}

function onHistoryHover(plot, event) {
  const time = (event.offsetX - HISTORY.left) / (plot.box.width - HISTORY.left - HISTORY.right) * plot.duration;
  const after = plot.times.findIndex((later) => later >= time);
  plot.canvas.style.cursor = isAtPeak(plot, event) ? 'pointer' : '';
  pointHistoryAt(plot, after < 0 ? plot.times.length - 1 : after);
}

// The holders of the bytes at the peak.
function showPeak() {
  if (hasPeak) {
    byId('quantity').value = 'peak';
    openTab('flame');
    update();
  }
}

// The figure is made once; its colours are those of the theme.
function startHistory() {
  const plot = readHistory();
  if (!plot) {
    return null;
  }
  const bytes = { label: 'bytes live', unit: 'bytes', step: 1 };
  const legend = make('div', {});
  Object.assign(plot, makeFigure('Heap over time', `Live bytes by the functions that own them; small contexts count for all others${data.runs > 1 ? ', the average of the runs' : ''}; filters do not apply.`),
    { box: Object.assign({ width: 600 }, HISTORY), grid: { x: { label: 'time', unit: 'ns', step: 1 }, y: bytes } });
  plot.canvas.id = 'plot-heap';
  if (plot.peak !== undefined && hasPeak) {
    plot.figure.append(make('button', { type: 'button', id: 'show-peak', onclick: showPeak }, `Who held the peak of ${bytesText(plot.peakBytes)}?`));
  }
  plot.figure.append(legend);
  plot.canvas.addEventListener('keydown', (event) => onHistoryKey(plot, event));
  plot.canvas.addEventListener('mousemove', (event) => onHistoryHover(plot, event));
  plot.canvas.addEventListener('click', (event) => isAtPeak(plot, event) && showPeak());
  new ResizeObserver(() => plot.figure.clientWidth > 0 && plot.figure.clientWidth !== plot.box.width && drawHistory(plot)).observe(plot.figure);
  plot.draw = () => {
    legend.replaceChildren(legendOf(plot.layers.map((layer, i) => [layerColor(plot, i),
      layer.function === null ? layerName(layer) : groupButton(grouping.groups[layer.function])])));
    pointHistoryAt(plot, plot.cursor);
  };
  return plot;
}
