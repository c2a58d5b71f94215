'use strict';

// make returns an element with attributes and children. Attributes that begin with "on" are
// handlers. Attributes and children that are null or undefined are left out. A child that is a
// string becomes text: nothing that a trace says is ever read as HTML.
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined) element.append(child);
  }
  return element;
}

// foreign returns an element for a text of the trace. The text cannot change the direction of
// what stands beside it.
function foreign(text, tag = 'bdi') {
  return make(tag, { class: 'foreign' }, String(text));
}

// hide hides an element, or shows it again.
function hide(element, hidden) {
  if (hidden) element.setAttribute('hidden', '');
  else element.removeAttribute('hidden');
}
