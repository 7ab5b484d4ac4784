"""`gradmend reports`: the answers that people have called wrong."""

from __future__ import annotations

from app.present.visible import visible
from app.settings import Settings
from app.store import Complaints, Database


async def print_reports(settings: Settings) -> int:
    """Print every report with its result's address, newest first; how many there are."""
    database = Database(settings.store_url)
    await database.open()
    try:
        complaints = await Complaints(database).every()
    finally:
        await database.close()
    base = settings.public_url or "http://127.0.0.1:8000"
    for one in complaints:
        print(f"{one.at:%Y-%m-%d %H:%M}  {base}/d/{one.diagnosis_id}")
        print(visible("".join(f"    {line}\n" for line in one.text.splitlines())), end="")
    print(f"{len(complaints)} reported.")
    return 0
