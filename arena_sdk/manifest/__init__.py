"""The training manifest: the published contract as models, one module a section.

It imports pydantic and PyYAML, nothing of the client. Start reading at `document.py` (the whole),
`sections.py` (which class judges which section) and `checking.py` (how); fields are in the module
of their section, and in `algorithms/`.
"""

from arena_sdk.manifest.document import TrainingManifest
from arena_sdk.manifest.problems import ManifestError, ManifestUnreadable, Problem

__all__ = ["ManifestError", "ManifestUnreadable", "Problem", "TrainingManifest"]
