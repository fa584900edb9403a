// What `hearth advise` finds, as it prints it. Filters do not apply.

// Its details are those of the context of most bytes there.
function findingPlace(finding) {
  return finding.context === undefined ? finding.place
    : make('button', { type: 'button', className: 'link', onclick: () => choose({ context: finding.context }) }, finding.place);
}

function findingElement(finding, number) {
  const saves = `${perCent(finding.share)} of ${finding.saves === 'allocations' ? 'all allocations' : 'all memory, over time'}`;
  return make('article', {},
    make('h3', {}, `${number}. ${finding.title}: may save ${saves}`),
    make('p', {}, findingPlace(finding)),
    make('p', {}, finding.evidence), ...(finding.fields ? [make('p', {}, finding.fields)] : []),
    make('p', {}, `Remedy: ${finding.remedy}.`));
}

function drawAdvice() {
  const { findings, not_looked_for: missing } = data.advice;
  const parts = [make('p', { className: 'caption' }, findings.length === 0 ? 'Nothing was found that is worth a change.'
    : `${countText(findings.length)} ${findings.length === 1 ? 'place' : 'places'} where a change may save allocations or memory, most first. Filters do not apply.`)];
  if (missing.length > 0) {
    parts.push(make('p', { className: 'caption' }, `Not looked for, as the profile has no data for it: ${missing.join(', ')}.`));
  }
  byId('advice').replaceChildren(...parts, ...findings.map((finding, i) => findingElement(finding, i + 1)));
}
