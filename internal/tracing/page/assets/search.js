'use strict';

// Typing waits this many milliseconds before a search over many texts.
const typingPause = 120;

// Search leaves the calls whose new messages or answer hold a text.
class Search {
  constructor(timeline, onSearch) {
    Object.assign(this, { timeline, onSearch });
    this.input = document.getElementById('search');
    this.hits = document.getElementById('hits');
    this.searched = '';
    const pause = sides.some((side) => side.calls.length > 1000) ? typingPause : 0;
    this.input.addEventListener('input', () => {
      clearTimeout(this.timer);
      if (pause) this.timer = setTimeout(() => this.run(), pause);
      else this.run();
    });
  }

  // run searches for what stands in the input.
  run() {
    clearTimeout(this.timer);
    const text = this.input.value;
    if (text === this.searched) return;
    this.searched = text;
    if (!text) {
      this.hits.textContent = '';
      this.timeline.show();
      return;
    }
    const isHit = hitsOf(text);
    this.timeline.show(isHit);
    const all = sides.reduce((n, side) => n + side.calls.length, 0);
    this.hits.textContent = `${this.timeline.calls.length} of ${all} calls`;
    this.hits.dataset.value = this.timeline.calls.length;
    this.onSearch();
  }

  // first returns the first hit, or undefined.
  first() {
    this.run();
    return this.timeline.calls[0];
  }
}

// hitsOf returns a function that reports whether the new messages or the answer of a call hold a
// text. Upper and lower case are the same. Each message is searched once.
function hitsOf(text) {
  const expression = new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'iu');
  const isIn = (value) => expression.test(value ?? '');
  const inCalls = (calls) => (calls ?? []).some((t) => isIn(t.name) || isIn(t.arguments));
  const known = sides.map((side) => new Array(side.messages.length));
  const inMessage = (s, i) => {
    known[s][i] ??= isIn(sides[s].messages[i].content) || inCalls(sides[s].messages[i].tool_calls);
    return known[s][i];
  };
  const inAnswer = (a) => isIn(a?.text) || inCalls(a?.tool_calls);
  return (call) => call.add.some((i) => inMessage(call.side, i)) || inAnswer(call.answer) || (call.answer?.alternatives ?? []).some(inAnswer) || isIn(call.error);
}
