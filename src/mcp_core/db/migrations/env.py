"""Run by Alembic: applies the migrations on the connection it is given, inside the transaction open there."""

from alembic import context

attributes = context.config.attributes
context.configure(connection=attributes["connection"], version_table=attributes["table"])
with context.begin_transaction():
    context.run_migrations()
