"""What people say is wrong with results."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "complaints",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer, "sqlite"),
            primary_key=True,
            autoincrement=True,
        ),
        sa.Column(
            "diagnosis_id",
            sa.Text,
            sa.ForeignKey("diagnoses.id", ondelete="CASCADE"),
            nullable=False,
        ),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("text", sa.Text, nullable=False),
    )
    op.create_index("ix_complaints_diagnosis_id", "complaints", ["diagnosis_id"])


def downgrade() -> None:
    op.drop_table("complaints")
