"""What each ruling and each deed changed: before and after."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add them; of what was done before nobody knows."""
    op.create_table(
        "effects",
        sa.Column("log", sa.String, primary_key=True),
        sa.Column("seq", sa.Integer, primary_key=True),
        sa.Column("effects", sa.Text, nullable=False),
    )
    for name in ("was", "became"):
        op.add_column("deeds", sa.Column(name, sa.String, nullable=False, server_default=""))
