// Live bytes by time, stacked by the functions that own them: of the largest ones and all others.

function ownerColor(plot, i) {
  const [lightness, saturation] = window.matchMedia('(prefers-color-scheme: dark)').matches ? [45, 40] : [65, 50];
  return plot.owners[i].function === null ? themeColor('notcold')
    : `hsl(${Math.round(360 * i / plot.owners.length)}, ${saturation}%, ${lightness}%)`;
}

function ownerName(owner) {
  return owner.function === null ? 'all others' : data.functions.name[owner.function];
}

// One area upon the other, the largest lowest.
function drawOwners(plot) {
  const { scale, owners, count } = plot;
  const context = prepareCanvas(plot.canvas, PLOT.width, PLOT.height);
  const below = new Float64Array(count);
  const yOf = (bytes) => scale.bottom(axisPosition(plot.grid.y, bytes));
  drawAxes(context, plot);
  owners.forEach((owner, i) => {
    context.fillStyle = ownerColor(plot, i);
    context.beginPath();
    below.forEach((bytes, at) => context.lineTo(scale.left(at), yOf(bytes)));
    for (let at = count - 1; at >= 0; at--) {
      below[at] += owner.bytes[at];
      context.lineTo(scale.left(at), yOf(below[at]));
    }
    context.fill();
  });
  context.fillStyle = themeColor('mark');
  context.fillRect(scale.left(plot.cursor), PLOT.top, 1.5, scale.bottom(0) - PLOT.top);
}

function pointOwnersAt(plot, moment) {
  plot.cursor = Math.max(0, Math.min(moment, plot.count - 1));
  drawOwners(plot);
  const now = plot.owners.map((owner) => [owner, owner.bytes[plot.cursor]]).filter((entry) => entry[1] > 0).sort((a, b) => b[1] - a[1]);
  const whole = now.reduce((sum, entry) => sum + entry[1], 0);
  plot.output.textContent = `at ${timeText(plot.cursor * plot.step)}: ${bytesText(whole)}; `
    + now.slice(0, 5).map(([owner, bytes]) => `${ownerName(owner)} ${bytesText(bytes)}`).join(', ');
}

function ownerLegend(plot) {
  return make('ul', { className: 'legend' }, ...plot.owners.map((owner, i) => {
    const swatch = make('span', { className: 'swatch' });
    swatch.style.background = ownerColor(plot, i);
    const name = ownerName(owner);
    return make('li', {}, swatch, owner.function === null ? name : make('button', {
      type: 'button', className: 'link', onclick: () => { openTab('functions'); choose({ group: grouping.groups[owner.function] }); },
    }, name));
  }));
}

function startOwners() {
  if (!data.plots.owners) {
    return [];
  }
  const owners = data.plots.owners.map((owner) => decodeTable(owner, ['bytes']));
  const [{ count }] = owners;
  const totals = Array.from({ length: count }, (unused, at) => owners.reduce((sum, owner) => sum + owner.bytes[at], 0));
  const step = data.duration_ns / (count - 1);
  const most = totals.reduce((a, b) => Math.max(a, b), 1);
  const plot = Object.assign(makeFigure('Bytes live by time and function', `At ${count} moments, by the functions that own them; the filter does not apply.`), {
    owners, count, step, cursor: totals.indexOf(most),
    scale: makeLiveScale({ count: count - 1 }),
    grid: { x: { label: 'time', unit: 'ns', step }, y: { label: 'bytes live', unit: 'bytes', step: most / BYTE_BINS } },
  });
  const legend = make('div', {});
  plot.output.after(legend);
  plot.canvas.id = 'plot-owners';
  plot.canvas.addEventListener('keydown', (event) => onOwnersKey(plot, event));
  plot.canvas.addEventListener('mousemove', (event) => {
    const place = plot.canvas.getBoundingClientRect();
    pointOwnersAt(plot, Math.round(((event.clientX - place.left) * PLOT.width / place.width - PLOT.left) / plot.scale.width));
  });
  plot.draw = () => {
    legend.replaceChildren(ownerLegend(plot)); // its colours are those of the theme
    pointOwnersAt(plot, plot.cursor);
  };
  return [plot];
}

function onOwnersKey(plot, event) {
  const moves = { ArrowLeft: plot.cursor - 1, ArrowRight: plot.cursor + 1, Home: 0, End: plot.count - 1 };
  if (event.key in moves) {
    pointOwnersAt(plot, moves[event.key]);
    event.preventDefault();
  }
}
