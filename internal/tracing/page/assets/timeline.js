'use strict';

const isNarrow = matchMedia('(max-width: 700px)');

// The most marks of a row whose height is fixed.
const mostMarks = () => (isNarrow.matches || compares ? 2 : 6);

// Timeline shows the calls of all sides and knows which one is selected.
class Timeline {
  constructor() {
    this.holder = make('ol', { id: 'timeline', 'aria-label': 'Calls', 'data-calls': sides[0].calls.length });
    this.list = new RowList(this.holder, (row) => this.row(row), rowHeight);
    this.holder.addEventListener('focusin', (event) => this.note(event.target.closest('[data-call]').call));
    this.empty = make('p', { class: 'dim' }, 'There is no call to show.');
    this.panel = [legend(), compares ? null : columnHeads(), this.holder, this.empty];
    this.selected = null;
  }

  // show shows the calls for which isShown returns true, or all.
  show(isShown) {
    const rows = rowsOf(isShown);
    this.calls = [];
    this.rowOf = new Map();
    rows.forEach((row, i) => {
      if (row.kind !== 'call') return;
      for (const call of row.cells) {
        if (!call) continue;
        this.rowOf.set(call, i);
        this.calls.push(call);
      }
    });
    if (!this.rowOf.has(this.selected)) this.selected = null;
    hide(this.empty, rows.length > 0);
    this.list.show(rows);
  }

  // after returns the call that stands some steps after another one, among those that are shown.
  // From no call it is the first one.
  after(call, steps) {
    const at = this.calls.indexOf(call);
    return at < 0 ? this.calls[0] : this.calls[at + steps];
  }

  // select selects a call and gives it the focus.
  select(call) {
    if (!call) return;
    this.list.reveal(this.rowOf.get(call));
    this.link(call).focus({ preventScroll: true });
    this.list.later();
  }

  // note makes a call that has got the focus the selected one. Tab comes back to it.
  note(call) {
    const before = this.link(this.selected ?? this.calls[0]);
    before?.setAttribute('tabindex', '-1');
    this.selected = call;
    this.link(call).setAttribute('tabindex', '0');
  }

  // link returns the element of a call, or undefined if it is not drawn.
  link(call) {
    const row = this.list.drawn.get(this.rowOf.get(call));
    return row && [...row.querySelectorAll('[data-call]')].find((l) => l.call === call);
  }

  row(row) {
    const draw = { session: sessionHead, turn: (turn) => [turnHead(turn), this.marks(turn)], call: (call) => this.call(call, row) }[row.kind];
    return make('li', { class: 'row ' + row.kind },
      row.cells.map((cell, s) => compares
        ? make('div', { class: 'cell', 'data-side': sides[s].name }, cell === null ? null : draw(cell))
        : draw(cell)));
  }

  call(call, row) {
    const first = this.selected ?? this.calls[0];
    const link = make('a', {
      class: 'call', href: address(call), tabindex: call === first ? '0' : '-1', 'aria-label': labelOf(call),
      ...callData(call), 'data-differs': compares ? String(differ(row.cells)) : null,
    }, numberOf(call), bar(call), figures(call), this.marks(call));
    link.call = call;
    return link;
  }

  marks(call) {
    const all = marksOf(call);
    if (!all.length && !call.fork) return null;
    const most = this.list.isWhole ? all.length : mostMarks();
    const shown = all.map(mark);
    shown.slice(most).forEach((m) => m.classList.add('beyond'));
    const fork = call.fork ? make('span', { class: 'mark fork' }, 'fork ', foreign(call.fork)) : null;
    return make('span', { class: 'marks' }, fork, shown, all.length > most ? make('span', { class: 'more' }, '+' + (all.length - most)) : null);
  }
}

// rowHeight returns the height of a row of a long list, in pixels.
function rowHeight(row) {
  if (row.kind === 'session') return 52;
  const marks = row.cells.some((call) => call && (call.fork || marksOf(call).length)) ? 28 : 0;
  if (row.kind === 'turn') return 52 + marks;
  return (isNarrow.matches || compares ? 66 : 44) + marks;
}

// callData returns the figures of a call as attributes.
function callData(call) {
  const answer = call.answer ?? {};
  return {
    'data-call': call.name,
    'data-turn': sides[call.side].turns[call.turn].turn,
    'data-prompt-tokens': answer.prompt_tokens ?? 0,
    'data-cached-tokens': answer.cached_tokens ?? 0,
    'data-completion-tokens': answer.completion_tokens ?? 0,
  };
}

function sessionHead(name) {
  return make('span', { class: 'session-name' }, 'Session ', foreign(name));
}

function turnHead(turn) {
  return make('span', { class: 'turn-head' },
    make('span', { class: 'turn-number' }, 'Turn ' + turn.turn),
    make('span', { class: 'prompt' }, foreign(turn.prompt.slice(0, 300))),
    make('time', null, clock(turn.time)));
}

// numberOf shows the number of a call within its agent. Those of forks are indented.
function numberOf(call) {
  return make('span', { class: 'number' }, call.fork ? '↳ ' : null, String(call.call));
}

function columnHeads() {
  return make('div', { class: 'column-heads', 'aria-hidden': 'true' },
    make('span', null, 'call'), make('span', null, 'request'),
    make('span', { class: 'figures' }, ['prompt', 'cached', 'answer', 'time'].map((h) => make('span', null, h))));
}

// figures shows what the provider counted.
function figures(call) {
  const answer = call.answer;
  if (!answer) return make('span', { class: 'figures failed' }, call.error ? 'error' : 'no answer');
  const cached = answer.prompt_tokens ? answer.cached_tokens / answer.prompt_tokens : 0;
  return make('span', { class: 'figures' },
    make('span', { title: 'prompt tokens' }, count(answer.prompt_tokens)),
    make('span', { title: 'served by a cache' }, percent(cached)),
    make('span', { title: 'tokens of the answer' }, count(answer.completion_tokens)),
    make('span', { title: 'time' }, duration(answer.ms)));
}

// labelOf says in words what a row shows.
function labelOf(call) {
  const answer = call.answer;
  const turn = sides[call.side].turns[call.turn].turn;
  const tokens = answer ? `${count(answer.prompt_tokens)} prompt tokens, ${count(answer.cached_tokens)} cached` : `${count(sum(call))} tokens, no answer`;
  const marks = marksOf(call).map((m) => [m.kind, m.event.skill].filter(Boolean).join(' ')).join(', ');
  return `Call ${call.call}${call.fork ? ' of fork ' + call.fork : ''}, turn ${turn}: ${tokens}${marks ? '; ' + marks : ''}`;
}

// differ reports whether the calls of a row differ in what they cost.
function differ([a, b]) {
  if (!a || !b) return true;
  const key = (call) => JSON.stringify([call.parts, call.answer?.prompt_tokens, call.answer?.cached_tokens, call.answer?.completion_tokens]);
  return key(a) !== key(b);
}
