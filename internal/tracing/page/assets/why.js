'use strict';

// The most entries of a kind that are shown at once.
const mostEntries = 300;

// The kinds of entries, with their headings.
const whyKinds = {
  break: 'Prefix breaks: tokens that were paid again', denied: 'Denied calls',
  cut: 'Skills without a place in the overview', not_found: 'Skills that were not found',
};

// whyPanel explains what cost money or failed, with the setting that changes it.
function whyPanel() {
  return make('div', { id: 'why', class: compares ? 'two' : null }, sides.map((side) => {
    const found = entries(side);
    const groups = Object.entries(whyKinds).filter(([kind]) => found[kind].length);
    return make('div', { 'data-side': compares ? side.name : null },
      compares ? make('h2', null, 'Side ' + side.name) : null,
      groups.map(([kind, heading]) => group(kind, heading, found[kind])),
      groups.length ? null : make('p', { class: 'dim' }, 'No prefix broke, no call was denied, and every skill was found and listed.'));
  }));
}

// entries returns what there is to explain on a side, by kind.
function entries(side) {
  const found = { break: [], denied: [], cut: [], not_found: [] };
  for (const call of side.calls) {
    for (const event of call.events) {
      if (event.event === 'break') found.break.push({ call, event });
      if (event.event === 'decision' && event.decision === 'denied') found.denied.push({ call, event });
      if (event.event === 'offered' && event.cut > 0) found.cut.push({ call, event });
      if (event.event === 'not_found') found.not_found.push({ call, event });
    }
  }
  return found;
}

function group(kind, heading, all) {
  const list = make('ul', { class: 'reasons' });
  const sentence = { break: ofBreak, denied: ofDenial, cut: ofCut, not_found: ofNotFound }[kind];
  const button = make('button', { type: 'button', class: 'all', onclick: () => more() });
  const more = () => {
    const from = list.children.length;
    list.append(...all.slice(from, from + mostEntries).map(({ call, event }) => make('li', { 'data-why': kind, 'data-skill': event.skill ?? null },
      make('a', { href: address(call), class: 'where' }, `turn ${sides[call.side].turns[call.turn].turn}, call ${call.call}`),
      make('p', null, sentence(event)))));
    const left = all.length - list.children.length;
    button.textContent = `Show more (${count(left)} left)`;
    hide(button, left === 0);
  };
  more();
  return make('section', null, make('h3', null, heading, ' ', make('small', null, count(all.length))), list, button);
}

const code = (text) => make('code', null, text);

// ofBreak explains a break of the prefix.
function ofBreak(e) {
  const paid = `${plural(e.lost_tokens, 'token')} ${e.lost_tokens === 1 ? 'was' : 'were'} paid again, because `;
  switch (e.cause) {
    case 'tools':
      return [paid, 'the tools or their order changed; a constant list, such as ', code('--profile'), ' or ', code('Tools.Names'), ' gives, keeps the prefix.'];
    case 'turn':
      return [paid, `Satchel took texts of ended loads out at message ${e.message}; `, code('--load-mode session'), ' keeps them, and ', code('--prices'), ' says when taking them out pays.'];
    case 'unload':
      return [paid, `a skill was unloaded and its text left message ${e.message}; a higher `, code('--max-loaded'), ' (', code('Loading.Max'), ') ends fewer loads.'];
    case 'host':
      return [paid, `the host changed message ${e.message}, as a clock in the system text or a shortened history does; `, code('WithPrefixGuard'), ' names the change where it is made.'];
    default:
      return [paid, `message ${e.message} changed (cause `, foreign(e.cause), '); ', code('WithPrefixGuard'), ' names the change where it is made.'];
  }
}

// The settings behind the rules of denials. The first expression that matches the rule decides.
const rules = [
  [/^disallowed-tools/, ['disallowed-tools'], 'lists it; take the entry out of the front matter of that skill'],
  [/allowed-tools/, ['allowed-tools', '--policy'], 'does not list it; add an entry to the front matter of that skill, or choose another policy'],
  [/COMMANDS|command/, ['SATCHEL_RUN_ALLOWED_COMMANDS', 'SATCHEL_RUN_DENIED_COMMANDS'], 'bounds the commands of runs'],
  [/gate/i, ['WithGate'], 'is the gate of the host'],
  [/approv|asked/i, ['--approve', 'WithApprover'], 'decides on calls that no list grants'],
  [/activate|until|tool.?skills/i, ['--activate', 'Permissions.ToolSkills'], 'asks for a skill to be loaded first'],
];

// ofDenial explains a denied call.
function ofDenial(e) {
  const [, settings, words] = rules.find(([expression]) => expression.test(e.rule)) ?? [null, ['--policy', 'Permissions.Policy'], 'decided'];
  return [foreign(e.name, 'strong'), ' was denied, because ', make('q', null, foreign(e.rule || 'a rule without a name')), ` ${words} (`,
    settings.map((name, i) => [i ? ', ' : null, code(name)]), ').'];
}

// ofCut explains skills that the overview leaves out.
function ofCut(e) {
  return [`The overview leaves out ${plural(e.cut, 'skill')}, because its budget is spent; `, code('Overview.Tokens'), ' raises it, and ', code('Overview.Pinned'), ' puts skills first.'];
}

// ofNotFound explains a skill that does not exist.
function ofNotFound(e) {
  return ['The model asked for ', foreign(e.name, 'strong'), ', and no skill has that name',
    e.near?.length ? [' (near: ', foreign(e.near.join(', ')), ')'] : null, '; ', code('--skills'), ' says where skills are, and ', code('--audience'), ' which of them are seen.'];
}
