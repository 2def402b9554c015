"""The hub's tables as SQLAlchemy sees them, and how a SQLite file with them is opened."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import (
    URL,
    Column,
    Connection,
    Engine,
    ForeignKey,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    create_engine,
    event,
)
from sqlalchemy.exc import DatabaseError
from sqlalchemy.pool import ConnectionPoolEntry

from hub.backup import BackupFailed, backups_of, is_gone, keep_backup
from shared.clock import wall_ms

MIGRATIONS: Final = Path(__file__).parent / "migrations"
#: Execution option of connections that will write.
WRITES: Final = "timer_hub_writes"

metadata = MetaData()

#: Every event, devices' and the hub's own; `n` is the order in which they were committed.
events = Table(
    "events",
    metadata,
    Column("n", Integer, primary_key=True),
    Column("log", String, nullable=False),
    Column("seq", Integer, nullable=False),
    Column("device", String, nullable=False),
    Column("type", String, nullable=False),
    Column("run", String),
    Column("received_ms", Integer, nullable=False),
    Column("payload", Text, nullable=False),
    UniqueConstraint("log", "seq", name="events_identity"),
)
#: How far each log is committed, and whose it is.
cursors = Table(
    "cursors",
    metadata,
    Column("log", String, primary_key=True),
    Column("device", String, nullable=False),
    Column("last_seq", Integer, nullable=False),
)
#: Foreign bytes kept aside; `digest` recognises the same thing sent again.
quarantine = Table(
    "quarantine",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("received_ms", Integer, nullable=False),
    Column("topic", String, nullable=False),
    Column("device", String, nullable=False),
    Column("log", String),
    Column("seq", Integer),
    Column("reason", String, nullable=False),
    Column("payload", LargeBinary, nullable=False),
    Column("digest", String, nullable=False),
    UniqueConstraint("digest", name="quarantine_digest"),
)
meta = Table(
    "meta",
    metadata,
    Column("key", String, primary_key=True),
    Column("value", String, nullable=False),
)
#: Which device stands on which table; a device has one seat.
seats = Table(
    "seats",
    metadata,
    Column("table_no", Integer, primary_key=True),
    Column("device", String, nullable=False),
    UniqueConstraint("device", name="seats_device"),
)
plan = Table(
    "plan",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("heat", String, nullable=False),
    Column("order_no", Integer, nullable=False),
    Column("table_no", Integer, nullable=False),
    Column("entrant", String),
    Column("category", String, nullable=False),
    Column("public_name", String, nullable=False),
    Column("flags", String, nullable=False, server_default=""),
)
#: Who may log in. A judge who is dismissed stays, for the names in the audit.
people = Table(
    "people",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String, nullable=False),
    Column("role", String, nullable=False),
    Column("secret", String),
    Column("since_ms", Integer, nullable=False),
    UniqueConstraint("name", name="people_name"),
)
#: Who is logged in; of the token in a browser's cookie only a digest is kept.
sessions = Table(
    "sessions",
    metadata,
    Column("digest", String, primary_key=True),
    Column("person", Integer, ForeignKey("people.id"), nullable=False),
    Column("ends_ms", Integer, nullable=False),
)
#: What people did that is no event of a log: logins, judges let in, plans loaded; before and after, if any.
deeds = Table(
    "deeds",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("at_ms", Integer, nullable=False),
    Column("by", String, nullable=False),
    Column("deed", String, nullable=False),
    Column("about", String, nullable=False),
    Column("was", String, nullable=False, server_default=""),
    Column("became", String, nullable=False, server_default=""),
)
#: What a ruling of a hub's log changed, as JSON.
effects = Table(
    "effects",
    metadata,
    Column("log", String, primary_key=True),
    Column("seq", Integer, primary_key=True),
    Column("effects", Text, nullable=False),
)


class StoreUnusable(Exception):
    """The database file cannot be used at all; says why and what to do."""


def open_engine(path: Path, busy_ms: int) -> Engine:
    """An engine on the migrated database at `path`, made when there was never one. Raises StoreUnusable."""
    if is_gone(path):
        raise StoreUnusable(
            f"{path} is missing or empty, but there are backups of it: timer-hub restore brings back the newest; "
            f"only if a new, empty one is meant: mv {backups_of(path)} {backups_of(path)}-old"
        )
    engine = create_engine(URL.create("sqlite", database=str(path)))

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _entry: ConnectionPoolEntry) -> None:
        connection.isolation_level = None  # BEGIN is said below, not guessed by the driver
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {busy_ms}")
        cursor.execute("PRAGMA journal_mode = WAL")
        # an acknowledged event must survive a power cut: NORMAL loses the last commits of the WAL
        cursor.execute("PRAGMA synchronous = FULL")
        cursor.execute("PRAGMA foreign_keys = ON")
        # what is deleted or overwritten is gone from the file too: a name that is to be forgotten
        cursor.execute("PRAGMA secure_delete = ON")
        cursor.close()

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # a transaction that turns to writing later could find the database changed, and fail
        writes = connection.get_execution_options().get(WRITES, False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    try:
        with engine.connect().execution_options(**{WRITES: True}) as connection, connection.begin():
            _migrate(connection, path)
    except DatabaseError as error:
        engine.dispose()
        raise StoreUnusable(f"{path} cannot be used as the hub's database: {error.orig}") from error
    except BackupFailed as error:
        engine.dispose()
        raise StoreUnusable(
            f"a new version of the hub changes {path}, and not without a backup: {error}"
        ) from error
    except CommandError as error:
        engine.dispose()
        raise StoreUnusable(
            f"{path} was made by another version of the hub ({error}): install that version, or a newer one"
        ) from error
    return engine


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


def _migrate(connection: Connection, path: Path) -> None:
    """Bring the database to the newest shape, with a backup of the old one. Raises BackupFailed."""
    config = _config()
    config.attributes["connection"] = connection
    scripts = ScriptDirectory.from_config(config)
    shape = MigrationContext.configure(connection).get_current_revision()
    if shape is not None and shape != scripts.get_current_head():
        scripts.get_revision(shape)  # of a newer version: told at once, and no backup pushes out another
        keep_backup(path, f"before {shape} changes", wall_ms)
    command.upgrade(config, "head")


def known_shapes() -> frozenset[str]:
    """The shapes of databases that this version can open."""
    return frozenset(script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions())
