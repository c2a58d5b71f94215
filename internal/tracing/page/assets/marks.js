'use strict';

// The signs of marks stand before their words, so that colour is not needed to tell them apart.
const signs = { loaded: '+', unloaded: '−', run: '▸', denied: '✕', break: '⚡' };

// marksOf returns what happened at a call, or in a turn without one, and is shown in the timeline. What is wrong
// comes first.
function marksOf(call) {
  if (call.marks) return call.marks;
  const order = ['break', 'denied', 'loaded', 'unloaded', 'run'];
  const kindOf = (e) => (e.event === 'decision' && e.decision === 'denied' ? 'denied' : e.event);
  call.marks = (call.events ?? [])
    .map((e) => ({ kind: kindOf(e), event: e }))
    .filter((m) => order.includes(m.kind))
    .sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
  return call.marks;
}

// markText returns the words of a mark.
function markText({ kind, event }) {
  switch (kind) {
    case 'break':
      return ['break ', plural(event.lost_tokens, 'token')];
    case 'denied':
      return ['denied ', foreign(event.name)];
    case 'loaded':
      return [foreign(event.skill), event.by && event.by !== 'model' ? [' by ', foreign(event.by)] : null];
    case 'run':
      return ['run ', foreign(event.skill), event.timed_out ? ' timed out' : event.exit_code ? ' exit ' + event.exit_code : null];
    default:
      return [foreign(event.skill), ' (', foreign(event.why), ')'];
  }
}

// mark returns the element of a mark.
function mark(m) {
  return make('span', { class: 'mark', 'data-mark': m.kind, 'data-skill': m.event.skill ?? '' },
    make('span', { class: 'sign', title: m.kind }, signs[m.kind]), make('span', { class: 'words' }, markText(m)));
}
