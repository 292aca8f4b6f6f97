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

/** As many as processes; in memory there is one process, however many ask. */
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

/** Collects what a topic says. */
function hear(pubsub: PubSub, topic: string) {
  const heard: string[] = [];
  const stop = pubsub.subscribe(topic, { onMessage: (message) => heard.push(message) });
  return { heard, stop };
}

for (const { name, missing, open } of drivers) {
  describe.skipIf(missing)(`pub/sub on ${name}`, () => {
    it('reach whoever listens to the topic, in every process, once', async () => {
      const [one, two] = (await open(2)) as [PubSub, PubSub];
      const here = hear(one, 'a');
      const there = hear(two, 'a');
      const elsewhere = hear(two, 'b');
      one.publish('a', '1');
      two.publish('a', '2');
      one.publish('b', 'end');
      two.publish('a', 'end');
      await expect.poll(() => [...here.heard].sort()).toEqual(['1', '2', 'end']);
      await expect.poll(() => [...there.heard].sort()).toEqual(['1', '2', 'end']);
      await expect.poll(() => elsewhere.heard).toEqual(['end']);
    });

    it('are heard later, never within publish', async () => {
      const [one] = (await open(1)) as [PubSub];
      const { heard } = hear(one, 'a');
      one.publish('a', '1');
      expect(heard).toEqual([]);
      await expect.poll(() => heard).toEqual(['1']);
    });

    it('come in order from one process', async () => {
      const [one, two] = (await open(2)) as [PubSub, PubSub];
      const { heard } = hear(two, 'a');
      const sent = Array.from({ length: 200 }, (_, index) => String(index));
      for (const message of sent) one.publish('a', message);
      await expect.poll(() => heard.length).toBe(200);
      expect(heard).toEqual(sent);
    });

    it('are not heard any more after the end of a subscription, which may end twice', async () => {
      const [one] = (await open(1)) as [PubSub];
      const first = hear(one, 'a');
      const second = hear(one, 'a');
      first.stop();
      first.stop();
      one.publish('a', '1');
      await expect.poll(() => second.heard).toEqual(['1']);
      expect(first.heard).toEqual([]);
    });

    it('go on when a listener throws', async () => {
      const [one] = (await open(1)) as [PubSub];
      one.subscribe('a', {
        onMessage: () => {
          throw new Error('of a listener');
        },
      });
      const { heard } = hear(one, 'a');
      one.publish('a', '1');
      await expect.poll(() => heard).toEqual(['1']);
    });

    it('take any text', async () => {
      const [one, two] = (await open(2)) as [PubSub, PubSub];
      const { heard } = hear(two, 'a\n"ü"\0');
      one.publish('a\n"ü"\0', '\n"\u2028\0');
      await expect.poll(() => heard).toEqual(['\n"\u2028\0']);
    });

    it('are refused inside a transaction', async () => {
      const [one] = (await open(1)) as [PubSub];
      const database = await openTestDatabase();
      closers.push(() => database.close());
      await expect(transaction(database.queries(), async () => one.publish('a', '1'))).rejects.toThrow(
        'inside a transaction',
      );
    });
  });
}
