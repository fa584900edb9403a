// Contexts by the average size of their blocks: a line for each power of two.

function sizeClass(context) {
  return Math.floor(Math.log2(Math.max(1, contexts.bytes[context] / Math.max(1, contexts.allocs[context]))));
}

function sumBySize() {
  const sums = new Map();
  const { owners } = callsOfData();
  const values = contexts[selectionNow.quantity];
  for (const context of selectionNow.shown) {
    const size = sizeClass(context);
    const sum = sums.get(size) || { value: 0, allocs: 0, byOwner: new Map() };
    sum.value += values[context];
    sum.allocs += contexts.allocs[context];
    addTo(sum.byOwner, owners[context], values[context]);
    sums.set(size, sum);
  }
  return Array.from(sums).sort((a, b) => a[0] - b[0]);
}

function drawSizes() {
  const { quantity, sum: whole } = selectionNow;
  const sums = sumBySize();
  const most = sums.reduce((a, b) => Math.max(a, b[1].value), 1);
  const rows = sums.map(([size, sum]) => {
    const [largest] = sortedSums(sum.byOwner);
    return [`${bytesText(2 ** size)} to ${bytesText(2 ** (size + 1))}`, quantityText(quantity, sum.value), shareText(sum.value, whole),
      countText(sum.allocs), largest ? groupButton(largest[0]) : ''];
  });
  const table = makeTable(['average size', quantityName(quantity), '%', 'allocs', 'most by'], rows);
  table.className = 'wide';
  table.querySelectorAll('tbody tr').forEach((row, i) => {
    row.children[1].classList.add('bar');
    row.children[1].style.setProperty('--share', `${(100 * sums[i][1].value / most).toFixed(1)}%`);
    row.children[4].className = '';
  });
  byId('sizes').replaceChildren(make('p', { className: 'caption' }, 'Contexts by the average size of their blocks.'), table);
}
