"""The store, on both databases: accepting, fencing, reading, forgetting."""

from __future__ import annotations

import asyncio

import pytest
from sqlalchemy import update

from app.change_schemas import ChangeFindings, ChangeRequest, ProjectVersion
from app.schemas import DiagnosisRequest, Findings
from app.store import Attempts, Claim, Database, Key, KeyTakenError, Store
from app.store.attempts import StoredStatus
from app.store.request_kinds import DIAGNOSIS, VERIFICATION
from app.store.tables import DiagnosisRow

REQUEST = DiagnosisRequest(script="print('größer')\r\n", filename="a.py")
NOTE = StoredStatus(status="noted")


@pytest.fixture
def store(database: Database) -> Store:
    return Store(database, retention_days=1)


@pytest.fixture
def attempts(database: Database) -> Attempts:
    return Attempts(database, lease_s=30)


async def claimed(attempts: Attempts, diagnosis_id: str) -> Claim:
    claim = await attempts.claim(diagnosis_id)
    assert claim is not None
    return claim


async def test_request_comes_back_as_it_was_sent(store: Store, attempts: Attempts) -> None:
    diagnosis_id = await store.create(REQUEST)
    claim = await claimed(attempts, diagnosis_id)
    assert claim.request == REQUEST
    assert await store.request(diagnosis_id) == REQUEST


async def test_kinds_of_requests_are_kept_apart(store: Store, attempts: Attempts) -> None:
    version = ProjectVersion(filename="a.py", script="pass")
    change = ChangeRequest(before=version, after=version)
    change_id, diagnosis_id = await store.create(change), await store.create(REQUEST)
    claim = await claimed(attempts, change_id)
    assert (claim.kind, claim.request) == (VERIFICATION, change)
    assert await store.get(change_id) is None
    assert await store.request(change_id) is None
    assert await store.asked(change_id, VERIFICATION) == change
    assert await store.answer(diagnosis_id, VERIFICATION) is None
    findings = ChangeFindings(verdict="same", summary="equal")
    assert await attempts.finish(claim, "done", findings, "digest")
    answer = await store.answer(change_id, VERIFICATION)
    assert answer is not None
    assert (answer.verdict, answer.url) == ("same", f"/v/{change_id}")
    assert await attempts.known("digest", VERIFICATION) == findings
    assert await attempts.known("digest", DIAGNOSIS) is None


async def test_ids_hold_128_random_bits(store: Store) -> None:
    ids = [await store.create(REQUEST) for _ in range(5)]
    assert len(set(ids)) == 5
    assert all(len(diagnosis_id) == 22 for diagnosis_id in ids)


async def test_only_one_of_many_claims_succeeds(store: Store, attempts: Attempts) -> None:
    diagnosis_id = await store.create(REQUEST)
    claims = await asyncio.gather(*(attempts.claim(diagnosis_id) for _ in range(8)))
    assert sum(claim is not None for claim in claims) == 1


async def test_lapsed_lease_can_be_claimed_and_outdates_the_first(
    database: Database, store: Store
) -> None:
    slow = Attempts(database, lease_s=-1)
    diagnosis_id = await store.create(REQUEST)
    first = await claimed(slow, diagnosis_id)
    assert await store.unattended() == [diagnosis_id]
    second = await claimed(slow, diagnosis_id)
    assert second.attempt == first.attempt + 1

    assert not await slow.renew(first)
    assert not await slow.record(first, ("progress", NOTE))
    assert not await slow.finish(first, "done", Findings(summary="stale"))
    assert not await slow.hand_back(first)
    assert await slow.record(second, ("progress", NOTE))
    assert await slow.finish(second, "done", Findings(summary="fresh", verdict="healthy"))
    diagnosis = await store.get(diagnosis_id)
    assert diagnosis is not None
    assert (diagnosis.status, diagnosis.summary) == ("done", "fresh")


async def test_result_is_written_once(store: Store, attempts: Attempts) -> None:
    diagnosis_id = await store.create(REQUEST)
    claim = await claimed(attempts, diagnosis_id)
    written = [await attempts.finish(claim, "done", Findings(summary=str(n))) for n in range(2)]
    assert written == [True, False]
    assert await attempts.claim(diagnosis_id) is None
    assert [event.kind for event in await store.events(diagnosis_id)].count("done") == 1


