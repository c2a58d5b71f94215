'use strict';

// The most rows that are shown before a button is pressed.
const mostRows = 500;

const skillColumns = ['offered', 'suggested', 'loaded', 'used', 'tokens', 'share'];

// skillsPanel shows a table of the skills of each side.
function skillsPanel() {
  return make('div', { id: 'skills', class: compares ? 'two' : null }, sides.map((side, s) => {
    const others = compares ? new Map(sides[1 - s].skills.map((row) => [row.skill, row])) : null;
    return make('div', { class: 'table-frame', 'data-side': compares ? side.name : null }, skillsTable(side, others));
  }));
}

function skillsTable(side, others) {
  const body = make('tbody');
  const heads = ['skill', ...skillColumns].map((name) => make('th', { scope: 'col', class: name === 'skill' ? null : 'number' },
    make('button', { type: 'button', onclick: () => sort(name) }, name)));
  let order = { name: 'tokens', isDown: true };
  const sort = (name) => {
    order = { name, isDown: order.name === name ? !order.isDown : name !== 'skill' };
    fill();
  };
  let most = mostRows;
  const fill = () => {
    const rows = [...side.skills].sort((a, b) => compare(a[order.name], b[order.name]) * (order.isDown ? -1 : 1) || compare(a.skill, b.skill));
    body.replaceChildren(...rows.slice(0, most).map((row) => skillRow(row, others)));
    hide(all, rows.length <= most);
    heads.forEach((head, i) => head.setAttribute('aria-sort', ['skill', ...skillColumns][i] !== order.name ? 'none' : order.isDown ? 'descending' : 'ascending'));
  };
  const all = make('button', { type: 'button', class: 'all', onclick: () => {
    most = Infinity;
    fill();
  } }, `Show all ${plural(side.skills.length, 'skill')}`);
  fill();
  if (!side.skills.length) body.append(make('tr', null, make('td', { colspan: 8, class: 'dim' }, 'The trace names no skill.')));
  return [make('table', { class: 'skills' },
    make('caption', null, compares ? `Side ${side.name}. ` : null, 'Turns that offered and suggested a skill, loads, uses, and the tokens of its texts over all calls.'),
    make('thead', null, make('tr', null, heads, compares ? null : make('th', { scope: 'col' }, 'to look at'))), body), all];
}

function skillRow(row, others) {
  const isUnused = !row.loaded && !row.used;
  const isWasted = row.loaded > 0 && !row.used;
  const remark = isUnused ? make('span', { class: 'badge idle' }, 'never loaded or used')
    : isWasted ? make('span', { class: 'badge soon' }, 'loaded, never used') : null;
  const other = others?.get(row.skill);
  const differs = (name) => (others ? String(!other || other[name] !== row[name]) : null);
  return make('tr', { 'data-skill': row.skill, 'data-unused': String(isUnused), 'data-wasted': String(isWasted) },
    make('th', { scope: 'row' }, foreign(row.skill), compares ? remark : null),
    skillColumns.map((name) => make('td', { 'data-col': name, 'data-value': row[name], 'data-differs': differs(name), class: 'number' },
      name === 'share' ? shareOf(row.share) : count(row[name]))),
    compares ? null : make('td', null, remark));
}

// shareOf draws a share of the tokens of all requests.
function shareOf(share) {
  const line = make('span', { class: 'share-line', 'aria-hidden': 'true' });
  line.style.width = Math.min(100, share * 100) + '%';
  return [percent(share), make('span', { class: 'share' }, line)];
}

function compare(a, b) {
  return typeof a === 'string' ? a.localeCompare(b) : a - b;
}
