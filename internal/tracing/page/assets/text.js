'use strict';

// A text above this many bytes is shown by its beginning, until its button is pressed.
const mostBytes = 64 * 1024;

// A text is shown in blocks of about this many characters, which are laid out when they come into
// view.
const blockLength = 32 * 1024;

// longText returns elements for a text of any length: the text and buttons that show more of it. One
// shows the whole of a long text, and one more than the first lines.
function longText(text, attributes, lines = Infinity) {
  const end = fitting(text, mostBytes);
  const holder = make('pre', { class: 'text foreign', ...attributes });
  holder.append(...blocks(text.slice(0, end)));
  const more = isLonger(text, lines) ? moreButton(holder, lines) : null;
  if (end === text.length) return [holder, more];
  const all = make('button', {
    type: 'button', class: 'all',
    onclick: () => {
      holder.replaceChildren(...blocks(text));
      holder.classList.remove('clamped');
      holder.setAttribute('tabindex', '-1');
      holder.focus({ preventScroll: true });
      all.remove();
      more?.remove();
    },
  }, `Show all ${size(new Blob([text]).size)} (this is the beginning)`);
  return [holder, all, more];
}

// isLonger reports whether a text is likely to take more than some lines and a half.
function isLonger(text, lines) {
  if (lines === Infinity) return false;
  return text.length > lines * 120 || text.split('\n', lines + 2).length > lines + 1;
}

// moreButton cuts a text to some lines and returns the button that shows the rest.
function moreButton(holder, lines) {
  holder.classList.add('clamped');
  holder.style.setProperty('--lines', lines);
  const button = make('button', {
    type: 'button', class: 'more', 'aria-expanded': 'false',
    onclick: () => {
      const isOpen = !holder.classList.toggle('clamped');
      button.setAttribute('aria-expanded', String(isOpen));
      button.textContent = isOpen ? 'Less' : 'More';
    },
  }, 'More');
  return button;
}

// fitting returns how many characters at the beginning of a text take at most some bytes.
function fitting(text, bytes) {
  if (text.length * 3 <= bytes) return text.length;
  return new TextEncoder().encodeInto(text.slice(0, bytes), new Uint8Array(bytes)).read;
}

// blocks divides a text, at ends of lines where there are some.
function blocks(text) {
  if (text.length <= blockLength) return [text];
  const found = [];
  for (let at = 0; at < text.length;) {
    let end = Math.min(at + blockLength, text.length);
    const line = text.lastIndexOf('\n', end - 1) + 1;
    if (end < text.length && line > at) end = line;
    else if (end < text.length && /[\ud800-\udbff]/.test(text[end - 1])) end--;
    found.push(make('span', { class: 'block' }, text.slice(at, end)));
    at = end;
  }
  return found;
}

// pretty indents JSON, and leaves short and other texts as they are.
function pretty(text) {
  if (text.length < 90 || text.length > mostBytes) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
