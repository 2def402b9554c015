"""Flags of entrants in the plan: guests, residents, an age band, a team's size."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; nobody had a flag before."""
    op.add_column("plan", sa.Column("flags", sa.String, nullable=False, server_default=""))
