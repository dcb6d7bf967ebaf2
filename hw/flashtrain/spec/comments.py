"""Comments of this package beside the names that they explain: the text of header and reference."""

import ast
import inspect
import io
import tokenize
from functools import cache


@cache
def comments(kind: type) -> dict[str, str]:
    """The comment beside each name that the class body of `kind` assigns; "" where there is none."""
    source = inspect.cleandoc("\n" + inspect.getsource(kind))
    by_line = {
        token.start[0]: token.string.lstrip("# ")
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    }
    body = ast.parse(source).body[0]
    assert isinstance(body, ast.ClassDef)
    found: dict[str, str] = {}
    for statement in body.body:
        if isinstance(statement, ast.Assign) and statement.end_lineno is not None:
            lines = range(statement.lineno, statement.end_lineno + 1)
            comment = " ".join(by_line[line] for line in lines if line in by_line)
            for target in statement.targets:
                found[ast.unparse(target)] = comment
    return found


def first_paragraph(kind: type) -> str:
    """The first paragraph of the docstring of `kind`, on one line."""
    return " ".join((inspect.getdoc(kind) or "").partition("\n\n")[0].split())
