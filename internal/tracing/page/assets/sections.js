'use strict';

// sectionPanel shows the tables of a section that the maker of the page added, such as the trials
// of an eval.
function sectionPanel(section) {
  return make('div', { id: section.id, class: 'section' }, section.tables.map((table) => make('div', { class: 'table-frame' },
    make('table', null, table.caption ? make('caption', null, foreign(table.caption)) : null,
      make('thead', null, make('tr', null, table.columns.map((name) => make('th', { scope: 'col' }, foreign(name))))),
      make('tbody', null, table.rows.map((row) => make('tr', row.data, row.cells.map(sectionCell))))))));
}

// sectionCell shows a cell, which may link a call.
function sectionCell(cell) {
  const call = cell.call ? callNamed(cell.call) : undefined;
  const words = foreign(cell.text);
  return make('td', { class: cell.state ? 'state ' + cell.state : null }, call ? make('a', { href: address(call) }, words) : words);
}
