/** Scheduled mails whose process is killed while they are due (docs/specification/notify.md#emails). SCHEDULED_MAILS: how many. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type KillableNotify, placeNotify } from './program.fixture.ts';

const count = Number(process.env.SCHEDULED_MAILS ?? 300);
const batchSize = 100;
const kills = 3;

let notify: KillableNotify;
beforeEach(async () => {
  notify = await placeNotify();
});
afterEach(() => notify.close());

it(
  `${count} scheduled mails are sent once each, over ${kills} kills`,
  async () => {
    await notify.start();
    // Later than the last batch is accepted.
    const dueAt = Date.now() + 5000 + count * 5;
    const expected: string[] = [];
    for (let from = 0; from < count; from += batchSize) {
      const names = Array.from({ length: Math.min(batchSize, count - from) }, (_, at) => `u${from + at}@example.com`);
      expected.push(...names);
      const batch = names.map((to) => ({
        from: 'a@example.com',
        to,
        subject: 'Hello',
        text: 'Hello',
        scheduled_at: new Date(dueAt).toISOString(),
      }));
      expect((await notify.post('/emails/batch', batch, { 'idempotency-key': `batch ${from}` })).status).toBe(200);
    }
    expect(notify.taken.size).toBe(0);
    for (let kill = 1; kill <= kills; kill += 1) {
      const target = Math.floor((count * kill) / (kills + 1));
      await expect
        .poll(() => notify.taken.size, { timeout: dueAt - Date.now() + 60_000 })
        .toBeGreaterThanOrEqual(target);
      await notify.kill();
      await notify.start();
    }
    await expect.poll(() => notify.taken.size, { timeout: 60_000 + count * 50, interval: 500 }).toBe(count);
    await sleep(2000);
    const mails = [...notify.taken.values()];
    expect(mails.map(({ to }) => to).toSorted()).toEqual(expected.toSorted());
    // A mail that was out when its process died is offered again under its key, with the same body.
    expect(mails.every(({ bodies }) => bodies.size === 1)).toBe(true);
    expect(mails.filter(({ times }) => times > 1).length).toBeLessThanOrEqual(kills * 16);
  },
  300_000 + count * 100,
);
