"""Prose of documents and docstrings: lengths of sentences and lines, and words that are not used.

The violations of some folders, modules or pages, with file and line:

    .venv/bin/python tests/prose/test_prose.py hw/flashtrain/rtl/channel docs/design.md

Without arguments it lists how many each folder has. `HELD` names all that a reader meets.

Rules:

- A sentence, or its clause between semicolons, has at most 25 words, and begins with none of `OPENINGS`.
- The words in the last column of the tables in docs/glossary.md are not used.
- A line of a document has at most 120 characters; tables, code and the targets of links do not count.

Tables, headings, Members sections and indented text are no sentences, but their words are checked. A name in
`backquotes` is one word and is not checked, and neither is a block of code.
"""

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
ROOTS = ("hw", "sim", "sw")
GLOSSARY = "docs/glossary.md"
MAX_WORDS = 25
MAX_LINE = 120
OPENINGS = ("What", "Who", "Those", "That which")

HELD = ("README.md", "docs", "examples", "hw", "sim", "sw")


class Text(NamedTuple):
    """A paragraph, a row of a table or a heading."""

    line: int
    words: str  # with its line breaks; code is replaced by `CODE`
    sentences: bool


class Violation(NamedTuple):
    """A place in a file and what is wrong there."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"


CODE = "Code"


def plain(text: str) -> str:
    """Without markup; line breaks stay where they are."""
    text = re.sub(r":\w+:`([^`]*)`", "`x`", text)
    text = re.sub(r"``?[^`]+``?", lambda match: CODE + "\n" * match[0].count("\n"), text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"<https?:[^>]*>|https?://\S+", CODE, text)
    return text.replace("**", "").replace("*", "").replace("_", " ")


def page_texts(source: str) -> Iterator[Text]:
    """The texts of a Markdown page."""
    source = re.sub(r"<!--.*?-->", lambda match: "\n" * match[0].count("\n"), source, flags=re.DOTALL)
    paragraph: list[str] = []
    start, fenced = 0, None

    def end() -> Iterator[Text]:
        if paragraph:
            yield Text(start, plain("\n".join(paragraph)), True)
            paragraph.clear()

    for number, line in enumerate(source.split("\n"), 1):
        fence = re.match(r"\s*(```+|~~~+)", line)
        if fence or fenced:
            yield from end()
            if fence:
                fenced = None if fenced else fence[1]
            continue
        item = re.match(r"\s*([-*+]|\d+\.)\s+", line)
        if not line.strip():
            yield from end()
        elif re.match(r"\s*\||#", line):
            yield from end()
            yield Text(number, plain(line), False)
        elif not paragraph and not item and re.match(r" {4}", line):
            pass  # code
        else:
            if item:
                yield from end()
                line = line[item.end() :]
            if not paragraph:
                start = number
            paragraph.append(line)
    yield from end()


def docstring_texts(source: str) -> Iterator[Text]:
    """The texts of the docstrings of a module, its classes and its functions."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if ast.get_docstring(node, clean=False) is None:
            continue
        constant = node.body[0]
        assert isinstance(constant, ast.Expr)
        assert isinstance(constant.value, ast.Constant)
        yield from paragraphs(str(constant.value.value), constant.lineno)


def paragraphs(docstring: str, first: int) -> Iterator[Text]:
    lines = docstring.split("\n")
    later = [len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()]
    indent = min(later, default=0)
    numbered = [(first, lines[0]), *((first + i, line[indent:]) for i, line in enumerate(lines[1:], 1))]
    section = False
    block: list[tuple[int, str]] = []
    for number, line in [*numbered, (0, "")]:
        if line.strip():
            block.append((number, line))
            continue
        if block:
            section = len(block) > 1 and re.fullmatch(r"\s*-{3,}\s*", block[1][1]) is not None
            indented = block[0][1].startswith("  ")
            table = any("  " in line.strip() for _, line in block)
            for piece in [block] if section or indented or table else list(items(block)):
                text = plain("\n".join(line for _, line in piece))
                yield Text(piece[0][0], text, not (section or indented or table))
        block = []


