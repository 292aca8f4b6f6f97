/** Readers who are cut off at random and come back by `Last-Event-ID`, at any instance: nothing lost, nothing doubled. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inLane, isNightly } from '../lane.fixture.ts';
import { embedded } from '../media/rig.fixture.ts';
import { expectEnded } from './ends.fixture.ts';
import { type Anywhere, openFleet, skipWithoutFleet } from './fleet.fixture.ts';
import { type Chatter, newThread, startAgent } from './rig.fixture.ts';
import type { SeenEvent } from './stream.fixture.ts';

const runs = isNightly ? 50 : 8;
const readersPerRun = isNightly ? 10 : 3;
/** Of each reader; some come to the end before. */
const cutsPerReader = 4;

interface Place {
  readonly urls: readonly [string, string];
  /** A new one each time. */
  user(): Promise<Anywhere>;
  close(): Promise<void>;
}

const drivers = [
  {
    name: 'the log in the database, one process',
    missing: false,
    open: async (): Promise<Place> => {
      const rig = await startAgent(embedded);
      const newUser = async (): Promise<Anywhere> => {
        const user = await rig.user();
        return ({ url }) => rig.at(url, user);
      };
      return { urls: [rig.url, rig.url], user: newUser, close: rig.close };
    },
  },
  {
    name: 'the log in Redis, two processes',
    missing: skipWithoutFleet,
    open: async (): Promise<Place> => {
      const fleet = await openFleet();
      const [one, other] = await Promise.all([fleet.start(), fleet.start()]);
      return { urls: [one.url, other.url], user: () => fleet.user(10), close: fleet.close };
    },
  },
];

describe.each(inLane(drivers))('$name', ({ missing, open }) => {
  describe.skipIf(missing)('streams cut at random', () => {
    let place: Place;
    beforeAll(async () => {
      place = await open();
    });
    afterAll(() => place.close());

    const somewhere = (user: Anywhere) => user({ url: place.urls[Math.random() < 0.5 ? 0 : 1] });

    /** Heeds a server that is busy, as clients do. */
    async function start(user: Anywhere, threadId: string, text: string): Promise<string> {
      for (;;) {
        const { status, body } = await somewhere(user).call('POST', '/task', { threadId, text });
        if (status === 201) return String(body.taskId);
        expect([status, body.error]).toEqual([503, 'overloaded']);
        await sleep(1000);
      }
    }

    /** A few events or moments at a time, then to the end. */
    async function readInPieces(user: Anywhere, taskId: string) {
      const events: SeenEvent[] = [];
      for (let cuts = 0; ; cuts++) {
        const cut =
          Math.random() < 0.6
            ? { cutAfter: 1 + Math.floor(Math.random() * 3) }
            : { cutAfterMs: 50 + Math.random() * 400 };
        const lastEventId = events.at(-1)?.id;
        const seen = await somewhere(user).stream(taskId, { lastEventId, ...(cuts < cutsPerReader && cut) });
        expect([0, 200, 503]).toContain(seen.status);
        events.push(...seen.events);
        if (seen.done) return { events, cuts };
        if (Math.random() < 0.2) await sleep(Math.random() * 300);
      }
    }

    it(`${runs} runs at once, with ${readersPerRun} readers each`, { timeout: 300_000 }, async () => {
      const asked = ['/slow 4', 'Remember that I am fond of evenings', '/slow 6', '/long 3000'];
      const users: Anywhere[] = [];
      while (users.length < runs) users.push(await place.user());
      const cuts = await Promise.all(
        users.map(async (user, index) => {
          const threadId = newThread();
          const taskId = await start(user, threadId, asked[index % asked.length] ?? '');
          const readers = await Promise.all(Array.from({ length: readersPerRun }, () => readInPieces(user, taskId)));
          const read = readers.map(({ events }) => events);
          expect(await expectEnded(somewhere(user), { threadId, taskId }, read)).toBe('completed');
          return readers.reduce((sum, reader) => sum + reader.cuts, 0);
        }),
      );
      expect(cuts.reduce((sum, one) => sum + one, 0)).toBeGreaterThan((runs * readersPerRun * cutsPerReader) / 2);
    });

    it('is stopped from any instance', async () => {
      const user = await place.user();
      const [one, other] = place.urls.map((url) => user({ url })) as [Chatter, Chatter];
      for (const [here, there] of [
        [one, other],
        [other, one],
      ] as const) {
        const threadId = newThread();
        const taskId = await here.ask(threadId, '/slow 60');
        expect((await here.stream(taskId, { cutAfter: 1 })).events).toHaveLength(1);
        const reading = here.stream(taskId);
        expect((await there.call('DELETE', `/task/${taskId}`)).status).toBe(204);
        expect(await expectEnded(there, { threadId, taskId }, [(await reading).events])).toBe('aborted');
      }
    });
  });
});
