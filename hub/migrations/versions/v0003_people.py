"""Who may log in, who is logged in, and what people did."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "people",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("role", sa.String, nullable=False),
        sa.Column("secret", sa.String),
        sa.Column("since_ms", sa.Integer, nullable=False),
        sa.UniqueConstraint("name", name="people_name"),
    )
    op.create_table(
        "sessions",
        sa.Column("digest", sa.String, primary_key=True),
        sa.Column("person", sa.Integer, sa.ForeignKey("people.id"), nullable=False),
        sa.Column("ends_ms", sa.Integer, nullable=False),
    )
    op.create_table(
        "deeds",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("at_ms", sa.Integer, nullable=False),
        sa.Column("by", sa.String, nullable=False),
        sa.Column("deed", sa.String, nullable=False),
        sa.Column("about", sa.String, nullable=False),
    )
