"""Checks that the code blocks of documents are excerpts of files that CI runs.

    python3 .ci/excerpts.py docs/CLIENTS.md

The line before each block is `<!-- from: PATH -->`. The lines of the block must occur in that file one after another,
with any indentation.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def stripped(text):
    """Returns the lines without their indentation, each with a line break before and after it."""
    return "\n" + "".join(line.strip() + "\n" for line in text.splitlines())


def faults(document):
    """Yields a sentence for each block that is no excerpt."""
    text = (ROOT / document).read_text()
    blocks = list(re.finditer(r"^(?:<!-- from: (\S+) -->\n)?```\w+\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    if not blocks:
        yield f"{document}: no code blocks"
    for block in blocks:
        path, lines = block.groups()
        number = text.count("\n", 0, block.start()) + 1
        if path is None:
            yield f"{document}:{number}: no `<!-- from: PATH -->` before the block"
        elif stripped(lines) not in stripped((ROOT / path).read_text()):
            yield f"{document}:{number}: not an excerpt of {path}"


def main():
    """Prints the faults of all documents."""
    found = [fault for document in sys.argv[1:] for fault in faults(document)]
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
