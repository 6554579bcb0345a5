// Is src/grammar.json, of which the parser is written, what grammar.js says now?
//
//   node tree_sitter.js editors/tree-sitter
const assert = require('assert');
const path = require('path');
const folder = path.resolve(process.argv[2]);

const rule = (x) =>
  typeof x === 'string' ? { type: 'STRING', value: x }
  : x instanceof RegExp ? { type: 'PATTERN', value: x.source } : x;
const list = (type) => (...members) => ({ type, members: members.map(rule) });
const around = (type) => (content) => ({ type, content: rule(content) });
const tight = (type) => (value, content) =>
  content === undefined ? tight(type)(0, value) : { type, value, content: rule(content) };

Object.assign(global, {
  seq: list('SEQ'),
  choice: list('CHOICE'),
  optional: (x) => choice(x, { type: 'BLANK' }),
  repeat: around('REPEAT'),
  token: around('TOKEN'),
  prec: Object.assign(tight('PREC'), { left: tight('PREC_LEFT'), right: tight('PREC_RIGHT') }),
  field: (name, content) => ({ type: 'FIELD', name, content: rule(content) }),
  alias: (content, as) => ({
    type: 'ALIAS', content: rule(content), named: typeof as !== 'string', value: as.name || as,
  }),
  grammar: (g) => {
    const $ = new Proxy({}, { get: (_, name) => ({ type: 'SYMBOL', name }) });
    const rules = Object.entries(g.rules).map(([name, f]) => [name, rule(f($))]);
    const symbols = (f) => (f ? f($).map(rule) : []);
    return {
      name: g.name, word: g.word($).name, rules: Object.fromEntries(rules), extras: symbols(g.extras),
      conflicts: [], precedences: [], externals: symbols(g.externals), inline: [],
      supertypes: symbols(g.supertypes).map((s) => s.name),
    };
  },
});
const said = require(path.join(folder, 'grammar.js')), written = require(path.join(folder, 'src/grammar.json'));
for (const name of Object.keys({ ...said.rules, ...written.rules }))
  assert.deepStrictEqual(said.rules[name], written.rules[name], `${name}: tree-sitter generate`);
assert.deepStrictEqual(said, written);
