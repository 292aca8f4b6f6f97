import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import type { Database, Db } from '#platform/db/db.ts';
import { createLog } from '#platform/log.ts';
import { openTestDatabase } from '../../../test/database.fixture.ts';
import type { AgentContext } from '../context.ts';
import type { AgentTables } from '../tables.ts';
import { readMessages } from './messages.ts';

const pages = 4;
const file = { type: 'file', mediaType: 'image/png', url: `asset:${randomUUID()}` };

let database: Database;
let db: Db<AgentTables>;
beforeAll(async () => {
  database = await openTestDatabase(migrations);
  db = database.queries();
});
afterAll(() => database.close());

/** A thread whose messages fill a page each. */
async function plant(ownerId: string): Promise<string> {
  const threadId = randomUUID();
  await sql`insert into agent_threads (thread_id, owner_id) values (${threadId}, ${ownerId})`.execute(db);
  for (let seq = 1; seq <= pages; seq++)
    await sql`
      insert into agent_messages (thread_id, id, resource_id, role, parts, metadata, seq, bytes)
      values (${threadId}, ${`m${seq}`}, ${ownerId}, 'user', ${JSON.stringify([file])}, '{}', ${seq}, 300000)`.execute(
      db,
    );
  return threadId;
}

it('reads one page of an owner at a time, and does not wait for other owners', async () => {
  const [hostile, other] = [randomUUID(), randomUUID()];
  const [long, short] = [await plant(hostile), await plant(other)];
  const signing: Record<string, number> = { [hostile]: 0, [other]: 0 };
  let most = 0;
  const opened = Promise.withResolvers<void>();
  const isBegun = Promise.withResolvers<void>();
  const send: AgentContext['media']['send'] = async ({ onBehalfOf }) => {
    const owner = String(onBehalfOf);
    signing[owner] = (signing[owner] ?? 0) + 1;
    most = Math.max(most, signing[owner]);
    if (owner === hostile) {
      isBegun.resolve();
      await opened.promise;
    }
    await nextTurn();
    signing[owner] -= 1;
    return { status: 200, json: () => ({}) } as Awaited<ReturnType<AgentContext['media']['send']>>;
  };
  const deps = { db, log: createLog({ level: 'silent' }), media: { send } } as unknown as AgentContext;
  const readAll = async (threadId: string) => {
    const { messages } = await readMessages(deps, undefined, threadId);
    let text = '';
    for await (const piece of messages) text += piece;
    return JSON.parse(text).messages.length;
  };
  const reads = Array.from({ length: 10 }, () => readAll(long));
  await isBegun.promise;
  // The reads of the first owner hang.
  expect(await readAll(short)).toBe(pages);
  opened.resolve();
  expect(await Promise.all(reads)).toEqual(reads.map(() => pages));
  expect(most).toBe(1);
});
