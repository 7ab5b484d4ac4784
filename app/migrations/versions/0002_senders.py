"""Who sent a diagnosis, and the token that deletes it."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("diagnoses", sa.Column("sender", sa.Text))
    op.add_column("diagnoses", sa.Column("token", sa.Text))


def downgrade() -> None:
    op.drop_column("diagnoses", "token")
    op.drop_column("diagnoses", "sender")
