"""Measures the memory that a dataset takes while it is uploaded, kept and checked.

    python tests/benchmarks/dataset_memory.py [--gb 0.25 1] [--kinds csv parquet shards]

For each size and kind a file of random sentences is made, then uploaded with the client to an
Arena started for it. Printed are the time, and the most memory (resident, MB) of the server, of
the worker that checks, and of this client. The bounds: each below 300 MB, and the largest size
takes no more than the smallest by 60 MB. Exits 1 when one is missed. The disk needs three times
the largest size; TMPDIR says where.
"""

from __future__ import annotations

import argparse
import csv
import random
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).parents[2]))

from arena_sdk import ArenaClient
from tests.local.conftest import ArenaServer, end_arena, start_arena

MOST_MB, GROWTH_MB = 300.0, 60.0
SAMPLE_SECONDS = 0.05
ROWS = 2_000
SHARDS = 4
MAPPING = {"question": "question", "answer": "answer"}
Peaks = dict[str, float]


def sentences(draw: random.Random, words: list[str]) -> tuple[str, str]:
    """Return a question of about 1 kB, with commas and quotes, and a short answer."""
    text = " ".join(draw.choices(words, k=150))
    return f'{text}, "{draw.random()}"?\nThink well.', str(draw.randrange(10**6))


def batches(size: int) -> Iterator[list[tuple[str, str]]]:
    """Yield rows until they hold a number of bytes."""
    draw = random.Random(0)
    words = ["".join(draw.choices("abcdefghijklmnop", k=5)) for _ in range(5_000)]
    made = 0
    while made < size:
        rows = [sentences(draw, words) for _ in range(200)]
        made += ROWS // 200 * sum(len(question) + len(answer) for question, answer in rows)
        yield rows * (ROWS // 200)  # drawing words anew for every row takes the most time


def write_csv(path: Path, size: int) -> Path:
    """Write a CSV file of about a size in bytes."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("question", "answer"))
        for rows in batches(size):
            writer.writerows(rows)
    return path


def write_parquet(path: Path, size: int) -> Path:
    """Write an uncompressed Parquet file of about a size in bytes, in a few large row groups."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema({"question": pa.string(), "answer": pa.string()})
    with pq.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
        held: list[tuple[str, str]] = []
        for rows in batches(size):
            held += rows
            if len(held) >= 100_000:
                writer.write_table(pa.table([*map(list, zip(*held, strict=True))], schema=schema))
                held = []
        if held:
            writer.write_table(pa.table([*map(list, zip(*held, strict=True))], schema=schema))
    return path


def write_shards(path: Path, size: int) -> Path:
    """Write a folder of Parquet shards."""
    path.mkdir()
    for number in range(SHARDS):
        write_parquet(path / f"train-{number:05}-of-{SHARDS:05}.parquet", size // SHARDS)
    return path


WRITERS: dict[str, Callable[[Path, int], Path]] = {
    "csv": write_csv,
    "parquet": write_parquet,
    "shards": write_shards,
}
ENDINGS = {"csv": ".csv", "parquet": ".parquet", "shards": ""}


@contextmanager
def watching(server: ArenaServer) -> Iterator[Peaks]:
    """Sample resident memory, in MB, of the server, its workers and this process."""
    peaks = dict.fromkeys(("server", "worker", "client"), 0.0)
    ended = threading.Event()

    def sample() -> None:
        own, serving = psutil.Process(), psutil.Process(server.pid)
        while not ended.wait(SAMPLE_SECONDS):
            with suppress(psutil.Error):
                working = sum(rss(child) for child in serving.children(recursive=True))
                now = {"server": rss(serving), "worker": working, "client": rss(own)}
                peaks.update({who: max(peaks[who], now[who]) for who in peaks})

    thread = threading.Thread(target=sample)
    thread.start()
    try:
        yield peaks
    finally:
        ended.set()
        thread.join()


def rss(process: psutil.Process) -> float:
    """Return a process's resident memory in MB; 0 when it is gone."""
    with suppress(psutil.Error):
        return float(process.memory_info().rss) / 1e6
    return 0.0


def measured(kind: str, size: int, folder: Path) -> Peaks:
    """Make a dataset, upload it, and print and return what that took."""
    # In a process of its own: what writing takes must not count as the client's.
    import multiprocessing

    source = folder / f"made{ENDINGS[kind]}"
    writing = multiprocessing.get_context("spawn").Process(
        target=WRITERS[kind], args=(source, size)
    )
    writing.start()
    writing.join()
    server = start_arena(folder / "arena")
    try:
        with ArenaClient(base_url=server.base_url, api_key=server.token) as client:
            client.list_datasets()
            begun = time.perf_counter()
            with watching(server) as peaks:
                made = client.create_dataset(
                    name="big", category="reasoning", column_mapping=MAPPING, file=source
                )
            seconds = time.perf_counter() - begun
    finally:
        end_arena(server)
    told = ", ".join(f"{who} {peak:.0f} MB" for who, peak in peaks.items())
    print(
        f"{kind:8} {float(made.size_mb or 0) / 1e3:.2f} GB, {made.num_rows:,} rows:"
        f" {seconds:.1f} s; most memory: {told}",
        flush=True,
    )
    return peaks


def main() -> int:
    """Measure; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--gb", type=float, nargs="+", default=[0.25, 1.0])
    parser.add_argument("--kinds", nargs="+", choices=list(WRITERS), default=list(WRITERS))
    asked = parser.parse_args()
    missed = False
    for kind in asked.kinds:
        by_size = []
        for gigabytes in sorted(asked.gb):
            folder = Path(tempfile.mkdtemp(prefix="arena-dataset-"))
            try:
                by_size.append(measured(kind, int(gigabytes * 1e9), folder))
            finally:
                shutil.rmtree(folder, ignore_errors=True)
        grown = max(by_size[-1][who] - by_size[0][who] for who in by_size[0])
        missed |= grown > GROWTH_MB or any(peak > MOST_MB for p in by_size for peak in p.values())
        print(f"{kind:8} grew by {grown:.0f} MB", flush=True)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
