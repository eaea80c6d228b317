"""Typeset a report by typst. For long reports this runs as a separate program: JSON comes in, the PDF goes out.

typst keeps about 80 kB per row in memory for ten further documents; a separate process frees it at once. Nothing of
the project is imported here, so that the program starts quickly.
"""

import subprocess
import sys
from functools import cache
from pathlib import Path

import typst

HERE = Path(__file__).parent
#: Up to this number of cells a report is typeset in this process, which is quicker.
FEW_CELLS = 2_500
LONGEST_SECONDS = 600


class TypesettingError(RuntimeError):
    """typst did not make a PDF."""


@cache
def fonts() -> typst.Fonts:
    """Return the bundled fonts and no others, so that a report looks the same on every machine."""
    return typst.Fonts(include_system_fonts=False, include_embedded_fonts=False, font_paths=[HERE / "fonts"])


def pdf_of(content: str, made_at: int) -> bytes:
    """Typeset the content, which is JSON, as PDF/A. `made_at` is in seconds since 1970."""
    try:
        return typst.compile(
            HERE / "report.typ", font_paths=fonts(), sys_inputs={"report": content}, format="pdf",
            pdf_standards="a-2b", timestamp=made_at,
        )  # fmt: skip
    except typst.TypstError as error:
        raise TypesettingError(f"The PDF could not be made: {error.message}") from error


def pdf_by_child(content: str, made_at: int) -> bytes:
    """Typeset the content in a separate process."""
    command = [sys.executable, "-I", __file__, str(made_at)]
    child = subprocess.run(command, input=content.encode(), capture_output=True, timeout=LONGEST_SECONDS, check=False)
    if child.returncode:
        last = child.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise TypesettingError(f"The PDF could not be made: {last or f'exit code {child.returncode}'}")
    return child.stdout


if __name__ == "__main__":
    sys.stdout.buffer.write(pdf_of(sys.stdin.buffer.read().decode(), int(sys.argv[1])))
