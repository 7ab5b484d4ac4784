"""What was asked for: a diagnosis, or a verification of a change."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    kind = sa.Column("kind", sa.Text, nullable=False, server_default="diagnosis")
    op.add_column("diagnoses", kind)


def downgrade() -> None:
    op.drop_column("diagnoses", "kind")
