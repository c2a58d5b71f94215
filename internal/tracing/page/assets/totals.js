'use strict';

// The totals that a page shows, by their names in `satchel trace --json`.
const totalNames = {
  calls: 'calls', turns: 'turns', sessions: 'sessions', prompt_tokens: 'prompt tokens', cached_tokens: 'cached tokens',
  completion_tokens: 'answer tokens', estimated_tokens: 'estimated tokens', breaks: 'prefix breaks',
};

// totals shows the totals of a side.
function totals(side, other) {
  const note = (name) => (name === 'cached_tokens' && side.totals.prompt_tokens
    ? make('small', null, percent(side.totals.cached_tokens / side.totals.prompt_tokens)) : null);
  return make('dl', { class: 'totals', 'data-side': compares ? side.name : null, 'aria-label': compares ? 'Side ' + side.name : 'Totals' },
    compares ? make('div', { class: 'side-name' }, make('dt', null, side.name), make('dd', null, foreign(side.title))) : null,
    Object.entries(totalNames).map(([name, label]) => make('div', {
      class: 'figure', 'data-total': name, 'data-value': side.totals[name],
      'data-differs': other ? String(side.totals[name] !== other.totals[name]) : null,
    }, make('dt', null, label), make('dd', null, count(side.totals[name]), note(name)))));
}

// gaps says what the trace lacks, or returns null.
function gaps(side) {
  const found = [];
  if (side.totals.cut) found.push(plural(side.totals.cut, 'line') + ' of the trace could not be read.');
  if (side.totals.dropped) found.push(plural(side.totals.dropped, 'line') + ' could not be written when it was recorded.');
  if (['digests', 'none'].includes(side.texts)) found.push('Texts were not kept.');
  return found.length ? make('p', { class: 'note', role: 'note' }, compares ? side.name + ': ' : null, found.join(' ')) : null;
}
