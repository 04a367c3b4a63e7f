"""Runs revisions on the engine that `Database.migrate` hands over."""

from alembic import context

from arena_sdk.local.store.models import Base

engine = context.config.attributes["engine"]
with engine.connect() as connection:
    context.configure(connection=connection, target_metadata=Base.metadata, render_as_batch=True)
    with context.begin_transaction():
        context.run_migrations()
    connection.commit()
