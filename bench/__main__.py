"""`make bench`: run every benchmark in a temporary home and keep the figures as JSON under the home folder."""

import dataclasses
import json
import shutil
import sys
import tempfile
from pathlib import Path

from bench.desk import incidents, precedents, reports
from bench.measure import show
from bench.reconciliation import reconcile
from bench.rounds import arrivals, live, posts, recording
from bench.site import guessing, slow_bodies, start, web
from taisai_backoffice.embedded.home import Home

BENCHMARKS = {
    "start": start, "web": web, "recording": recording, "posts": posts, "live": live, "reconcile": reconcile,
    "arrivals": arrivals, "incidents": incidents, "precedents": precedents, "guessing": guessing,
    "reports": reports,
    "slow_bodies": slow_bodies,
}  # fmt: skip


def main(names: list[str]) -> int:
    if unknown := set(names) - BENCHMARKS.keys():
        sys.exit(f"There is no benchmark {min(unknown)}; choose from {', '.join(BENCHMARKS)}.")
    figures, is_kept = {}, True
    for name in names or BENCHMARKS:
        folder = Path(tempfile.mkdtemp(prefix="taisai-bench-"))
        folder.chmod(0o755)
        try:
            rows = BENCHMARKS[name].run(Home(folder / "home"))
        finally:
            shutil.rmtree(folder)
        show(BENCHMARKS[name].TITLE, rows)
        figures[name] = [dataclasses.asdict(row) for row in rows]
        is_kept &= all(row.is_kept for row in rows)
    kept = Home.from_environment().folder("bench") / "figures.json"
    kept.write_text(json.dumps(figures, indent=1))
    print(f"\nKept in {kept}")
    return 0 if is_kept else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
