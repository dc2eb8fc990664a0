"""Print the calls that Python's own parser sees in the files named on stdin.

One line a call: offset of the end of the called name, its line, whether a loop
of its function repeats it, the function, the name called, the numbers of
arguments by position and by keyword, and the full name of the function called
as far as imports tell. A file that Python does not read is reported as skipped.
"""
import ast
import re
import sys

BLANK = re.compile(rb"(?:[ \t\f\r\n]|\\\r?\n|#[^\r\n]*)*")
DOTTED = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*\Z")
LAST = re.compile(r"[^\W\d]\w*\Z")


class Calls(ast.NodeVisitor):
    def __init__(self, data, out):
        self.data, self.out = data, out
        self.function, self.loop = "-", False
        self.imports = {}
        self.starts = [0]
        for brk in re.finditer(rb"\r\n|\r|\n", data):
            self.starts.append(brk.end())
        self.mark = 3 if data.startswith(b"\xef\xbb\xbf") else 0

    def offset(self, line, column):
        return self.starts[line - 1] + column + (self.mark if line == 1 else 0)

    def within(self, loop, nodes):
        saved, self.loop = self.loop, loop
        for node in nodes:
            if node is not None:
                self.visit(node)
        self.loop = saved

    def visit_For(self, node):
        self.within(self.loop, [node.target, node.iter])
        self.within(True, node.body)
        self.within(self.loop, node.orelse)

    visit_AsyncFor = visit_For

    def visit_While(self, node):
        self.within(True, [node.test] + node.body)
        self.within(self.loop, node.orelse)

    def comprehension(self, node):
        first = node.generators[0]
        self.within(self.loop, [first.iter])
        if isinstance(node, ast.DictComp):
            self.within(True, [node.key, node.value])
        else:
            self.within(True, [node.elt])
        self.within(True, [first.target] + first.ifs)
        for rest in node.generators[1:]:
            self.within(True, [rest.target, rest.iter] + rest.ifs)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = comprehension

    def visit_FunctionDef(self, node):
        outer = [node.args, node.returns] + node.decorator_list + getattr(node, "type_params", [])
        self.within(self.loop, outer)
        saved, self.function = self.function, node.name
        self.within(False, node.body)
        self.function = saved

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_JoinedStr(self, node):
        pass

    visit_TemplateStr = visit_JoinedStr

    def visit_Import(self, node):
        for name in node.names:
            if name.asname:
                self.imports[name.asname] = name.name
            else:
                first = name.name.split(".")[0]
                self.imports[first] = first

    def visit_ImportFrom(self, node):
        for name in node.names:
            self.imports[name.asname or name.name] = (node.module or "") + "." + name.name

    def visit_Call(self, node):
        self.generic_visit(node)
        func = node.func
        if not isinstance(func, (ast.Name, ast.Attribute)):
            return
        end = self.offset(func.end_lineno, func.end_col_offset)
        after = BLANK.match(self.data, end).end()
        if self.data[after : after + 1] != b"(":
            return
        text = self.data[self.offset(func.lineno, func.col_offset) : end].decode()
        bare = re.sub(r"[ \t\f\r\n\\]|#[^\r\n]*", "", text)
        whole = DOTTED.match(bare) and bare.partition(".")[0] not in ("None", "True", "False")
        path = bare if whole else "?." + LAST.search(text).group()
        full = "-"
        if whole:
            first, dot, rest = path.partition(".")
            full = self.imports.get(first, first if first == "torch" else "?") + dot + rest
            full = full.replace("torch.cuda.graphs.", "torch.cuda.")
        by_position = len(node.args)
        self.out.write(
            f"{end} {func.end_lineno} {int(self.loop)} {self.function} {path} {by_position} {len(node.keywords)} {full}\n"
        )


def main():
    sys.setrecursionlimit(20000)
    import warnings

    warnings.simplefilter("ignore")
    for path in sys.stdin.read().splitlines():
        with open(path, "rb") as file:
            data = file.read()
        try:
            data.decode()
            tree = ast.parse(data)
        except (SyntaxError, ValueError, RecursionError):
            print("skip", path)
            continue
        print("file", path)
        Calls(data, sys.stdout).visit(tree)


main()
