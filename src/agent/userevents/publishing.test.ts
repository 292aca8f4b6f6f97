import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import { type Database, type Db, transaction } from '#platform/db/db.ts';
import { laneEngines } from '../../../test/database.fixture.ts';
import type { AgentTables } from '../tables.ts';
import { createUserEvents, deleteExpired, findLastUserEvent, listUserEvents } from './usereventstore.ts';

describe.each(laneEngines)('events of users on $name', (engine) => {
  describe.skipIf(engine.missing)('', () => {
    let database: Database;
    let db: Db<AgentTables>;
    const woken: string[] = [];
    const userEvents = createUserEvents({ publish: (_topic, userId) => void woken.push(userId) });

    beforeAll(async () => {
      database = await engine.open(migrations);
      db = database.queries<AgentTables>();
    });
    afterAll(() => database.close());

    const updated = (threadId: string) => ({ type: 'thread.updated', threadId }) as const;
    const publish = (userId: string, ...threadIds: string[]) =>
      transaction(db, (tx) => userEvents.publish(tx, userId, threadIds.map(updated)));
    const list = async (userId: string, afterSeq = 0, limit = 1000) =>
      (await listUserEvents(db, [{ userId, afterSeq }], limit)).map(({ seq, event }) => [seq, Object(event).threadId]);

    it('have one sequence of numbers for each user, without gaps, even if written concurrently', async () => {
      const [one, two] = [randomUUID(), randomUUID()];
      await Promise.all(
        Array.from({ length: 40 }, (_, index) => publish(index % 2 === 0 ? one : two, `${index}a`, `${index}b`)),
      );
      for (const userId of [one, two]) {
        const events = await list(userId);
        expect(events.map(([seq]) => seq)).toEqual(Array.from({ length: 40 }, (_, index) => index + 1));
        expect(await findLastUserEvent(db, userId)).toBe(40);
        // Events of one change stay together.
        for (let at = 0; at < 40; at += 2) expect(events[at + 1]?.[1]).toBe(String(events[at]?.[1]).replace('a', 'b'));
      }
    });

    it('are not written, and wake no reader, if the change is rolled back', async () => {
      const userId = randomUUID();
      await publish(userId, 'first');
      const change = transaction(db, async (tx) => {
        await userEvents.publish(tx, userId, [updated('second')]);
        throw new Error('rolled back');
      });
      await expect(change).rejects.toThrow('rolled back');
      await publish(userId, 'third');
      expect(await list(userId)).toEqual([
        [1, 'first'],
        [2, 'third'],
      ]);
      expect(woken.filter((id) => id === userId)).toHaveLength(2);
    });

    it('are read by concurrent cursors, each with its own position and limit', async () => {
      const [one, two] = [randomUUID(), randomUUID()];
      await publish(one, 'a', 'b', 'c');
      await publish(two, 'd');
      const cursors = [
        { userId: one, afterSeq: 1 },
        { userId: two, afterSeq: 1 },
        { userId: two, afterSeq: 0 },
        { userId: one, afterSeq: 0 },
      ];
      const rows = await listUserEvents(db, cursors, 2);
      expect(rows.map(({ cursor, seq }) => [cursor, seq])).toEqual([
        [0, 2],
        [0, 3],
        [2, 1],
        [3, 1],
        [3, 2],
      ]);
    });

    it('are deleted after an hour, and their numbers are not used again', async () => {
      const userId = randomUUID();
      await publish(userId, 'old', 'older', 'new');
      await sql`
        update agent_user_events set created_at = now() - make_interval(secs => case when seq < 3 then 3601 else 3599 end)
        where user_id = ${userId}`.execute(db);
      await deleteExpired(db, AbortSignal.abort());
      expect(await list(userId)).toHaveLength(3);
      await deleteExpired(db, new AbortController().signal);
      expect(await list(userId)).toEqual([[3, 'new']]);
      await sql`delete from agent_user_events where user_id = ${userId}`.execute(db);
      await publish(userId, 'next');
      expect(await list(userId)).toEqual([[4, 'next']]);
    });
  });
});