async def test_handed_back_diagnosis_is_unattended_again(store: Store, attempts: Attempts) -> None:
    diagnosis_id = await store.create(REQUEST)
    claim = await claimed(attempts, diagnosis_id)
    assert await store.unattended() == []
    assert await attempts.hand_back(claim)
    assert await store.unattended() == [diagnosis_id]
    assert (await claimed(attempts, diagnosis_id)).attempt == claim.attempt + 1


async def test_events_resume_behind_the_last_one_seen(store: Store, attempts: Attempts) -> None:
    diagnosis_id = await store.create(REQUEST)
    claim = await claimed(attempts, diagnosis_id)
    for _ in range(3):
        assert await attempts.record(claim, ("progress", NOTE))
    events = await store.events(diagnosis_id)
    assert [event.kind for event in events] == ["status", "status", *["progress"] * 3]
    assert await store.events(diagnosis_id, events[2].seq) == events[3:]


async def test_deletion_takes_events_and_keys_with_it(
    database: Database, store: Store, attempts: Attempts
) -> None:
    key = Key("key", "digest")
    diagnosis_id = await store.create(REQUEST, key)
    claim = await claimed(attempts, diagnosis_id)
    assert await store.delete(diagnosis_id)
    assert not await store.delete(diagnosis_id)
    assert await store.get(diagnosis_id) is None
    assert await store.events(diagnosis_id) == []
    assert not await attempts.record(claim, ("progress", NOTE))
    assert not await attempts.finish(claim, "done", Findings())
    assert await store.create(REQUEST, key) != diagnosis_id


async def test_key_leads_to_the_first_diagnosis(store: Store) -> None:
    key = Key("key", "digest")
    diagnosis_id = await store.create(REQUEST, key)
    with pytest.raises(KeyTakenError) as taken:
        await store.create(REQUEST, Key("key", "other"))
    assert (taken.value.diagnosis_id, taken.value.digest) == (diagnosis_id, "digest")


async def test_racing_requests_with_one_key_make_one_diagnosis(store: Store) -> None:
    key = Key("key", "digest")
    made = await asyncio.gather(
        *(store.create(REQUEST, key) for _ in range(8)), return_exceptions=True
    )
    ids = {one if isinstance(one, str) else getattr(one, "diagnosis_id", one) for one in made}
    assert len(ids) == 1
    assert len(await store.unattended()) == 1


async def test_failing_enqueue_leaves_no_diagnosis(store: Store) -> None:
    async def fail(*_: object) -> None:
        raise ConnectionError

    with pytest.raises(ConnectionError):
        await store.create(REQUEST, enqueue=fail)
    assert await store.unattended() == []


async def test_expired_diagnoses_are_gone_and_purged(database: Database) -> None:
    brief = Store(database, retention_days=0)
    lasting = Store(database, retention_days=1)
    expired, kept = await brief.create(REQUEST), await lasting.create(REQUEST)
    assert await brief.get(expired) is None
    assert await brief.purge() == 1
    assert await lasting.request(expired) is None
    assert await lasting.request(kept) == REQUEST


async def test_waiting_counts_the_queued(store: Store, attempts: Attempts) -> None:
    for _ in range(3):
        last = await store.create(REQUEST)
    await claimed(attempts, last)
    assert await store.waiting() == 2


async def test_migrating_again_changes_nothing(database: Database, database_url: str) -> None:
    from app.settings import Settings

    store = Store(database, retention_days=1)
    diagnosis_id = await store.create(REQUEST)
    again = Database(Settings(database_url=database_url).store_url)
    await again.open()
    assert await Store(again, retention_days=1).request(diagnosis_id) == REQUEST
    await again.close()


async def test_a_cancelled_writer_holds_no_lock(
    database: Database, store: Store, attempts: Attempts
) -> None:
    """Not even while its traceback is kept, and with it the rows that it had come to."""
    diagnosis_id = await store.create(REQUEST)

    async def claim() -> BaseException | None:
        try:
            await attempts.claim(diagnosis_id)
        except asyncio.CancelledError as error:
            return error
        return None

    async with database.engine.begin() as earlier:
        await earlier.execute(update(DiagnosisRow).values(sender="somebody"))
        later = asyncio.create_task(claim())
        await asyncio.sleep(0.2)
        later.cancel()
        await asyncio.sleep(0.2)
    assert await later is not None
    async with asyncio.timeout(10):
        assert await attempts.claim(diagnosis_id)
