// @ts-check
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
