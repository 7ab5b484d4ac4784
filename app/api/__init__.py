"""The HTTP contract, v1: thin routes over `app.service.Service`."""

from __future__ import annotations

from fastapi import APIRouter

from app.api import catalogue, diagnoses, operations, streams, tracer, verifications

router = APIRouter()
for part in (diagnoses, streams, verifications, catalogue, operations, tracer):
    router.include_router(part.router)

__all__ = ["router"]
