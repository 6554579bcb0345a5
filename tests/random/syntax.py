"""Models as trees: reads the text of a model, prints it, walks and changes it.

An expression is a tuple: ("num", text), ("name", x), ("index", x, places),
("call", f, args), ("op", o, a, b), ("neg", a), and, as a place only,
("range", a, b) and ("all",).  A statement is a Relation or a Loop; both are
changed by making new ones."""

import math
import re
from dataclasses import dataclass, replace

import numpy as np

TOKEN = re.compile(r"""\s+ | \#[^\n]* | (?P<num>(?:\d+\.?\d*|\.\d+)
    (?:[eE][+-]?\d+)?) | (?P<name>[A-Za-z][A-Za-z0-9._]*)
    | (?P<op><-|%\*%|<=|>=|==|!=|&&|\|\||[-+*/^()\[\]{},:~;<>=!])""", re.X)

LEVELS = [["||"], ["&&"], ["<", ">", "<=", ">=", "==", "!="], ["+", "-"],
          ["*", "/", "%*%"]]


@dataclass(frozen=True)
class Relation:
    """left ~ dist(args) T(lower, upper), or link(left) <- value."""
    left: tuple
    random: bool
    value: tuple  # ("call", dist, args), or an expression
    link: str = ""
    bounds: tuple = ()  # (kind, lower or None, upper or None)


@dataclass(frozen=True)
class Loop:
    name: str
    low: tuple
    high: tuple
    body: tuple


@dataclass(frozen=True)
class Model:
    body: tuple
    data: tuple = ()  # the data {} block
    before: str = ""  # library entries, as they are
    after: str = ""  # samplers that are asked for, as they are


class Reader:
    def __init__(self, text):
        self.tokens, at = [], 0
        while at < len(text):
            m = TOKEN.match(text, at)
            if not m:
                raise SyntaxError(f"cannot read {text[at:at + 30]!r}")
            at = m.end()
            if m.lastgroup:
                self.tokens.append((m.lastgroup, m.group(m.lastgroup)))
        self.tokens.append(("end", ""))
        self.at = 0

    def next_is(self, text):
        return self.tokens[self.at][1] == text and \
            self.tokens[self.at][0] != "num"

    def take(self, text=None):
        token = self.tokens[self.at]
        if text is not None and token[1] != text:
            raise SyntaxError(f"{text!r} expected, {token[1]!r} found")
        self.at += 1
        return token[1]

    def taken(self, text):
        if self.next_is(text):
            self.at += 1
            return True
        return False

    def statements(self):
        body = []
        while not self.next_is("}") and self.tokens[self.at][0] != "end":
            if self.taken(";"):
                continue
            body.append(self.statement())
        return tuple(body)

    def statement(self):
        if self.next_is("for") and self.tokens[self.at + 1][1] == "(":
            self.take()
            self.take("(")
            name = self.take()
            self.take("in")
            low = self.expression()
            self.take(":")
            high = self.expression()
            self.take(")")
            if not self.taken("{"):
                return Loop(name, low, high, (self.statement(),))
            body = self.statements()
            self.take("}")
            return Loop(name, low, high, body)
        left, link = self.primary(), ""
        if left[0] == "call":
            link, left = left[1], left[2][0]
        if self.taken("~"):
            value = self.primary()
            return Relation(left, True, value, link, self.bounds())
        if not self.taken("<-"):
            self.take("=")
        return Relation(left, False, self.expression(), link)

    def bounds(self):
        for kind in ("T", "I", "C"):
            if self.next_is(kind) and self.tokens[self.at + 1][1] == "(":
                self.take()
                self.take("(")
                low = None if self.next_is(",") else self.expression()
                self.take(",")
                high = None if self.next_is(")") else self.expression()
                self.take(")")
                return (kind, low, high)
        return ()

    def expression(self, level=0):
        if level == len(LEVELS):
            return self.unary()
        left = self.expression(level + 1)
        while any(self.next_is(o) for o in LEVELS[level]):
            o = self.take()
            left = ("op", o, left, self.expression(level + 1))
        return left

    def unary(self):
        if self.taken("-"):
            return ("neg", self.unary())
        base = self.primary()
        if self.taken("^"):
            return ("op", "^", base, self.unary())
        return base

    def primary(self):
        if self.taken("("):
            e = self.expression()
            self.take(")")
            return e
        kind, text = self.tokens[self.at]
        self.at += 1
        if kind == "num":
            return ("num", text)
        if kind != "name":
            raise SyntaxError(f"{text!r} where an expression is expected")
        if self.taken("["):
            return ("index", text, self.places("]"))
        if self.taken("("):
            return ("call", text, self.arguments())
        return ("name", text)

    def arguments(self):
        args = []
        while not self.taken(")"):
            if self.tokens[self.at + 1][1] == "=" and \
                    self.tokens[self.at][0] == "name":
                name = self.take()
                self.take("=")
                args.append(("named", name, self.expression()))
            else:
                args.append(self.expression())
            self.taken(",")
        return tuple(args)

    def places(self, end):
        out = []
        while True:
            if self.next_is(",") or self.next_is(end):
                out.append(("all",))
            else:
                low = self.expression()
                out.append(("range", low, self.expression())
                           if self.taken(":") else low)
            if self.taken(end):
                return tuple(out)
            self.take(",")


