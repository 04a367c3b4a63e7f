"""`python -m arena_sdk.cli`: our `arena`, whichever program of that name is first on PATH."""

from arena_sdk.cli import main

main()
