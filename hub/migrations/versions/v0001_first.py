"""The first shape: events, cursors, quarantine, meta, seats, plan."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "events",
        sa.Column("n", sa.Integer, primary_key=True),
        sa.Column("log", sa.String, nullable=False),
        sa.Column("seq", sa.Integer, nullable=False),
        sa.Column("device", sa.String, nullable=False),
        sa.Column("type", sa.String, nullable=False),
        sa.Column("run", sa.String),
        sa.Column("received_ms", sa.Integer, nullable=False),
        sa.Column("payload", sa.Text, nullable=False),
        sa.UniqueConstraint("log", "seq", name="events_identity"),
    )
    op.create_table(
        "cursors",
        sa.Column("log", sa.String, primary_key=True),
        sa.Column("device", sa.String, nullable=False),
        sa.Column("last_seq", sa.Integer, nullable=False),
    )
    op.create_table(
        "quarantine",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("received_ms", sa.Integer, nullable=False),
        sa.Column("topic", sa.String, nullable=False),
        sa.Column("device", sa.String, nullable=False),
        sa.Column("log", sa.String),
        sa.Column("seq", sa.Integer),
        sa.Column("reason", sa.String, nullable=False),
        sa.Column("payload", sa.LargeBinary, nullable=False),
        sa.Column("digest", sa.String, nullable=False),
        sa.UniqueConstraint("digest", name="quarantine_digest"),
    )
    op.create_table(
        "meta",
        sa.Column("key", sa.String, primary_key=True),
        sa.Column("value", sa.String, nullable=False),
    )
    op.create_table(
        "seats",
        sa.Column("table_no", sa.Integer, primary_key=True),
        sa.Column("device", sa.String, nullable=False),
        sa.UniqueConstraint("device", name="seats_device"),
    )
    op.create_table(
        "plan",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("heat", sa.String, nullable=False),
        sa.Column("order_no", sa.Integer, nullable=False),
        sa.Column("table_no", sa.Integer, nullable=False),
        sa.Column("entrant", sa.String),
        sa.Column("category", sa.String, nullable=False),
        sa.Column("public_name", sa.String, nullable=False),
    )
