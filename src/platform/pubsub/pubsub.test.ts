import { afterEach, describe, expect, it } from 'vitest';
import { openTestDatabase } from '../../../test/database.fixture.ts';
import { openTestRedis, skipWithoutRedis } from '../../../test/redis.fixture.ts';
import { transaction } from '../db/db.ts';
import { createLog } from '../log.ts';
import { openPubSub } from './open.ts';
import type { PubSub } from './pubsub.ts';

const log = createLog({ level: 'silent' });
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** Returns one instance per process. The memory driver has one process, so all are the same instance. */
type Open = (processes: number) => Promise<readonly PubSub[]>;

const drivers: readonly { name: string; missing: boolean; open: Open }[] = [
  {
    name: 'memory',
    missing: false,
    open: async (processes) => {
      const one = openPubSub({ redis: undefined, name: 'x', log });
      return Array(processes).fill(one);
    },
  },
  {
    name: 'redis',
    missing: skipWithoutRedis,
    open: async (processes) => {
      const first = await openTestRedis();
      const others = await Promise.all(
        Array.from({ length: processes - 1 }, () => openTestRedis({ prefix: first.prefix })),
      );
      closers.push(...[first, ...others].map((redis) => () => redis.close()));
      return [first, ...others].map((redis) => openPubSub({ redis, name: 'x', log }));
    },
  },
];

/** Collects the messages of a topic. */
function collect(pubsub: PubSub, topic: string) {
  const received: string[] = [];
  const stop = pubsub.subscribe(topic, { onMessage: (message) => received.push(message) });
  return { received, stop };
}

for (const { name, missing, open } of drivers) {
  describe.skipIf(missing)(`pub/sub on ${name}`, () => {
    it('reach every listener of the topic in every process, once', async () => {
      const [one, two] = (await open(2)) as [PubSub, PubSub];
      const here = collect(one, 'a');
      const there = collect(two, 'a');
      const elsewhere = collect(two, 'b');
      one.publish('a', '1');
      two.publish('a', '2');
      one.publish('b', 'end');
      two.publish('a', 'end');
      await expect.poll(() => [...here.received].sort()).toEqual(['1', '2', 'end']);
      await expect.poll(() => [...there.received].sort()).toEqual(['1', '2', 'end']);
      await expect.poll(() => elsewhere.received).toEqual(['end']);
    });

    it('arrive asynchronously, never within publish', async () => {
      const [one] = (await open(1)) as [PubSub];
      const { received } = collect(one, 'a');
      one.publish('a', '1');
      expect(received).toEqual([]);
      await expect.poll(() => received).toEqual(['1']);
    });

    it('arrive in order from one process', async () => {
      const [one, two] = (await open(2)) as [PubSub, PubSub];
      const { received } = collect(two, 'a');
      const sent = Array.from({ length: 200 }, (_, index) => String(index));
      for (const message of sent) one.publish('a', message);
      await expect.poll(() => received.length).toBe(200);
      expect(received).toEqual(sent);
    });

    it('do not arrive after a subscription has ended, and it may be ended twice', async () => {
      const [one] = (await open(1)) as [PubSub];
      const first = collect(one, 'a');
      const second = collect(one, 'a');
      first.stop();
      first.stop();
      one.publish('a', '1');
      await expect.poll(() => second.received).toEqual(['1']);
      expect(first.received).toEqual([]);
    });

    it('arrive even if another listener throws', async () => {
      const [one] = (await open(1)) as [PubSub];
      one.subscribe('a', {
        onMessage: () => {
          throw new Error('of a listener');
        },
      });
      const { received } = collect(one, 'a');
      one.publish('a', '1');
      await expect.poll(() => received).toEqual(['1']);
    });

    it('may contain any text', async () => {
      const [one, two] = (await open(2)) as [PubSub, PubSub];
      const { received } = collect(two, 'a\n"ü"\0');
      one.publish('a\n"ü"\0', '\n"\u2028\0');
      await expect.poll(() => received).toEqual(['\n"\u2028\0']);
    });

    it('are rejected inside a transaction', async () => {
      const [one] = (await open(1)) as [PubSub];
      const database = await openTestDatabase();
      closers.push(() => database.close());
      await expect(transaction(database.queries(), async () => one.publish('a', '1'))).rejects.toThrow(
        'inside a transaction',
      );
    });
  });
}
