"""A digest of the request, stored with results that answer the same request again."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("diagnoses", sa.Column("digest", sa.Text))
    op.create_index("ix_diagnoses_digest", "diagnoses", ["digest"])


def downgrade() -> None:
    op.drop_index("ix_diagnoses_digest", "diagnoses")
    op.drop_column("diagnoses", "digest")
