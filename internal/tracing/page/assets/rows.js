'use strict';

// rowsOf returns the rows of the timeline: {kind, cells}, where kind is session, turn or call and
// there is a cell for each side. A cell is null where a side has nothing there. Calls that
// isShown refuses are left out, and so are turns without a call while something is searched.
function rowsOf(isShown) {
  const turns = sides.map((side) => turnsOf(side, isShown ?? (() => true), !isShown));
  const keys = [...new Set(turns.flatMap((found) => [...found.keys()]))];
  if (compares) keys.sort((a, b) => a - b);
  const rows = [];
  const severalSessions = sides.some((side) => side.sessions.length > 1);
  let session = -1;
  for (const key of keys) {
    const cells = turns.map((found) => found.get(key) ?? null);
    const some = cells.find((c) => c);
    if (severalSessions && some.turn.session !== session) {
      session = some.turn.session;
      rows.push({ kind: 'session', cells: sides.map((side) => side.sessions[session] ?? null) });
    }
    rows.push({ kind: 'turn', cells: cells.map((c) => c && c.turn) });
    const most = Math.max(...cells.map((c) => (c ? c.calls.length : 0)));
    for (let i = 0; i < most; i++) rows.push({ kind: 'call', cells: cells.map((c) => c?.calls[i] ?? null) });
  }
  return rows;
}

// turnsOf returns the turns of a side that have a call which is shown, or all, by a key that the same
// turn has on another side.
function turnsOf(side, isShown, isAll) {
  const found = new Map();
  const keyOf = (turn) => turn.session * 1e6 + turn.turn;
  if (isAll) side.turns.forEach((turn) => found.set(keyOf(turn), { turn, calls: [] }));
  for (const call of side.calls) {
    if (!isShown(call)) continue;
    const turn = side.turns[call.turn];
    const key = keyOf(turn);
    if (!found.has(key)) found.set(key, { turn, calls: [] });
    found.get(key).calls.push(call);
  }
  return found;
}
