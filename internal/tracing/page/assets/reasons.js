'use strict';

// A setting or a flag of Satchel.
const code = (text) => make('code', null, text);

// settings lists names of settings, with commas.
const settings = (names) => names.map((name, i) => [i ? ', ' : null, code(name)]);

// The causes of prefix breaks, each with what happened and what changes it.
const causes = {
  turn: (at) => [`texts of ended loads left ${at}; `, code('--load-mode session'), ' keeps them, and ', code('--prices'), ' says when taking them out pays.'],
  unload: (at) => [`a text was unloaded, evicted or replaced at ${at}; `, code('--max-loaded'), ' (', code('Loading.Max'), ') says how many skills stay loaded.'],
  tools: () => ['the tools or their order changed; ', code('--profile'), ' and ', code('Tools.Names'), ' keep Satchel\u2019s constant, and the host must keep its own.'],
  host: (at) => [`the host changed ${at}, as a clock in the system text or a shortened history does; `, code('WithPrefixGuard'), ' names each such change.'],
  system: (at) => [`content of the system text changed at ${at}; `, code('--placement tool-result'), ' keeps content out of it.'],
  overview: (at) => [`the list of skills changed at ${at}; `, code('WithAudience'), ' and ', code('--watch'), ' say when it may.'],
  fallback: (at) => [`content that had no other place came or went at ${at}; `, code('Loading.Summary'), ' says what becomes of such content.'],
};

// ofBreak explains a break of the prefix.
function ofBreak(e) {
  const at = e.message < 0 ? 'the tools' : 'message ' + e.message;
  const words = wordsFor(causes, e.cause)?.(at) ?? [`${at} changed (`, foreign(e.cause ?? ''), '); ', code('WithPrefixGuard'), ' names each such change.'];
  return [`${plural(e.lost_tokens, 'token')} ${e.lost_tokens === 1 ? 'was' : 'were'} paid again, because `, words];
}

// What decides about calls, as the rule of a denial names it, with the settings that change it. The
// first expression that matches the rule holds.
const deciders = [
  [/^disallowed-tools of /, 'lists it while the skill is loaded', ['disallowed-tools']],
  [/^allowed-tools of /, 'does not list it', ['allowed-tools', '--policy']],
  [/gate/, 'refused it', ['WithGate']],
  [/approver/, 'did not approve it', ['--approve', 'WithApprover']],
  [/skills that the tool needs/, 'were not loaded', ['--activate', 'Permissions.ToolSkills']],
  [/skill from a server/, 'asks for an approval', ['--approve', 'WithApprover']],
  [/edit of a skill/, 'needs a role or an answer', ['--role', '--edit']],
  [/reload/, 'failed', ['--load-mode session']],
  [/limit of calls/, 'was reached', ['Tools.Profile']],
  [/COMMANDS/, 'bounds the commands of runs', ['SATCHEL_RUN_ALLOWED_COMMANDS', 'SATCHEL_RUN_DENIED_COMMANDS']],
  [/(?:)/, 'decided so', ['--policy', 'Permissions.Policy']],
];

// ofDenial explains a denied call.
function ofDenial(e) {
  const rule = e.rule || 'no rule';
  const [, words, names] = deciders.find(([expression]) => expression.test(rule));
  return [foreign(e.name, 'strong'), ' was denied, because ', make('q', null, foreign(rule)), ` ${words}; change `, settings(names), '.'];
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
