"""Executes a notebook from top to bottom, and compares its outputs with the stored ones.

    python3 .ci/notebook.py NOTEBOOK           # fails if a cell raises, or an output differs
    python3 .ci/notebook.py NOTEBOOK --write   # stores the outputs

Needs nbclient and ipykernel. Outputs of cells with the tag "varies", such as times, are not compared.
"""

import argparse
import difflib
import json
import sys
from pathlib import Path

import nbformat
from jupyter_client import AsyncKernelManager
from nbclient import NotebookClient


class Kernel(AsyncKernelManager):
    """A kernel that opens no ports."""

    def __init__(self, **arguments: object) -> None:
        super().__init__(transport="ipc", **arguments)


def executed(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Return the notebook with the outputs of a new kernel."""
    notebook = nbformat.from_dict(json.loads(json.dumps(notebook)))
    NotebookClient(notebook, kernel_manager_class=Kernel, timeout=300, record_timing=False).execute()
    # The version of Python and its like.
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return notebook


def outputs(cell: nbformat.NotebookNode) -> list[str]:
    """Return the lines of the source and of the outputs of a cell."""
    written = {"source": cell.source, "outputs": cell.get("outputs", [])}
    return json.dumps(written, indent=1, ensure_ascii=False, sort_keys=True).replace("\\n", "\n").splitlines()


def main() -> int:
    """Run the command. Returns the exit code."""
    parser = argparse.ArgumentParser(description="Executes a notebook, and compares its outputs with the stored ones.")
    parser.add_argument("notebook", type=Path)
    parser.add_argument("--write", action="store_true", help="store the outputs")
    arguments = parser.parse_args()
    stored = nbformat.read(arguments.notebook, as_version=4)
    new = executed(stored)
    if arguments.write:
        nbformat.write(new, arguments.notebook)
        return 0
    differs = False
    for at, (before, after) in enumerate(zip(stored.cells, new.cells, strict=True)):
        if "varies" not in before.metadata.get("tags", []) and outputs(before) != outputs(after):
            differs = True
            names = (f"cell {at}, stored", f"cell {at}, executed")
            print("\n".join(difflib.unified_diff(outputs(before), outputs(after), *names, lineterm="")))
    if differs:
        print(f"{arguments.notebook}: outputs differ. `--write` stores the new ones.")
    return int(differs)


if __name__ == "__main__":
    sys.exit(main())
