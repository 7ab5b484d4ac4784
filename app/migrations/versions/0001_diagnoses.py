"""Diagnoses, their events, idempotency keys, and what workers report."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "diagnoses",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("expires_at", MOMENT, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("request", sa.Text, nullable=False),
        sa.Column("result", sa.Text),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("lease_until", MOMENT),
        sa.Column("finished_at", MOMENT),
    )
    op.create_index("ix_diagnoses_expires_at", "diagnoses", ["expires_at"])
    op.create_index("ix_diagnoses_status", "diagnoses", ["status", "created_at"])
    op.create_table(
        "events",
        sa.Column(
            "seq",
            sa.BigInteger().with_variant(sa.Integer, "sqlite"),
            primary_key=True,
            autoincrement=True,
        ),
        _owner(),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("data", sa.Text, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_events_diagnosis", "events", ["diagnosis_id", "seq"])
    op.create_table(
        "idempotency_keys",
        sa.Column("key", sa.Text, primary_key=True),
        _owner(),
        sa.Column("digest", sa.Text, nullable=False),
    )
    op.create_index("ix_idempotency_keys_diagnosis_id", "idempotency_keys", ["diagnosis_id"])
    op.create_table(
        "workers",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("seen_at", MOMENT, nullable=False),
        sa.Column("readiness", sa.Text, nullable=False),
    )


def downgrade() -> None:
    for table in ("workers", "idempotency_keys", "events", "diagnoses"):
        op.drop_table(table)


def _owner() -> sa.Column[str]:
    return sa.Column(
        "diagnosis_id",
        sa.Text,
        sa.ForeignKey("diagnoses.id", ondelete="CASCADE"),
        nullable=False,
    )
