"""Alembic's entry point: run the revisions on the connection that the service hands over."""

from alembic import context
from sqlalchemy import Connection

from app.store.tables import DeclarativeTable


def run(connection: Connection) -> None:
    """Apply what is missing, within the caller's transaction."""
    context.configure(
        connection=connection, target_metadata=DeclarativeTable.metadata, render_as_batch=True
    )
    with context.begin_transaction():
        context.run_migrations()


run(context.config.attributes["connection"])
