/** Readers who are cut off at random and come back by `Last-Event-ID`, on any instance: nothing lost, nothing doubled. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrations } from '#migrations.ts';
import { createLog } from '#platform/log.ts';
import type { Redis } from '#platform/redis/redis.ts';
import { openWakeups } from '#platform/wakeups/open.ts';
import { databaseEngines } from '../database.ts';
import { embedded } from '../media/rig.ts';
import { openTestRedis, skipWithoutRedis } from '../redis.ts';
import { type AgentRig, type Chatter, newThread, startAgent } from './rig.ts';
import { type SeenEvent, textOf } from './stream.ts';

const log = createLog({ level: 'silent' });
const [, postgres] = databaseEngines;
const runs = 8;
const readersPerRun = 5;

const drivers = [
  { name: 'the database, one instance', missing: false, open: async () => ({ rig: await startAgent(embedded) }) },
  {
    name: 'Redis, two instances',
    missing: skipWithoutRedis || (postgres?.missing ?? true),
    open: async () => {
      const redis = await openTestRedis();
      const name = `agent-${randomUUID()}`;
      const shared = () => ({ redis, wakeups: openWakeups({ redis, name, log }) });
      const pair = {
        ...embedded,
        openDatabase: async () => (postgres as (typeof databaseEngines)[number]).open(migrations),
      };
      const rig = await startAgent(pair, shared());
      return { rig, redis, otherUrl: (await rig.another(shared())).url };
    },
  },
];

describe.each(drivers)('$name', ({ missing, open }) => {
  describe.skipIf(missing)('streams cut at random', () => {
    let rig: AgentRig;
    let redis: Redis | undefined;
    let urls: readonly string[];
    let user: Chatter;

    beforeAll(async () => {
      const opened: { rig: AgentRig; redis?: Redis; otherUrl?: string } = await open();
      ({ rig, redis } = opened);
      urls = [rig.url, opened.otherUrl ?? rig.url];
      user = await rig.user();
      // Told with every answer, so that answers take some seconds and some hundred events.
      rig.memories.push(...Array.from({ length: 25 }, (_, index) => `the light of evening number ${index} was fine`));
    }, 60_000);
    afterAll(async () => {
      await rig.close();
      await redis?.close();
    });

    const somewhere = () => rig.at(urls[Math.floor(Math.random() * urls.length)] ?? rig.url, user);

    /** Reads to the end, a few events or moments at a time. */
    async function readInPieces(taskId: string) {
      const events: SeenEvent[] = [];
      for (let cuts = 0; ; cuts++) {
        const seen = await somewhere().stream(taskId, {
          lastEventId: events.at(-1)?.id,
          ...(Math.random() < 0.7
            ? { cutAfter: 1 + Math.floor(Math.random() * 3) }
            : { cutAfterMs: 100 + Math.random() * 400 }),
        });
        expect([0, 200]).toContain(seen.status);
        events.push(...seen.events);
        if (seen.done) return { events, cuts };
        if (Math.random() < 0.2) await sleep(Math.random() * 300);
      }
    }

    it(`${runs} runs with ${readersPerRun} readers each`, { timeout: 120_000 }, async () => {
      const asked = ['Tell me of the evening', 'Remember that I am fond of evenings', '/slow 3', '/long 2000'];
      let cuts = 0;
      await Promise.all(
        Array.from({ length: runs }, async (_, index) => {
          const threadId = newThread();
          const taskId = await somewhere().ask(threadId, asked[index % asked.length] ?? '');
          const readers = await Promise.all(Array.from({ length: readersPerRun }, () => readInPieces(taskId)));
          const whole = await somewhere().stream(taskId);
          expect(whole.events.at(-1)?.data).toEqual({ type: 'finish' });
          const [epoch] = (whole.events[0]?.id ?? '').split('-');
          expect(whole.events.map(({ id }) => id)).toEqual(whole.events.map((_event, at) => `${epoch}-${at + 1}`));
          for (const reader of readers) {
            expect(reader.events).toEqual(whole.events);
            cuts += reader.cuts;
          }
          const answer = (await user.messages(threadId)).at(-1);
          expect(answer?.id).toBe(whole.events[0]?.data.messageId);
          const kept = answer?.parts.flatMap((part) => (part.type === 'text' ? [String(part.text)] : [])).join('');
          expect(kept).toBe(textOf(whole.events));
        }),
      );
      expect(cuts).toBeGreaterThan(200);
    });

    it('a malformed id: 400', { timeout: 30_000 }, async () => {
      const taskId = await user.ask(newThread(), '/slow 60');
      for (const id of ['', 'x', '1', '1-', '-1', '1-2-3', '01-1', '1 -1', '1-1x', `1-${'9'.repeat(16)}`]) {
        const { status, body } = await user.call('GET', `/stream/${taskId}`, undefined, { 'last-event-id': id });
        expect([id, status, body.error]).toEqual([id, 400, 'invalid_request']);
      }
      await user.call('DELETE', `/task/${taskId}`);
      await user.ended(taskId);
    });

    it('an id from beyond the end is answered at once, while the run lives and after it', {
      timeout: 60_000,
    }, async () => {
      const taskId = await user.ask(newThread(), '/slow 60');
      const { events } = await user.stream(taskId, { cutAfter: 1 });
      const [epoch] = (events[0]?.id ?? '').split('-');
      const beyond = [`${epoch}-5000`, `${epoch}-3000000000`, `${epoch}-${'9'.repeat(15)}`, `${'9'.repeat(15)}-1`];
      const answers = async () => {
        for (const lastEventId of beyond) {
          for (const url of urls) {
            const seen = await rig.at(url, user).stream(taskId, { lastEventId });
            expect([seen.status, seen.events, seen.done]).toEqual([200, [], true]);
          }
        }
      };
      await answers();
      expect((await user.task(taskId)).status).toBe('running');
      await user.call('DELETE', `/task/${taskId}`);
      await user.ended(taskId);
      await answers();
      const { events: all } = await user.stream(taskId);
      expect((await user.stream(taskId, { lastEventId: all.at(-1)?.id })).events).toEqual([]);
      expect((await user.stream(taskId, { lastEventId: all.at(-2)?.id })).events).toEqual(all.slice(-1));
    });

    it('is stopped from any instance', { timeout: 60_000 }, async () => {
      for (const [here, there] of [urls, urls.toReversed()]) {
        const threadId = newThread();
        const taskId = await rig.at(here ?? '', user).ask(threadId, '/slow 60');
        const reading = rig.at(here ?? '', user).stream(taskId);
        await sleep(300);
        expect((await rig.at(there ?? '', user).call('DELETE', `/task/${taskId}`)).status).toBe(204);
        const seen = await reading;
        expect([seen.events.at(-1)?.data, seen.done]).toEqual([{ type: 'abort' }, true]);
        expect((await user.ended(taskId)).status).toBe('aborted');
      }
    });
  });
});
