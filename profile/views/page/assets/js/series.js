// What only a trace has: bytes that are live by time, and what threads did.

const BYTE_BINS = 1000; // of the vertical axis

function makeLiveScale(live) {
  const width = (PLOT.width - PLOT.left - PLOT.right) / live.count;
  const height = (PLOT.height - PLOT.top - PLOT.bottom) / BYTE_BINS;
  return {
    x: 0, xEnd: live.count, y: 0, yEnd: BYTE_BINS, width, height,
    left: (bin) => PLOT.left + bin * width,
    bottom: (bin) => PLOT.height - PLOT.bottom - bin * height,
  };
}

function drawLive(plot) {
  const { live, scale } = plot;
  const context = prepareCanvas(plot.canvas, PLOT.width, PLOT.height);
  const base = scale.bottom(0);
  drawAxes(context, plot);
  context.fillStyle = themeColor('plot');
  context.beginPath();
  context.moveTo(scale.left(0), base);
  live.bytes.forEach((bytes, bin) => {
    const top = scale.bottom(axisPosition(plot.grid.y, bytes));
    context.lineTo(scale.left(bin), top);
    context.lineTo(scale.left(bin + 1), top);
  });
  context.lineTo(scale.left(live.count), base);
  context.fill();
  context.fillStyle = themeColor('mark');
  context.fillRect(scale.left(plot.cursor), PLOT.top, 1.5, base - PLOT.top);
}

function pointLiveAt(plot, bin) {
  const { live } = plot;
  plot.cursor = Math.max(0, Math.min(bin, live.count - 1));
  drawLive(plot);
  plot.output.textContent = `at ${timeText(plot.cursor * live.step_ns)}: ${bytesText(live.bytes[plot.cursor])}; `
    + `at most ${bytesText(live.peak_bytes)}, at ${timeText(live.peak_ns)}`;
}

function onLiveKey(plot, event) {
  const moves = { ArrowLeft: plot.cursor - 1, ArrowRight: plot.cursor + 1, Home: 0, End: plot.live.count - 1 };
  if (event.key in moves) {
    pointLiveAt(plot, moves[event.key]);
    event.preventDefault();
  }
}

function onLiveHover(plot, event) {
  const place = plot.canvas.getBoundingClientRect();
  pointLiveAt(plot, Math.floor(((event.clientX - place.left) * PLOT.width / place.width - PLOT.left) / plot.scale.width));
}

function startLive() {
  if (!data.plots.live) {
    return [];
  }
  const live = decodeTable(data.plots.live, ['bytes']);
  const plot = Object.assign(makeFigure('Bytes live by time', 'The greatest value of each interval; the filter does not apply.'), {
    live, scale: makeLiveScale(live), cursor: Math.floor(live.peak_ns / live.step_ns),
    grid: {
      x: { label: 'time', unit: 'ns', step: live.step_ns },
      y: { label: 'bytes live', unit: 'bytes', step: Math.max(live.peak_bytes, 1) / BYTE_BINS },
    },
  });
  plot.canvas.id = 'plot-live';
  plot.canvas.addEventListener('keydown', (event) => onLiveKey(plot, event));
  plot.canvas.addEventListener('mousemove', (event) => onLiveHover(plot, event));
  plot.draw = () => drawLive(plot);
  return [plot];
}

function startThreads() {
  if (data.plots.threads) {
    const heads = ['thread', 'allocs', 'bytes', 'frees', 'frees of other threads\u2019 blocks', 'live at the end', 'peak'];
    const rows = data.plots.threads.map((t) => [`thread ${t.thread}`, countText(t.allocs), bytesText(t.bytes), countText(t.frees),
      countText(t.frees_of_others), bytesText(t.live_bytes), bytesText(t.peak_bytes)]);
    byId('plots').append(make('h3', {}, 'Threads'), makeTable(heads, rows));
  }
  return [];
}
