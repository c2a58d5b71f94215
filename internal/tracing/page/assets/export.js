'use strict';

// exported returns a call as JSON, in the forms of the trace.
function exported(call) {
  const side = sides[call.side];
  return {
    v: 1,
    request: { messages: request(call).map((i) => traced(side.messages[i])), tools: side.tools[call.tools] ?? [] },
    answer: call.answer ?? (call.error ? { error: call.error } : null),
  };
}

// traced returns a message with all fields that it has in a trace.
function traced(message) {
  if (message.content === undefined) return message;
  return { role: message.role, content: message.content, tool_calls: message.tool_calls ?? [], tool_call_id: message.tool_call_id ?? '', media: message.media };
}

// download saves a call as a file.
function download(call) {
  const url = URL.createObjectURL(new Blob([JSON.stringify(exported(call), null, 1) + '\n'], { type: 'application/json' }));
  const name = 'call-' + call.name.replace(/[^A-Za-z0-9._-]+/g, '-').slice(-100) + '.json';
  make('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
