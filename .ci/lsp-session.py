"""Holds one whole session with a language server, as an editor would: lsp-session.py LOG COMMAND...

Opens the log, waits for its error, asks for a hover and the code actions on it, has the text diagnosed on command,
types into the log, closes it, and shuts the server down. Fails when an answer is missing or the exit status is not 0.
"""

import json
import pathlib
import subprocess
import sys

ERROR = 1


class Server:
    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.last_id = 0

    def notify(self, method, params):
        self.send({"method": method, "params": params})

    def request(self, method, params):
        self.last_id += 1
        self.send({"id": self.last_id, "method": method, "params": params})
        answer = self.wait(lambda message: message.get("id") == self.last_id and "method" not in message)
        if "error" in answer:
            sys.exit(f"{method}: {answer['error']}")
        return answer["result"]

    def published(self, uri, version):
        """The diagnostics of one version of a document."""
        message = self.wait(
            lambda message: message.get("method") == "textDocument/publishDiagnostics"
            and message["params"]["uri"] == uri
            and message["params"].get("version", version) == version
        )
        return message["params"]["diagnostics"]

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self.process.stdin.flush()

    def wait(self, wanted):
        while True:
            message = self.receive()
            if wanted(message):
                return message
            if "id" in message and "method" in message:  # the server asks something: nothing to say
                self.send({"id": message["id"], "result": None})

    def receive(self):
        length = None
        while True:
            line = self.process.stdout.readline()
            if not line:
                sys.exit(f"the server ended: status {self.process.wait()}")
            if not line.strip():
                break
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        return json.loads(self.process.stdout.read(length))


def main():
    log, *command = sys.argv[1:]
    path = pathlib.Path(log).resolve()
    uri, text = path.as_uri(), path.read_bytes().decode("utf-8", "replace")
    document = {"uri": uri}
    server = Server(command)

    server.request("initialize", {
        "processId": None,
        "rootUri": path.parent.as_uri(),
        "capabilities": {"textDocument": {
            "publishDiagnostics": {"versionSupport": True},
            "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix"]}}},
        }},
    })
    server.notify("initialized", {})
    server.notify("textDocument/didOpen", {"textDocument": {**document, "languageId": "log", "version": 1, "text": text}})
    errors = [found for found in server.published(uri, 1) if found["severity"] == ERROR]
    if len(errors) != 1:
        sys.exit(f"{len(errors)} errors in {log}")
    error = errors[0]
    print(f"error: {error['message']}")

    if not server.request("textDocument/hover", {"textDocument": document, "position": error["range"]["start"]}):
        sys.exit("no hover on the error")
    if not server.request("textDocument/codeAction", {
        "textDocument": document, "range": error["range"], "context": {"diagnostics": [error]},
    }):
        sys.exit("no code action on the error")
    answer = server.request("workspace/executeCommand", {
        "command": "graphtrap.diagnose", "arguments": [{"text": text, "format": "markdown"}],
    })
    print(f"answer: {answer['rendered'].splitlines()[0]}")

    start = {"line": 0, "character": 0}
    server.notify("textDocument/didChange", {
        "textDocument": {**document, "version": 2},
        "contentChanges": [{"range": {"start": start, "end": start}, "text": "a new first line\n"}],
    })
    server.published(uri, 2)
    server.notify("textDocument/didClose", {"textDocument": document})
    server.request("shutdown", None)
    server.notify("exit", None)
    sys.exit(server.process.wait())


main()
