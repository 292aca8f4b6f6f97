/** Searching the audit log. */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { laneEngines } from '../../../test/database.fixture.ts';
import type { Database } from '../db/db.ts';
import { type AuditTables, findActions, hashedTarget, recordAction, targetOn } from './audit.ts';

describe.each(laneEngines)('the audit log on $name', ({ open, missing }) => {
  let database: Database;
  const db = () => database.queries<AuditTables>();
  const [ada, bob] = [randomUUID(), randomUUID()];

  beforeAll(async () => {
    if (missing) return;
    database = await open();
    const record = (actor: string, action: string, target: string) =>
      recordAction(db(), { actor, action, target, outcome: 'done' });
    await record('console', 'retry job', 'job 1');
    await record('chief@example.com', 'POST /v1/people/:userId/credits', hashedTarget(ada));
    await record('chief@example.com', 'retry dead jobs', 'queue 1');
    await record('console', 'DELETE /v1/people/:userId', hashedTarget(bob));
    await record('console', 'POST /v1/people/:userId/exports', hashedTarget(ada));
  });
  afterAll(() => database?.close());

  const found = async (search: object) =>
    (await findActions(db(), { limit: 10, ...search })).actions.map(({ actor, action }) => [actor, action]);

  it.skipIf(missing)('is searched by user, operator and part of an action, in any case', async () => {
    expect(await found({})).toHaveLength(5);
    expect(await found({ userId: ada })).toEqual([
      ['console', 'POST /v1/people/:userId/exports'],
      ['chief@example.com', 'POST /v1/people/:userId/credits'],
    ]);
    expect(await found({ userId: randomUUID() })).toEqual([]);
    expect(await found({ actor: 'Chief@example.com' })).toHaveLength(2);
    expect(await found({ actor: 'chief' })).toEqual([]);
    expect(await found({ action: 'RETRY' })).toEqual([
      ['chief@example.com', 'retry dead jobs'],
      ['console', 'retry job'],
    ]);
    expect(await found({ action: 'retry%' })).toEqual([]);
    expect(await found({ target: 'job 1' })).toEqual([['console', 'retry job']]);
    expect(await found({ target: 'job' })).toEqual([]);
    expect(await found({ userId: ada, actor: 'console', action: 'exports' })).toHaveLength(1);
  });

  it.skipIf(missing)('finds what concerns a user by id or address, and shows no hash in the target', async () => {
    const [eve, mail] = [randomUUID(), `mail ${randomUUID()}`];
    const record = (action: string, target: string) =>
      recordAction(db(), { actor: 'console', action, target, outcome: 'done' });
    await record('DELETE /admin/memories/:id', targetOn('memory 1', eve));
    await record('retry mail', targetOn(mail, 'bob@example.com', 'eve@example.com'));
    await record('retry job', targetOn('job 2', bob));
    const ofEve = await findActions(db(), { limit: 10, userId: eve, address: 'Eve@example.com' });
    expect(ofEve.actions.map(({ target }) => target)).toEqual([mail, 'memory 1']);
    expect(ofEve.actions[0]?.subject).toMatch(/^sha256 [0-9a-f]{32} [0-9a-f]{64}$/);
    expect((await findActions(db(), { limit: 10, userId: eve })).actions).toHaveLength(1);
    expect(await found({ target: mail })).toEqual([['console', 'retry mail']]);
    await sql`delete from operator_actions where action_id > 5`.execute(db());
  });

  it.skipIf(missing)('is read page by page, also where few actions match', async () => {
    const first = await findActions(db(), { limit: 2 });
    const second = await findActions(db(), { limit: 2, before: first.next ?? 0 });
    const last = await findActions(db(), { limit: 2, before: second.next ?? 0 });
    expect([first, second, last].map(({ actions }) => actions.length)).toEqual([2, 2, 1]);
    expect(last.next).toBeNull();
    expect((await findActions(db(), { limit: 5 })).next).toBeNull();
    await sql`insert into operator_actions (actor, action, target, outcome)
      select 'console', 'a command', 'all', 'done' from generate_series(1, 20000)`.execute(db());
    const without = await findActions(db(), { limit: 5, actor: 'chief@example.com' });
    expect(without.actions).toEqual([]);
    const earlier = await findActions(db(), { limit: 5, actor: 'chief@example.com', before: without.next ?? 0 });
    expect([earlier.actions.length, earlier.next]).toEqual([2, null]);
  });
});
