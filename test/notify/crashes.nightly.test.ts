/** A process is killed between the acceptance of a mail and its delivery, again and again (docs/specification/notify.md#idempotency). */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { isNightly } from '../lane.fixture.ts';
import { type KillableNotify, placeNotify } from './program.fixture.ts';

const rounds = isNightly ? 5 : 1;
const sendsPerRound = 20;

let notify: KillableNotify;
beforeEach(async () => {
  notify = await placeNotify();
});
afterEach(() => notify.close());

const send = (name: string) => {
  const mail = { from: 'a@example.com', to: `${name}@example.com`, subject: 'Hello', text: 'Hello' };
  return notify.post('/emails', mail, { 'idempotency-key': name });
};

/** Repeats the request of an email until its process is killed. On a busy machine, the provider's time can be up before. */
async function sendUntilKilled(name: string): Promise<void> {
  for (;;) {
    const response = await send(name).catch(() => undefined);
    if (response === undefined) return;
    expect(response.ok).toBe(false);
    await sleep(200);
  }
}

/** The emails that failed while their callers waited. */
async function failed(): Promise<readonly string[]> {
  const listed = await fetch(`${notify.url}/emails?limit=100`, { headers: { 'x-internal-key': 'key' } });
  const { data } = (await listed.json()) as { readonly data: readonly { to: readonly [string]; status: string }[] };
  return data.filter(({ status }) => status === 'failed').map(({ to: [address] }) => address.replace(/@.*/, ''));
}

it(`${rounds * sendsPerRound} accepted emails: each is sent under one key, identical in each attempt`, async () => {
  const expected: string[] = [];
  for (let round = 0; round < rounds; round += 1) {
    notify.answers = false;
    await notify.start();
    const before = new Set([...notify.taken.values()].map(({ to }) => to));
    const pending = Array.from({ length: sendsPerRound }, (_, turn) => {
      const name = `r${round}s${turn}`;
      expected.push(`${name}@example.com`);
      return sendUntilKilled(name);
    });
    // Accepted: the provider has been asked, so the rows are there.
    await expect
      .poll(() => [...notify.taken.values()].filter(({ to }) => !before.has(to) && to.startsWith(`r${round}`)).length, {
        timeout: 120_000,
      })
      .toBe(sendsPerRound);
    await notify.kill();
    await Promise.all(pending);
  }
  notify.answers = true;
  await notify.start();
  // A repeated request joins the send that the crash left. The others are sent automatically, unless they failed before the crash.
  for (const name of new Set(['r0s0', ...(await failed())])) {
    // On a busy machine, the time of a request can be up before its turn.
    const again = async () => (await send(name)).status;
    await expect.poll(again, { timeout: 60_000, interval: 500 }).toBe(200);
  }
  const sentOnce = () => [...notify.taken.values()].filter(({ times }) => times === 1).map(({ to }) => to);
  await expect.poll(sentOnce, { timeout: 150_000, interval: 500 }).toEqual([]);
  // With an empty queue, no mail can go out again.
  await expect.poll(() => notify.unsent(), { timeout: 20_000 }).toBe(0);
  const sends = [...notify.taken.values()];
  expect(sends.map(({ to }) => to).sort()).toEqual(expected.sort());
  expect(sends.every(({ bodies }) => bodies.size === 1)).toBe(true);
}, 900_000);
