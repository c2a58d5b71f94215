'use strict';

// A text above this many bytes is shown by its beginning, until its button is pressed.
const mostBytes = 64 * 1024;

// A text is shown in blocks of about this many characters, which are laid out when they come into
// view.
const blockLength = 32 * 1024;

// longText returns elements for a text of any length: the text, and where it is long a button.
function longText(text, attributes) {
  const end = fitting(text, mostBytes);
  const holder = make('pre', { class: 'text foreign', ...attributes });
  holder.append(...blocks(text.slice(0, end)));
  if (end === text.length) return [holder];
  const bytes = new Blob([text]).size;
  const button = make('button', {
    type: 'button', class: 'all',
    onclick: () => {
      holder.replaceChildren(...blocks(text));
      button.remove();
    },
  }, `Show all ${size(bytes)} (this is the beginning)`);
  return [holder, button];
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

// clamped shows the first lines of an element that is long, with a button for the rest.
function clamped(parts, text, lines) {
  const holder = parts[0];
  if (text.length < lines * 90 && text.split('\n', lines + 2).length <= lines + 1) return parts;
  holder.classList.add('clamped');
  holder.style.setProperty('--lines', lines);
  const button = make('button', {
    type: 'button', class: 'more', 'aria-expanded': 'false',
    onclick: () => {
      const isOpen = holder.classList.toggle('clamped') === false;
      button.setAttribute('aria-expanded', String(isOpen));
      button.textContent = isOpen ? 'Less' : 'More';
    },
  }, 'More');
  return [...parts, button];
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
