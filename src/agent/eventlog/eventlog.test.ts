import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import { type Database, transaction } from '#platform/db/db.ts';
import { createLog } from '#platform/log.ts';
import { eventLogSuite } from '../../../test/agent/eventlog.conformance.ts';
import { databaseEngines, openTestDatabase } from '../../../test/database.fixture.ts';
import { openTestRedis, skipWithoutRedis } from '../../../test/redis.fixture.ts';
import { claimDeadRuns, insertRun } from '../runs/runstore.ts';
import type { AgentTables } from '../tables.ts';
import { type FencedKey, parseEventId } from './eventlog.ts';
import { openDatabaseLog } from './eventstore.ts';
import { openEventLog } from './open.ts';

const log = createLog({ level: 'silent' });

function runsOf(database: Database) {
  const db = database.queries<AgentTables>();
  return {
    newRun: (): Promise<FencedKey> =>
      transaction(db, (tx) =>
        insertRun(tx, {
          taskId: randomUUID(),
          threadId: randomUUID(),
          ownerId: randomUUID(),
          messageId: randomUUID(),
          holder: randomUUID(),
          model: 'offline-demo',
          credits: 1,
          leaseMs: 60_000,
        }),
      ),
    async takeOver({ taskId }: FencedKey): Promise<FencedKey> {
      for (;;) {
        const claimed = await claimDeadRuns(db, randomUUID(), 60_000, true, 100_000);
        const run = claimed.find((candidate) => candidate.taskId === taskId);
        if (run !== undefined) return run;
        // Passed over while an append of its old hand holds it.
        await sleep(1);
      }
    },
  };
}

describe.each(databaseEngines)('the event log in $name', (engine) => {
  describe.skipIf(engine.missing)('', () => {
    eventLogSuite(async () => {
      const database = await engine.open(migrations);
      const db = database.queries<AgentTables>();
      const open = () => openDatabaseLog({ db, log, pollEveryMs: 20 });
      const [eventLog, other] = [open(), open()];
      const close = async () => {
        await Promise.all([eventLog.close(), other.close()]);
        await database.close();
      };
      return { eventLog, other, ...runsOf(database), close };
    });
  });
});

describe.skipIf(skipWithoutRedis)('the event log in Redis', () => {
  eventLogSuite(async () => {
    const database = await openTestDatabase(migrations);
    const redis = await openTestRedis();
    const open = () => openEventLog({ db: database.queries<AgentTables>(), redis, log, ttlS: 60 });
    const [eventLog, other] = [await open(), await open()];
    const close = async () => {
      await Promise.all([eventLog.close(), other.close()]);
      await Promise.all([redis.close(), database.close()]);
    };
    return { eventLog, other, ...runsOf(database), close };
  });

  it('reads for a follower that comes in any microtask after the last one left', async () => {
    const redis = await openTestRedis();
    const database = await openTestDatabase(migrations);
    const eventLog = await openEventLog({ db: database.queries<AgentTables>(), redis, log, ttlS: 60 });
    const { newRun } = runsOf(database);
    const event = { firstSeq: 1, lastSeq: 1, events: ['{}'], isLast: false };
    for (let microtasks = 0; microtasks < 20; microtasks++) {
      const [first, second] = [await newRun(), await newRun()];
      for (const run of [first, second]) await eventLog.append(run, event);
      const received = Promise.withResolvers<void>();
      const followLater = async () => {
        for (let left = microtasks; left > 0; left--) await undefined;
        const leave = eventLog.follow(second, 0, () => {
          leave();
          received.resolve();
        });
      };
      const leave = eventLog.follow(first, 0, () => {
        leave();
        void followLater();
      });
      await received.promise;
    }
    await eventLog.close();
    await Promise.all([redis.close(), database.close()]);
  });

  it('reports that appended events are lost, all of them or the last ones', async () => {
    const redis = await openTestRedis();
    const database = await openTestDatabase(migrations);
    const eventLog = await openEventLog({ db: database.queries<AgentTables>(), redis, log, ttlS: 60 });
    const run = await runsOf(database).newRun();
    const batch = (seq: number) => ({ firstSeq: seq, lastSeq: seq, events: ['{}'], isLast: false });
    for (const seq of [1, 2, 3]) await eventLog.append(run, batch(seq));
    const stream = `${redis.prefix}agent:{${run.taskId}}:events`;
    await redis.run((client) => client.xDel(stream, `${run.epochMs}-3`));
    expect(await eventLog.append(run, batch(4))).toBe('vanished');
    await redis.run((client) => client.unlink(stream));
    expect(await eventLog.append(run, batch(4))).toBe('vanished');
    await eventLog.close();
    await Promise.all([redis.close(), database.close()]);
  });
});

describe('ids of events', () => {
  it.each(['1-1', '0-0', '1795236699920-12'])('%s is one', (id) => {
    expect(parseEventId(id)).toEqual({ epochMs: Number(id.split('-')[0]), seq: Number(id.split('-')[1]) });
  });
  it.each([
    '',
    '1',
    '-',
    '1-',
    '-1',
    '01-1',
    '1-01',
    '1-1-1',
    '1_1',
    ' 1-1',
    '1-1 ',
    '1e3-1',
    '1-1\n',
    'abc',
    `${'9'.repeat(16)}-1`,
    '$',
    '+',
    '1-*',
  ])('%j is none', (id) => {
    expect(parseEventId(id)).toBeUndefined();
  });
});
