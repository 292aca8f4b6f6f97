/** A user deletes their account. The program is killed at each step of the deletion, which goes on and happens once. */
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findTraces, leaveTraces } from '../console/traces.fixture.ts';
import { everyNth } from '../lane.fixture.ts';
import { type AccountRig, limitMs, type Moment, skipWithoutEngines, startAccountRig } from './account.fixture.ts';

/** In the order of the erasure. */
const moments: readonly Moment[] = [
  { table: 'account_deletions', lock: 'select from account_deletions for update' },
  { table: 'agent_threads' },
  { table: 'agent_events' },
  { table: 'agent_videos' },
  { table: 'agent_generations' },
  { table: 'agent_user_events' },
  { table: 'agent_usage' },
  { table: 'assets' },
  { table: 'media_tasks' },
  { table: 'shares' },
  { table: 'screening_incidents' },
  { table: 'memory_entities' },
  { table: 'notify_sends' },
  { table: 'notify_events' },
  { table: 'suppressed_addresses' },
  { table: 'credit_ledger' },
  { table: 'user_settings' },
  { table: 'referrals' },
  { table: 'user_profiles' },
  // The services are empty, but the stage is not set.
  { table: 'account_deletions', lock: 'select from account_deletions for update' },
  // The mail was sent, but the row is not deleted.
  { table: 'account_deletions', lock: 'select from account_deletions for key share' },
];

describe.skipIf(skipWithoutEngines)('the deletion of an account', () => {
  let place: AccountRig;
  beforeAll(async () => {
    place = await startAccountRig();
  });
  afterAll(() => place.close());

  const stages = async () => {
    const { rows } = await sql<{ stage: string }>`select stage from account_deletions`.execute(
      place.database.queries(),
    );
    return rows.map(({ stage }) => stage);
  };
  const deletedEvents = () =>
    place.receiver.received
      .filter(({ body }) => body.includes('account.deleted'))
      .map(({ headers }) => headers['webhook-id']);

  it('can be taken back', async () => {
    const { person } = place;
    const first = await person.call<{ deletesAt: string }>('auth', 'DELETE', '/account');
    expect(first.status).toBe(202);
    expect((Date.parse(first.body.deletesAt) - Date.now()) / 86_400_000).toBeCloseTo(14, 1);
    expect((await person.call('auth', 'DELETE', '/account')).body).toEqual(first.body);
    expect((await person.call('auth', 'GET', '/account')).body).toEqual({ ...first.body, export: null });
    await expect.poll(stages, { timeout: limitMs }).toEqual(['announced']);
    expect(await place.subjects()).toEqual([expect.stringContaining('will be deleted on')]);
    expect((await person.call('auth', 'POST', '/account/restore')).status).toBe(204);
    expect((await person.call('auth', 'GET', '/account')).body).toEqual({ deletesAt: null, export: null });
    expect(await stages()).toEqual([]);
  });

  it('is carried out once although the program is killed again and again', async () => {
    const { person, desk, database } = place;
    const traces = await leaveTraces(place, person);
    expect((await person.call('auth', 'GET', '/account/export')).status).toBe(202);
    const exported = async () => (await person.call('auth', 'GET', '/account/export')).body.status;
    await expect.poll(exported, { timeout: limitMs }).toBe('ready');
    expect((await person.call('auth', 'DELETE', '/account')).status).toBe(202);
    await expect.poll(stages, { timeout: limitMs }).toEqual(['announced']);
    expect(await findTraces(place, person, traces)).not.toEqual([]);
    await sql`update account_deletions set deletes_at = now()`.execute(database.queries());

    const [first, ...others] = everyNth(moments, 10);
    if (first !== undefined) await place.killAt(first, place.comeDue);
    for (const moment of others) await place.killAt(moment, place.start);
    await place.start();
    const isOver = async () => {
      await place.comeDue();
      return stages();
    };
    await expect.poll(isOver, { timeout: limitMs }).toEqual([]);

    const left = await findTraces(place, person, traces);
    // The last mail is in the outbox, and for a day in the record of emails.
    expect(left.toSorted()).toEqual([expect.stringMatching(/^file: /), expect.stringMatching(/^notify_sends: /)]);
    expect(await place.subjects()).toEqual([expect.stringContaining('was deleted')]);
    expect(new Set(deletedEvents()).size).toBe(1);
    expect((await desk.internal('auth', 'GET', `/v1/people/${person.id}`)).status).toBe(404);
  }, 600_000);
});
