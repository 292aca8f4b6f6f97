/** Scheduled mails whose process is killed while they are due (docs/specification/notify.md#emails). SCHEDULED_MAILS: how many. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { canSetClock } from '../clock.fixture.ts';
import { type KillableNotify, placeNotify } from './program.fixture.ts';

const count = Number(process.env.SCHEDULED_MAILS ?? 300);
const batchSize = 100;
const kills = 3;
const timeoutMs = 300_000 + count * 100;

let notify: KillableNotify;
beforeEach(async () => {
  notify = await placeNotify();
});
afterEach(() => notify.close());

it(
  `${count} scheduled emails are sent once each, over ${kills} kills`,
  async () => {
    await notify.start();
    // Later than the last batch is accepted.
    const dueAt = Date.now() + 5000 + count * 20;
    const expected = await schedule(dueAt);
    expect(notify.taken.size).toBe(0);
    for (let kill = 1; kill <= kills; kill += 1) {
      await untilTaken(Math.floor((count * kill) / (kills + 1)));
      await notify.kill();
      await notify.start();
    }
    await untilTaken(count);
    await expectOnceEach(expected, kills);
  },
  timeoutMs,
);

it.skipIf(!canSetClock)(
  `${count} scheduled emails are sent once each with wrong clocks`,
  async () => {
    await notify.start('-2h');
    const expected = await schedule(Date.now() + 3_600_000);
    await notify.kill();
    await notify.start();
    await notify.kill();
    expect(notify.taken.size).toBe(0);
    // The clock runs ahead, so the mails are due; then it is behind, and they are not.
    await notify.start('+2h');
    await untilTaken(Math.floor(count / 3));
    await notify.kill();
    await notify.start('-2h');
    await notify.kill();
    await notify.start('+2h');
    await untilTaken(count);
    await expectOnceEach(expected, 1);
  },
  timeoutMs,
);

/** Returns the recipients. */
async function schedule(dueAt: number): Promise<readonly string[]> {
  const recipients: string[] = [];
  for (let from = 0; from < count; from += batchSize) {
    const names = Array.from({ length: Math.min(batchSize, count - from) }, (_, at) => `u${from + at}@example.com`);
    recipients.push(...names);
    const batch = names.map((to) => ({
      from: 'a@example.com',
      to,
      subject: 'Hello',
      text: 'Hello',
      scheduled_at: new Date(dueAt).toISOString(),
    }));
    expect((await notify.post('/emails/batch', batch, { 'idempotency-key': `batch ${from}` })).status).toBe(200);
  }
  return recipients;
}

async function untilTaken(atLeast: number): Promise<void> {
  const timeout = 60_000 + count * 50;
  await expect.poll(() => notify.taken.size, { timeout, interval: 500 }).toBeGreaterThanOrEqual(atLeast);
}

/** `killed`: how often a process that was sending was killed. */
async function expectOnceEach(recipients: readonly string[], killed: number): Promise<void> {
  await sleep(2000);
  const mails = [...notify.taken.values()];
  expect(mails.map(({ to }) => to).toSorted()).toEqual(recipients.toSorted());
  // A mail that was out when its process died is offered again under its key, with the same body.
  expect(mails.every(({ bodies }) => bodies.size === 1)).toBe(true);
  expect(mails.filter(({ times }) => times > 1).length).toBeLessThanOrEqual(killed * 16);
}
