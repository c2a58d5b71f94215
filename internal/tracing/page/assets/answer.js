'use strict';

// answerSection shows what the model answered, and what became of each of its tool calls.
function answerSection(call) {
  const answer = call.answer;
  const ids = new Set((answer?.tool_calls ?? []).map((t) => t.id));
  const rest = call.events.filter((e) => !ids.has(e.id));
  return make('section', { id: 'answer', 'aria-label': 'Answer' },
    make('h3', null, 'Answer ', answer ? make('small', null, `${count(answer.completion_tokens)} tokens in ${duration(answer.ms)}`) : null),
    call.error ? make('p', { class: 'failure', role: 'alert' }, foreign(call.error)) : null,
    !answer && !call.error ? make('p', { class: 'dim' }, 'The trace has no answer to this call.') : null,
    answer?.text ? longText(answer.text, { class: 'text foreign', 'data-text': '' }) : null,
    (answer?.tool_calls ?? []).map((t) => make('div', { class: 'tool-call', 'data-tool-call': t.id },
      toolCallHead(t), toolCallArguments(t),
      happenings(call.events.filter((e) => e.id === t.id)))),
    (answer?.alternatives ?? []).map(alternative),
    rest.length ? make('div', { class: 'beside' }, make('h4', null, 'Beside its tool calls'), happenings(rest)) : null);
}

// alternative shows a further answer, which no agent has read.
function alternative(a, i) {
  return make('div', { class: 'alternative', 'data-alternative': i + 1 }, make('h4', null, `Alternative ${i + 1}`),
    a.text ? longText(a.text, {}) : null,
    (a.tool_calls ?? []).map((t) => [toolCallHead(t), toolCallArguments(t)]));
}

// happenings lists events in words.
function happenings(events) {
  const items = events.map(happening).filter((words) => words);
  return items.length ? make('ul', { class: 'happenings' }, items) : null;
}

// happening returns an item for an event, or null for one that is shown elsewhere.
function happening(e) {
  const words = wordsOf(e);
  if (!words) return null;
  const verdict = e.event === 'decision'
    ? { 'data-verdict': e.decision, 'data-skill': e.skill ?? '', 'data-rule': e.rule ?? '' } : {};
  return make('li', { class: 'happening ' + e.event, ...verdict }, words);
}

// How a skill was of use.
const uses = { run: 'a command of it ran', doc: 'a doc of it was read', named: 'the answer names it' };

// wordsOf says in words what happened.
function wordsOf(e) {
  const skill = e.skill ? foreign(e.skill, 'strong') : null;
  switch (e.event) {
    case 'decision':
      return [foreign(e.decision, 'strong'), ' by ', foreign(e.rule || 'no rule', 'code'),
        skill && !e.rule?.includes(e.skill) ? [' of ', skill] : null, e.reason && e.reason !== e.rule ? make('span', { class: 'reason' }, foreign(e.reason)) : null];
    case 'approval':
      return [make('strong', null, e.approved ? 'approved' : 'refused'), ' by the approver', e.reason ? [': ', foreign(e.reason)] : null];
    case 'loaded':
      return ['loaded ', skill, ' by the ', foreign(e.by), e.tokens ? `, ${plural(e.tokens, 'token')}` : null];
    case 'unloaded':
      return ['the load of ', skill, ' ended: ', foreign(e.why)];
    case 'cleared':
      return ['the text of ', skill, e.doc ? [', ', foreign(e.doc), ','] : null, ' left the requests: ', foreign(e.why)];
    case 'run':
      return ['ran for ', skill, ': ', foreign(e.command || 'a command', 'code'), ` exit ${e.exit_code}${e.timed_out ? ' after its time limit' : ''}, ${duration(e.ms ?? 0)}`,
        (e.files ?? []).map((f) => [', file ', foreign(f.path, 'code'), ' of ' + size(f.bytes)]), limits(e.limits)];
    case 'used':
      return ['used ', skill, ': ', wordsFor(uses, e.how) ?? foreign(e.how ?? '')];
    case 'not_found':
      return ['no skill ', foreign(e.name, 'strong'), e.near?.length ? [', near: ', foreign(e.near.join(', '))] : null];
    case 'break':
      return [`the prefix broke at ${e.message < 0 ? 'the tools' : 'message ' + e.message}, cause `, foreign(e.cause), `: ${count(e.lost_tokens)} tokens were paid again`];
    case 'suggested':
      return ['suggested ', foreign((e.skills ?? []).join(', '))];
    case 'offered':
      return [`offered ${plural((e.skills ?? []).length, 'skill')}, ${(e.named ?? []).length} more by name, ${e.cut ?? 0} in neither`];
    default:
      return null;
  }
}

function limits(values) {
  const names = Object.entries(values ?? {});
  return names.length ? make('span', { class: 'reason' }, 'limits: ', foreign(names.map(([name, n]) => `${name} ${count(n)}`).join(', '))) : null;
}
