"""Reading a dataset takes memory that does not grow with its size."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

READ = """
import sys
from pathlib import Path
from arena_sdk.local.datasets.reading import read
path = Path(sys.argv[1])
table = read(path.parent, [path.name], path.suffix[1:], ["q", "a"])
peak = next(l for l in open("/proc/self/status") if l.startswith("VmHWM"))
print(table.num_rows, int(peak.split()[1]) // 1024)
"""
SMALL, LARGE = 2_000, 80_000
ROW = "x" * 1_000


def write(path: Path, rows: int) -> Path:
    if path.suffix == ".csv":
        with path.open("w") as file:
            file.write("q,a\n")
            file.writelines(f"{n} {ROW},{n}\n" for n in range(rows))
        return path
    columns = {"q": [f"{n} {ROW}" for n in range(rows)], "a": ["x"] * rows}
    pq.write_table(pa.table(columns), path, compression="none", use_dictionary=False)
    return path


def peak_mb(path: Path, rows: int) -> int:
    """Read in a process of its own; return its peak of resident memory in MiB."""
    words = [sys.executable, "-c", READ, str(write(path, rows))]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=True)
    counted, peak = map(int, done.stdout.split())
    assert counted == rows
    return peak


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="Linux tells the peak")
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_memory_does_not_grow_with_the_file(tmp_path: Path, ending: str) -> None:
    small = peak_mb(tmp_path / f"small.{ending}", SMALL)
    large = peak_mb(tmp_path / f"large.{ending}", LARGE)  # 80 MB
    assert large < small + 50
    assert large < 300
