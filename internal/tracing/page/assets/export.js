'use strict';

// exported returns a call as JSON, in the forms of the trace.
function exported(call) {
  const side = sides[call.side];
  return {
    v: 1,
    request: { messages: request(call).map((i) => side.messages[i]), tools: side.tools[call.tools] ?? [] },
    answer: call.answer ?? (call.error ? { error: call.error } : null),
  };
}

// download saves a call as a file.
function download(call) {
  const url = URL.createObjectURL(new Blob([JSON.stringify(exported(call), null, 1) + '\n'], { type: 'application/json' }));
  const name = 'call-' + call.name.replace(/[^A-Za-z0-9._-]+/g, '-').slice(-100) + '.json';
  make('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
