'use strict';

// The most messages that are shown at once. Earlier ones stand behind a button.
const mostMessages = 500;

// requestSection shows the messages of a call, as the model got them.
function requestSection(call) {
  const side = sides[call.side];
  const messages = request(call);
  const newFrom = unchanged(call, messages);
  const show = (i) => message(side.messages[messages[i]], i, i >= newFrom, call);
  const list = make('div', { class: 'messages' });
  const start = Math.max(0, Math.min(newFrom, messages.length - mostMessages));
  for (let i = start; i < messages.length; i++) list.append(show(i));
  return make('section', { 'aria-label': 'Request' },
    make('h3', null, 'Request ', make('small', null, requestSummary(side, messages, newFrom)),
      newFrom > 3 && newFrom < messages.length ? jump('To what is new', `[data-message="${newFrom}"]`) : null, jump('To the answer', '#answer')),
    call.uncertain ? make('p', { class: 'note', role: 'note' }, 'The trace lacks a call before this one: the first messages may be others.') : null,
    start ? earlier(list, start, show) : null, list, tools(call));
}

// jump returns a button that scrolls to an element of the call.
function jump(words, selector) {
  return make('button', {
    type: 'button', class: 'jump', onclick: () => document.querySelector('#call ' + selector).scrollIntoView(),
  }, words);
}

function requestSummary(side, messages, newFrom) {
  if (!messages.length) return side.texts === 'none' ? 'messages are not kept in this trace' : 'no messages';
  return `${plural(messages.length, 'message')}, ${messages.length - newFrom} new against the call before`;
}

// unchanged returns how many messages a call has in common with the call before it.
function unchanged(call, messages) {
  const before = sides[call.side].calls[call.before];
  if (!before) return 0;
  const others = request(before);
  let n = 0;
  while (n < messages.length && messages[n] === others[n]) n++;
  return n;
}

// earlier returns a button that shows messages before those of the list.
function earlier(list, start, show) {
  const words = () => `Show ${Math.min(mostMessages, start)} of ${count(start)} earlier messages`;
  const button = make('button', {
    type: 'button', class: 'all',
    onclick: () => {
      const from = Math.max(0, start - mostMessages);
      const added = document.createDocumentFragment();
      for (let i = from; i < start; i++) added.append(show(i));
      list.prepend(added);
      start = from;
      if (start) button.textContent = words();
      else button.remove();
    },
  }, words());
  return button;
}

// message shows a message. One that the call before had too is cut to a few lines.
function message(value, i, isNew, call) {
  const here = call.texts.filter((text) => text.message === i);
  return make('article', { class: 'message', 'data-message': i, 'data-role': value.role, 'data-new': String(isNew) },
    make('header', null,
      make('span', { class: 'index' }, String(i)), foreign(value.role, 'strong'),
      isNew ? make('span', { class: 'badge new' }, 'new') : null,
      here.map((text) => make('span', { class: 'badge skill' }, foreign(titleOf(text)))),
      value.tool_call_id ? make('span', { class: 'dim' }, 'answers ', foreign(value.tool_call_id)) : null,
      value.bytes === undefined ? null : make('span', { class: 'dim' }, size(value.bytes) + ', text not kept')),
    (value.media ?? []).map((m) => make('p', { class: 'media', 'data-media': m.kind }, foreign(m.kind, 'strong'), foreign(m.digest, 'code'))),
    value.content !== undefined ? longText(value.content, { 'data-text': '' }, isNew ? 24 : 3) : null,
    (value.tool_calls ?? []).map((t) => make('div', { class: 'tool-call' }, toolCallHead(t), toolCallArguments(t))));
}

// tools lists the tools of a request.
function tools(call) {
  const list = sides[call.side].tools[call.tools];
  if (!list) return null;
  return make('details', { class: 'tools' },
    make('summary', null, plural(list.length, 'tool')),
    list.map((tool) => make('div', { class: 'tool' }, foreign(tool.name, 'code'),
      tool.description ? longText(tool.description) : null,
      tool.parameters ? longText(JSON.stringify(tool.parameters, null, 1), { class: 'text foreign code' }, 4) : null)));
}

function toolCallHead(t) {
  return make('div', { class: 'tool-call-head' }, foreign(t.name, 'code'), make('span', { class: 'dim' }, foreign(t.id)));
}

function toolCallArguments(t) {
  if (!t.arguments) return null;
  return longText(pretty(t.arguments), { class: 'text foreign code' }, 12);
}