def items(block: list[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
    """A paragraph, cut where an item of a list or indented text begins."""
    piece: list[tuple[int, str]] = []
    for number, line in block:
        item = re.match(r"\s*([-*+]|\d+\.)\s+", line)
        if item and piece:
            yield piece
            piece = []
        piece.append((number, line[item.end() :] if item else line))
    yield piece


class Sentence(NamedTuple):
    line: int
    text: str


def sentences(text: Text) -> Iterator[Sentence]:
    start = 0
    ends = [*re.finditer(r"[.!?]+[\")]*(?=\s+[^a-z\s])|:(?=\n\s{2,})", text.words), None]
    for end in ends:
        stop = end.end() if end else len(text.words)
        raw = text.words[start:stop]
        if raw.strip():
            before = text.words[:start].count("\n") + raw[: len(raw) - len(raw.lstrip())].count("\n")
            yield Sentence(text.line + before, " ".join(raw.split()))
        start = stop


def length(sentence: str) -> int:
    """Words of the longest clause between semicolons. A list of names behind a colon is no part of it."""
    return max(clause_length(clause) for clause in re.split(r";\s", sentence))


def clause_length(clause: str) -> int:
    head, colon, tail = clause.partition(": ")
    names = re.split(r", and |, or |, | and | or ", tail)
    if colon and len(names) >= 3 and all(len(name.split()) <= 6 for name in names):
        clause = head
    return sum(re.search(r"[^\W_]", word) is not None for word in clause.split())


def words_not_used() -> dict[str, str]:
    """Each word or phrase of the glossary's last columns, with the term that stands for it."""
    rows = re.findall(
        r"^\| ([^|]+) \| [^|]+ \| ([^|]+) \|$", (ROOT / GLOSSARY).read_text(encoding="utf-8"), re.MULTILINE
    )
    return {word: term for term, column in rows if column != "not" for word in column.split(", ")}


NOT_USED = words_not_used()
_NOT_USED = re.compile(rf"\b({'|'.join(sorted(NOT_USED, key=len, reverse=True))})\b", re.IGNORECASE)


def check_text(file: str, text: Text) -> Iterator[Violation]:
    for match in _NOT_USED.finditer(re.sub(r"\s", " ", text.words)):
        line = text.line + text.words[: match.start()].count("\n")
        yield Violation(file, line, f"not used: {match[0]!r}; say: {NOT_USED[match[0].lower()]}")
    if not text.sentences:
        return
    for sentence in sentences(text):
        if (words := length(sentence.text)) > MAX_WORDS:
            yield Violation(file, sentence.line, f"{words} words: {sentence.text[:60]}...")
        if re.match(rf"({'|'.join(OPENINGS)})\b", sentence.text):
            yield Violation(file, sentence.line, f"opening: {sentence.text[:60]}")


def check_page(file: str, source: str) -> Iterator[Violation]:
    if file == GLOSSARY:
        source = re.sub(r"^(\|[^|]+\|[^|]+\|)[^|]*\|$", r"\1", source, flags=re.MULTILINE)
    for text in page_texts(source):
        yield from check_text(file, text)
    fenced = False
    for number, line in enumerate(source.split("\n"), 1):
        fenced ^= line.lstrip().startswith("```")
        is_text = not fenced and not re.match(r"\s*\||#|    |<!--", line)
        if is_text and len(line) > MAX_LINE and len(plain(line)) > MAX_LINE:
            yield Violation(file, number, f"{len(line)} characters")


def check_module(file: str, source: str) -> Iterator[Violation]:
    for text in docstring_texts(source):
        yield from check_text(file, text)


def files(place: str) -> list[Path]:
    """The pages and modules of a folder, or the one that is named."""
    path = ROOT / place
    if path.is_file():
        return [path]
    return sorted([*path.rglob("*.py"), *path.rglob("*.md")])


def violations(place: str) -> list[Violation]:
    found: list[Violation] = []
    for path in files(place):
        check = check_page if path.suffix == ".md" else check_module
        found.extend(check(str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")))
    return sorted(found)


@pytest.mark.parametrize("place", HELD)
def test_is_clean(place):
    assert files(place), f"there is no {place}"
    found = violations(place)
    assert not found, "\n" + "\n".join(map(str, found))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("word\n" * 25 + "end.", "26 words"),
        ("The unit is idle. What it does is unknown.", "opening: What"),
        ("Fine.\n\nWho reads it.", "opening: Who"),
        ("- Fine\n- Those of the die.", "opening: Those"),
        ("The pages are\nannounced.", "'announced'; say: allocate"),
        ("# The clockwork", "'clockwork'"),
        ("| a | Patience |", "'Patience'; say: poll limit"),
        ("The agent\nknows it.", "'knows'; say: hold"),
        ("x" * 60 + " " + "x" * 60, "121 characters"),
    ],
)
def test_page_with_a_fault(source, message):
    (found,) = check_page("page.md", source)
    assert message in found.message


@pytest.mark.parametrize(
    "source",
    [
        "word\n" * 24 + "end. Another sentence.",
        "word\n" * 20 + "end; the next clause, with which it is longer.",
        "word\n" * 20 + "end: one, two of them, three, four, five and six.",
        "```\nWhat a clockwork\n```",
        "    What a clockwork",
        "## What it does",
        "`What.knows` is a name.",
        "[text](https://example.org/" + "x" * 120 + ")",
        "No clock is missing: one clock for all ports.",
    ],
)
def test_page_without(source):
    assert not [*check_page("page.md", source)]


MODULE = '''"""First line."""

class A:
    """The unit is idle.

    Its clockwork, in a paragraph
    that knows two lines.

    Members
    -------
    a : In(1)      {words}
    twin : Out(1)  the last

    What: {words}.
    """
'''


def test_docstrings():
    found = [*check_module("a.py", MODULE.format(words="word " * 26))]
    assert [violation.line for violation in found] == [6, 7, 12, 14, 14]
    assert [violation.message.split()[0] for violation in found] == ["not", "not", "not", "27", "opening:"]


def main(places: list[str]) -> int:
    if not places:
        folders = Counter(
            str(Path(violation.file).parent if violation.file.endswith(".py") else violation.file)
            for root in (*ROOTS, "docs", "README.md")
            for violation in violations(root)
        )
        for folder, number in sorted(folders.items()):
            print(f"{number:5} {folder}")
        return 0
    found = [violation for place in places for violation in violations(place)]
    print(*found, sep="\n")
    print(f"{len(found)} violations")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main([str(Path(argument).resolve().relative_to(ROOT)) for argument in sys.argv[1:]]))
