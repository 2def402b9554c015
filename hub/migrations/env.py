"""Runs the migrations on the connection the store gives; there is no alembic.ini and no command line."""

from __future__ import annotations

from alembic import context

context.configure(connection=context.config.attributes["connection"])
with context.begin_transaction():
    context.run_migrations()
