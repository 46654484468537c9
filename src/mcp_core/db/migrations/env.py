"""Run by Alembic: takes the steps on the connection it is given, inside the transaction that is open there."""

from alembic import context

given = context.config.attributes
context.configure(connection=given["connection"], version_table=given["table"])
with context.begin_transaction():
    context.run_migrations()
