#!/usr/bin/env bash
# gbmc --lsp: a conversation as an editor has it: diagnostics at their places as
# the text changes, what the library says of names, completion, and what is no
# request.
source "$GBM_ROOT/tests/cli/lib"
cat >talk.py <<'E'
import json, os, subprocess, sys
server = subprocess.Popen([os.environ["GBMC"], "--lsp"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE)
number = 0

def post(**message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    server.stdin.write(b"Content-Length: %d\r\nContent-Type: x\r\n\r\n" % len(body))
    server.stdin.write(body)
    server.stdin.flush()

def receive():
    length = 0
    while (line := server.stdout.readline().strip()):
        key, value = line.split(b":")
        length = int(value) if key == b"Content-Length" else length
    return json.loads(server.stdout.read(length))

def ask(method, **params):
    global number
    number += 1
    post(id=number, method=method, params=params)
    reply = receive()
    assert reply["id"] == number and reply["jsonrpc"] == "2.0", reply
    return reply.get("result", reply.get("error"))

def told(method, **params):
    post(method=method, params=params)
    reply = receive()
    assert reply["method"] == "textDocument/publishDiagnostics", reply
    return reply["params"]

def place(line, character):
    return {"line": line, "character": character}

can = ask("initialize", processId=None, capabilities={})["capabilities"]
assert can["hoverProvider"] is True and can["textDocumentSync"] == 1, can
assert "completionProvider" in can
post(method="initialized", params={})

# Diagnostics, with several; columns are UTF-16 units, as beside an emoji
uri = "file://" + os.getcwd() + "/a%20model.gbm"
text = """model {
  /* \U0001F600 */ y ~ dnrm(mu, 1)
  x ~ dnorm(0)
}
"""
said = told("textDocument/didOpen",
            textDocument={"uri": uri, "languageId": "gbm", "version": 1, "text": text})
assert said["uri"] == uri
first, second = said["diagnostics"]
assert "unknown distribution dnrm; did you mean dnorm?" in first["message"], first
assert first["severity"] == 1 and first["source"] == "gbmc"
assert first["range"]["start"] == place(1, 15), first
assert first["range"]["end"] == place(1, 26), first
assert second["range"]["start"] == place(2, 6), second

def change(text):
    return told("textDocument/didChange", textDocument={"uri": uri, "version": 2},
                contentChanges=[{"text": text}])["diagnostics"]

good = "model {\n  y ~ dnorm(mu, 1)\n  mu ~ normal(0, 1)\n  p.rate <- exp(mu)\n}\n"
assert change(good) == []
open_brace = change("model {\n  y ~ dnorm(mu, 1\n")
assert open_brace and all(d["range"]["start"]["line"] <= 2 for d in open_brace)
[nothing] = change("x")[:1]
assert nothing["severity"] == 1 and nothing["range"]["start"]["line"] == 0
cycle = change("model { a <- b\n b <- a\n y ~ dnorm(a, 1) }")
assert cycle and cycle[0]["severity"] == 1, cycle   # of a later pass

# An import beside the document
with open("mine.gbm", "w") as f:
    f.write("distribution mine(s) {\n  support real(0, inf)\n"
            "  logdensity -x / s - log(s)\n}\n")
imported = 'import "mine.gbm"\nmodel { y ~ mine(s)  s ~ dexp(1) }\n'
assert [d for d in change(imported) if d["severity"] == 1] == []
assert change(imported.replace("mine.gbm", "none.gbm"))[0]["severity"] == 1

# Hover: what the library says; of others nothing
assert change(good) == []
def hover(line, character):
    return ask("textDocument/hover", textDocument={"uri": uri},
               position=place(line, character))
about = hover(1, 8)["contents"]
assert about["kind"] == "markdown"
assert about["value"].startswith("```gbm\ndistribution dnorm(mu, tau)"), about
assert "logdensity" in about["value"]
assert hover(3, 13)["contents"]["value"].startswith("```gbm\nfunction exp(x)")
assert hover(2, 3) is None and hover(40, 2) is None

# Completion: the library's names and the text's
items = ask("textDocument/completion", textDocument={"uri": uri},
            position=place(1, 3))
kinds = {i["label"]: i["kind"] for i in items}
assert kinds["dnorm"] == kinds["dgamma"] == kinds["exp"] == 3
assert kinds["mu"] == kinds["p.rate"] == 6, kinds
assert "rate" not in kinds
assert next(i for i in items if i["label"] == "dgamma")["detail"] \
    .startswith("dgamma(r, lambda)")

assert ask("no/such", a=1)["code"] == -32601
post(method="$/cancelRequest", params={"id": 3})    # is passed over
closed = told("textDocument/didClose", textDocument={"uri": uri})
assert closed["diagnostics"] == []
assert ask("textDocument/hover", textDocument={"uri": uri}, position=place(1, 8)) is None
assert ask("shutdown") is None
assert ask("textDocument/hover", textDocument={"uri": uri},
           position=place(1, 8))["code"] == -32600
post(method="exit")
assert server.wait(10) == 0
assert server.stdout.read() == b""
E
python3 talk.py || fail 'the conversation'
# what is no message ends it, and so does the end of the input
printf 'Content-Length: 5\r\n\r\n{"a":' >broken
"$GBMC" --lsp <broken >.out 2>.err && fail 'status of a broken message'
"$GBMC" --lsp </dev/null >.out 2>.err && fail 'status without shutdown'
[ -z "$(ls | grep -v -e talk.py -e mine.gbm -e broken)" ] || fail 'something was left behind'
