'use strict';

// The most entries of a kind that are shown at once.
const mostEntries = 300;

// The kinds of entries, with their headings.
const whyKinds = {
  break: 'Prefix breaks: tokens that were paid again', denied: 'Denied calls',
  cut: 'Skills without a place in the overview', not_found: 'Skills that were not found',
};

// whyPanel explains what cost money or failed, with the setting that changes it.
function whyPanel() {
  return make('div', { id: 'why', class: compares ? 'two' : null }, sides.map((side) => {
    const found = entries(side);
    const groups = Object.entries(whyKinds).filter(([kind]) => found[kind].length);
    return make('div', { 'data-side': compares ? side.name : null },
      compares ? make('h2', null, 'Side ' + side.name) : null,
      groups.map(([kind, heading]) => group(kind, heading, found[kind])),
      groups.length ? null : make('p', { class: 'dim' }, 'No prefix broke, no call was denied, and every skill was found and listed.'));
  }));
}

// entries returns what there is to explain on a side, by kind.
function entries(side) {
  const found = { break: [], denied: [], cut: [], not_found: [] };
  const add = (turn, call) => {
    for (const event of (call ?? turn).events ?? []) {
      const isWhy = { break: true, decision: event.decision === 'denied', offered: event.cut > 0, not_found: true }[event.event];
      if (isWhy) found[{ decision: 'denied', offered: 'cut' }[event.event] ?? event.event].push({ turn, call, event });
    }
  };
  side.turns.forEach((turn) => add(turn));
  side.calls.forEach((call) => add(side.turns[call.turn], call));
  return found;
}

function group(kind, heading, all) {
  const list = make('ul', { class: 'reasons' });
  const sentence = { break: ofBreak, denied: ofDenial, cut: ofCut, not_found: ofNotFound }[kind];
  const button = make('button', { type: 'button', class: 'all', onclick: () => more() });
  const more = () => {
    const from = list.children.length;
    list.append(...all.slice(from, from + mostEntries).map(({ turn, call, event }) => make('li', { 'data-why': kind, 'data-skill': event.skill ?? null },
      call ? make('a', { href: address(call), class: 'where' }, `turn ${turn.turn}, call ${call.call}`) : make('span', { class: 'where' }, `turn ${turn.turn}`),
      make('p', null, sentence(event)))));
    const left = all.length - list.children.length;
    button.textContent = `Show more (${count(left)} left)`;
    hide(button, left === 0);
  };
  more();
  return make('section', null, make('h3', null, heading, ' ', make('small', null, count(all.length))), list, button);
}
