// Models for editors that read tree-sitter: Neovim, Helix, Emacs, Zed, GitHub.
// What stands here is grammar/gbm.y once more, without its recovery from errors.
// `tree-sitter generate` writes src/ from it; src/scanner.c finds where the
// clauses of a library entry begin.

// How tight an operator binds, as in grammar/gbm.y.
const TIGHT = { or: 1, and: 2, not: 3, compare: 4, sum: 5, product: 6, special: 7, range: 8, negative: 9, power: 10 };

const BINARY = [
  ['||', 'or'],
  ['|', 'or'],
  ['&&', 'and'],
  ['&', 'and'],
  ['+', 'sum'],
  ['-', 'sum'],
  ['*', 'product'],
  ['/', 'product'],
  ...['<', '>', '<=', '>=', '==', '!='].map((op) => [op, 'compare']),
];

const commas = (rule) => seq(rule, repeat(seq(',', rule)));

function binary($, operand) {
  const over = (op) => seq(field('left', operand), field('operator', op), field('right', operand));
  return choice(...BINARY.map(([op, tight]) => prec.left(TIGHT[tight], over(op))),
                prec.left(TIGHT.special, over($.special)),
                prec.right(TIGHT.power, over(choice('^', '**'))));
}

function unary(operand) {
  return choice(prec(TIGHT.negative, seq(field('operator', '-'), field('operand', operand))),
                prec(TIGHT.not, seq(field('operator', '!'), field('operand', operand))));
}

module.exports = grammar({
  name: 'gbm',

  word: ($) => $.identifier,
  extras: ($) => [/[ \t\f\v\r\n]/, $.comment, $._mark],
  externals: ($) => [$._line], // a line that may begin with a clause
  supertypes: ($) => [$.expression],

  rules: {
    source_file: ($) => repeat(choice($.declaration, $.model, $.data, $.samplers, $.import, $.entry, ';')),

    // given N, X[N,p]   observed y[N]   var mu
    declaration: ($) => seq(field('kind', choice('var', 'given', 'observed')), commas($.declared)),
    declared: ($) => seq(field('name', $.identifier), optional($.dimensions)),
    dimensions: ($) => seq('[', commas($.expression), ']'),

    model: ($) => choice(seq('model', optional(field('name', $.identifier)), $.block),
                         seq(optional($._assigned), 'nimbleCode', '(', $.block, ')'),
                         seq(optional($._assigned), 'function', '(', ')', $.block)),
    // A model in a script of R: code <- nimbleCode({ ... })
    _assigned: ($) => seq(field('name', choice($.identifier, alias('model', $.identifier))), choice('<-', '=')),
    data: ($) => seq('data', $.block),
    import: ($) => seq('import', $.string),

    // Statements.
    block: ($) => seq('{', repeat(choice($.for, $.stochastic, $.deterministic, ';')), '}'),
    for: ($) =>
      seq('for', '(', field('index', $.identifier), 'in', field('over', $.expression), ')',
          choice($.block, $.for, $.stochastic, $.deterministic)),
    stochastic: ($) =>
      seq(field('left', $._left), '~',
          field('right', choice(seq($.expression, optional($.truncation)), $.truncated))),
    deterministic: ($) =>
      seq(field('left', $._left), choice('<-', '='), field('right', $.expression)),
    _left: ($) => choice($.variable, $.link, alias($._for, $.variable)),
    link: ($) => seq(field('function', $.identifier), '(', $.variable, ')'),
    // dnorm(0, 1) T(0,) and Stan's form of it, T(dnorm(0, 1), 0,)
    truncation: ($) => seq(field('kind', $.bounded), $._bounds, ')'),
    truncated: ($) => seq(field('kind', $.bounded), $.expression, ',', $._bounds, ')'),
    bounded: () => token(/[TIC][ \t]*\(/),
    _bounds: ($) => choice(',', seq($.expression, ',', optional($.expression)), seq(',', $.expression)),

    // Expressions.
    expression: ($) => choice($._operand, $.unary, $.binary, $.range),
    _operand: ($) => choice($.variable, $.number, $.call, $.sum, $.parenthesized),
    unary: ($) => unary($.expression),
    binary: ($) => binary($, $.expression),
    range: ($) => prec.left(TIGHT.range, seq(field('from', $.expression), ':', field('to', $.expression))),
    // In a clause's items a ':' outside brackets is not a range's.
    _item: ($) => choice($._operand, alias($._item_unary, $.unary), alias($._item_binary, $.binary)),
    _item_unary: ($) => unary($._item),
    _item_binary: ($) => binary($, $._item),
    variable: ($) => prec.right(seq(field('name', $.identifier), optional($.indices))),
    _for: ($) => prec.right(seq(field('name', alias('for', $.identifier)), optional($.indices))),
    indices: ($) => seq('[', optional($.expression), repeat(seq(',', optional($.expression))), ']'),
    call: ($) => seq(field('function', $.identifier), $.arguments),
    arguments: ($) => seq('(', optional(commas(choice($.expression, $.named))), ')'),
    named: ($) => seq(field('name', $.identifier), '=', $.expression),
    // sum(j in 1:K, body)
    sum: ($) =>
      seq(field('function', $.identifier), '(', field('index', $.identifier), 'in', field('over', $.expression), ',',
          field('body', $.expression), ')'),
    parenthesized: ($) => seq('(', $.expression, ')'),

    // samplers { beta, tau : slice(width = 0.5) }
    samplers: ($) => seq('samplers', '{', repeat(choice($.choice, ';')), '}'),
    choice: ($) => seq(commas($.variable), ':', field('method', $.identifier), optional($.options)),
    options: ($) => seq('(', optional(commas($.named)), ')'),

    // The library's entries: docs/library.md.
    entry: ($) =>
      seq(field('kind', choice('distribution', 'function', 'augmentation')), field('name', $.identifier),
          optional($.parameters), optional($.result),
          '{', optional($.clause), repeat(choice(seq($._line, $.clause), ';')), '}'),
    parameters: ($) => seq('(', optional(commas(choice($.declared, '...'))), ')'),
    result: ($) => choice(seq('over', $.declared), seq('returns', $.dimensions)),
    clause: ($) => prec.right(seq(field('keyword', $.identifier), optional(commas($.item)))),
    item: ($) =>
      choice($._item,
             seq(field('about', choice($._item, $.cell)), choice(':', '<-', '=', '~'), $._item),
             seq(field('about', $.variable), field('what', choice($.call, $.variable)))),
    cell: ($) => seq($.call, $.indices),

    identifier: () => /[A-Za-z][A-Za-z0-9._]*/,
    special: () => /%[^%\n \t]*%/, // %*%, %in%
    number: () => /(\d+\.?|\d*\.\d+)([eE][+-]?\d+)?L?/,
    string: () => /"[^"\n]*"/,
    _mark: () => token(prec(1, '%_%')), // R2WinBUGS writes it before I(,)
    comment: () => token(choice(/#[^\n]*/, /\/\*[^*]*\*+([^/*][^*]*\*+)*\//)),
  },
});
