"""Record options and overrides of runs"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply this revision."""
    for name in ("options", "overrides"):
        op.add_column("experiments", sa.Column(name, sa.JSON(), nullable=True))


def downgrade() -> None:
    """Undo this revision."""
    for name in ("overrides", "options"):
        op.drop_column("experiments", name)