def block_end(text, start):
    """Past the brace that closes the one at `start`."""
    depth = 0
    for at in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if text[at] == "}" and depth == 0:
            return at + 1
    raise SyntaxError("a brace is not closed")


def parse(text):
    before, data, body, at = "", (), (), 0
    for m in re.finditer(r"^(data|model)\s*\{", text, re.M):
        if m.start() < at:
            continue
        if not body and not data:
            before = text[:m.start()].strip()
        at = block_end(text, m.end() - 1)
        inside = Reader(text[m.end():at - 1]).statements()
        if m.group(1) == "data":
            data = inside
        else:
            body = inside
    return Model(body, data, before, text[at:].strip())


def parse_statement(text):
    return Reader(text).statement()


# ------------------------------------------------------------------ printing

def level_of(e):
    if e[0] == "neg":
        return 5
    if e[0] != "op":
        return 7
    if e[1] == "^":
        return 6
    return next(k for k, ops in enumerate(LEVELS) if e[1] in ops)


def show(e, above=0):
    text = shown(e)
    return f"({text})" if level_of(e) < above else text


def shown(e):
    kind = e[0]
    if kind == "num" or kind == "name":
        return e[1]
    if kind == "all":
        return ""
    if kind == "range":
        return show(e[1], 4) + ":" + show(e[2], 4)
    if kind == "index":
        return e[1] + "[" + ",".join(show(p) for p in e[2]) + "]"
    if kind == "call":
        return e[1] + "(" + ", ".join(show(a) for a in e[2]) + ")"
    if kind == "named":
        return e[1] + " = " + show(e[2])
    if kind == "neg":
        return "-" + show(e[1], 5)
    if e[1] == "^":
        return show(e[2], 7) + "^" + show(e[3], 7)
    level = level_of(e)
    left = show(e[2], level)
    return f"{left} {e[1]} {show(e[3], level + 1)}"


def show_relation(s):
    left = show(s.left)
    if s.link:
        left = f"{s.link}({left})"
    text = f"{left} {'~' if s.random else '<-'} {show(s.value)}"
    if s.bounds:
        kind, low, high = s.bounds
        text += f" {kind}({show(low) if low else ''}," \
            f"{' ' + show(high) if high else ''})"
    return text


def show_body(body, indent="  "):
    lines = []
    for s in body:
        if isinstance(s, Relation):
            lines.append(indent + show_relation(s))
            continue
        lines.append(f"{indent}for ({s.name} in {show(s.low, 4)}:"
                     f"{show(s.high, 4)}) {{")
        lines += show_body(s.body, indent + "  ")
        lines.append(indent + "}")
    return lines


def show_model(m):
    lines = [m.before] if m.before else []
    if m.data:
        lines += ["data {"] + show_body(m.data) + ["}"]
    lines += ["model {"] + show_body(m.body) + ["}"]
    return "\n".join(lines + ([m.after] if m.after else [])) + "\n"


# ------------------------------------------------------------------- walking

def parts(e):
    """The expressions right under one."""
    if e[0] in ("index", "call"):
        return e[2]
    if e[0] == "named":
        return (e[2],)
    if e[0] == "op":
        return e[2:]
    if e[0] in ("neg", "range"):
        return e[1:]
    return ()


def with_parts(e, new):
    new = tuple(new)
    if e[0] in ("index", "call"):
        return (e[0], e[1], new)
    if e[0] == "named":
        return (e[0], e[1], new[0])
    if e[0] == "op":
        return (e[0], e[1]) + new
    if e[0] in ("neg", "range"):
        return (e[0],) + new
    return e


def substitute(e, name, value):
    if e == ("name", name):
        return value
    return with_parts(e, [substitute(p, name, value) for p in parts(e)])


def map_statement(s, f):
    """The statement with f done to each of its expressions."""
    if isinstance(s, Loop):
        return Loop(s.name, f(s.low), f(s.high),
                    tuple(map_statement(t, f) for t in s.body))
    bounds = s.bounds and (s.bounds[0],) + tuple(
        b and f(b) for b in s.bounds[1:])
    return replace(s, left=f(s.left), value=f(s.value), bounds=bounds)


def names_in(e):
    out = {e[1]} if e[0] in ("name", "index") else set()
    for p in parts(e):
        out |= names_in(p)
    return out


def relations(body):
    for s in body:
        if isinstance(s, Loop):
            yield from relations(s.body)
        else:
            yield s


def reads(s):
    """Names that a relation reads."""
    out = names_in(s.value)
    for b in s.bounds[1:]:
        out |= names_in(b) if b else set()
    for p in parts(s.left):
        out |= names_in(p)
    return out


def column_name(name):
    """A name as it stands over the draws."""
    return re.sub(r"\W", "_", name)


def all_names(m):
    out = set()

    def walk(body):
        for s in body:
            if isinstance(s, Loop):
                out.update(names_in(s.low) | names_in(s.high))
                walk(s.body)
            else:
                out.update(reads(s) | {s.left[1]})
    walk(m.body)
    walk(m.data)
    return out


def to_json(data):
    """Arrays as lists, NaN as null, whole numbers without a point."""
    def put(a):
        if np.ndim(a) == 0:
            v = float(a)
            return None if math.isnan(v) else \
                (int(v) if v == int(v) and abs(v) < 1e15 else v)
        return [put(x) for x in a]
    return {k: put(np.asarray(v)) for k, v in data.items()}
