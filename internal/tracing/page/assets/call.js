'use strict';

// callView returns the view of an open call.
function callView(call, go) {
  const turn = sides[call.side].turns[call.turn];
  const step = (words, steps, key) => make('button', { type: 'button', onclick: () => go(steps), title: key }, words);
  return make('section', { id: 'call', 'data-call': call.name, 'aria-labelledby': 'call-title' },
    make('div', { class: 'call-head' },
      make('h2', { id: 'call-title', tabindex: '-1' }, 'Call ' + call.call,
        make('small', null, compares ? `side ${sides[call.side].name}, ` : null, `turn ${turn.turn}, `, foreign(call.model || 'model not named'),
          call.fork ? [', fork ', foreign(call.fork)] : null, ', ', clock(call.time), ' UTC')),
      make('nav', { 'aria-label': 'Calls' },
        step('Back', 0, 'Escape'), step('Previous', -1, 'k'), step('Next', 1, 'j'),
        make('button', { type: 'button', id: 'export', onclick: () => download(call) }, 'Export JSON'))),
    make('p', { class: 'turn-prompt' }, make('span', { class: 'dim' }, foreign(call.name)), foreign(turn.prompt.slice(0, 300))),
    partsSection(call), textsSection(call), requestSection(call), answerSection(call));
}

// partsSection shows the size of the request by its parts.
function partsSection(call) {
  const total = sum(call);
  const answer = call.answer;
  const cell = (label, value, note) => make('div', { class: 'figure' }, make('dt', null, label), make('dd', null, value, note ? make('small', null, note) : null));
  return make('section', { class: 'sizes', 'aria-label': 'Size' }, bar(call),
    make('dl', { class: 'part-sizes' }, partNames.map((name) => make('div', null,
      make('dt', null, make('span', { class: 'swatch', 'data-colour': name, 'aria-hidden': 'true' }), name),
      make('dd', null, count(call.parts[name]), make('small', null, total ? percent(call.parts[name] / total) : ''))))),
    answer ? make('dl', { class: 'provider' },
      cell('prompt', count(answer.prompt_tokens), 'by the provider'),
      cell('cached', count(answer.cached_tokens), answer.prompt_tokens ? percent(answer.cached_tokens / answer.prompt_tokens) : ''),
      cell('written', count(Math.max(0, answer.prompt_tokens - answer.cached_tokens))),
      cell('answer', count(answer.completion_tokens)),
      cell('time', duration(answer.ms))) : null);
}

// The endings of a text that follow soon stand out.
const leavesSoon = ['turn', 'next call'];

// textsSection says why each text of a skill is in the request and what takes it out.
function textsSection(call) {
  if (!call.texts.length) return null;
  const leaves = {
    turn: 'leaves when the turn ends', 'next call': 'leaves at the next call', 'when it pays': 'leaves when that pays',
    unload: 'leaves when it is unloaded', never: 'stays',
  };
  return make('section', { 'aria-label': 'Skill texts' },
    make('h3', null, 'Texts of skills ', make('small', null, 'why they are here, and what leaves next')),
    make('ul', { class: 'skill-texts' }, call.texts.map((text) => make('li', {
      'data-skill-text': text.skill, 'data-loaded-by': text.loaded_by, 'data-leaves': text.leaves, 'data-doc': text.doc || null,
    },
    foreign(titleOf(text), 'strong'), make('span', null, loadedBy(call, text)), make('span', null, `message ${text.message}`),
    make('span', null, plural(text.tokens, 'token')), make('span', null, 'mode ', foreign(text.mode)),
    make('span', { class: leavesSoon.includes(text.leaves) ? 'badge soon' : null }, wordsFor(leaves, text.leaves) ?? foreign(text.leaves))))));
}

// titleOf names a text: a skill, or a doc of it.
function titleOf(text) {
  return text.doc ? `${text.skill}: ${text.doc}` : text.skill;
}

// loadedBy links the call that loaded a text.
function loadedBy(call, text) {
  const agent = call.name.slice(0, call.name.lastIndexOf('/') + 1);
  const loading = text.loaded_by ? callNamed(agent + text.loaded_by, call.side) : undefined;
  if (!loading) return text.loaded_by ? `loaded by call ${text.loaded_by}` : 'loaded before this trace';
  return ['loaded by ', make('a', { href: address(loading) }, 'call ' + text.loaded_by)];
}
