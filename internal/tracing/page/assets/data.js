'use strict';

// data is what the page shows, in the form of data.go. A page has one side, or the two that it
// compares.
const data = JSON.parse(document.getElementById('data').textContent);
const sides = data.sides;
const compares = sides.length > 1;

// The parts of a request, in the order in which they are sent and drawn.
const partNames = ['tools', 'system', 'overview', 'history', 'skills', 'docs'];

// sum returns the tokens of all parts of a call.
function sum(call) {
  return partNames.reduce((total, name) => total + call.parts[name], 0);
}

// longest is the size of the longest request of the page, which bars are drawn to.
const longest = sides.reduce((most, side) => side.calls.reduce((m, c) => Math.max(m, sum(c)), most), 1);

// Calls know where they stand.
sides.forEach((side, s) => {
  Object.assign(side, { totals: side.summary, skills: side.summary.skills });
  side.index = new Map(side.calls.map((call, i) => [call.name, i]));
  side.calls.forEach((call, i) => Object.assign(call, { side: s, at: i }));
});

// request returns the messages of a call, as indexes into the messages of its side. It walks back
// through the calls that the request continues.
function request(call) {
  const side = sides[call.side];
  const found = new Array(call.keep + call.add.length);
  let upTo = found.length;
  for (let c = call; c && upTo > 0; c = side.calls[c.before]) {
    for (let i = c.keep; i < upTo; i++) found[i] = c.add[i - c.keep];
    upTo = Math.min(upTo, c.keep);
  }
  return found;
}

// callNamed returns the call with a name on a side, or undefined.
function callNamed(name, s = 0) {
  const side = sides[s];
  return side && side.calls[side.index.get(name)];
}

// sideOf returns the first side that has a call with a name.
const sideOf = (name) => Math.max(0, sides.findIndex((side) => side.index.has(name)));

// address returns the permalink of a call. It names the side if an earlier one has a call of that name.
function address(call) {
  return '#call=' + encodeURIComponent(call.name) + (call.side === sideOf(call.name) ? '' : '&side=' + sides[call.side].name);
}

// addressed returns the call that a permalink names, or undefined.
function addressed(hash) {
  const found = /^#call=([^&]*)(?:&side=(.*))?$/.exec(hash);
  if (!found) return undefined;
  try {
    const name = decodeURIComponent(found[1]);
    return callNamed(name, found[2] ? sides.findIndex((side) => side.name === found[2]) : sideOf(name));
  } catch {
    return undefined; // a broken escape
  }
}
