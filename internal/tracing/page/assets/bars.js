'use strict';

// bar draws the request of a call: a piece for each part, to the scale of the longest request.
// Below it a line shows how much of it a cache served and how much was written.
function bar(call) {
  const total = sum(call);
  const scale = (tokens) => (tokens / longest) * 100 + '%';
  const pieces = partNames.map((name) => {
    const piece = make('span', { 'data-part': name, 'data-tokens': call.parts[name] });
    piece.style.width = scale(call.parts[name]);
    return piece;
  });
  return make('span', { class: 'bar', 'aria-hidden': 'true' }, make('span', { class: 'parts' }, pieces), cacheLine(call, total, scale));
}

// cacheLine draws the share of the prompt that a cache served, by the figures of the provider.
function cacheLine(call, total, scale) {
  const answer = call.answer;
  if (!answer || !answer.prompt_tokens) return null;
  const line = make('span', { class: 'cache' });
  const cached = Math.min(answer.cached_tokens, answer.prompt_tokens);
  for (const [kind, tokens] of [['cached', cached], ['written', answer.prompt_tokens - cached]]) {
    const piece = make('span', { 'data-cache': kind, 'data-tokens': tokens });
    piece.style.width = scale((tokens / answer.prompt_tokens) * total);
    line.append(piece);
  }
  return line;
}

// legend names the colours of bars.
function legend() {
  const item = (attribute, name, label) =>
    make('li', null, make('span', { class: 'swatch', [attribute]: name, 'aria-hidden': 'true' }), label);
  return make('ul', { class: 'legend', 'aria-label': 'Parts of a request' },
    partNames.map((name) => item('data-colour', name, name)),
    item('data-colour', 'cached', 'served by a cache'), item('data-colour', 'written', 'written'));
}
