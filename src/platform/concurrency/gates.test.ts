import { expect, it } from 'vitest';
import { createGates } from './gate.ts';

const options = { width: 1, maxWaiting: 1, waitTimeoutMs: 60_000 };

it('requests of a user wait for each other, and for no others', async () => {
  const gates = createGates(options);
  const order: string[] = [];
  const leave = await gates.enter('alice');
  const second = gates.enter('alice').then((leaveSecond) => {
    order.push('alice again');
    leaveSecond();
  });
  (await gates.enter('bob'))();
  order.push('bob');
  leave();
  await second;
  expect(order).toEqual(['bob', 'alice again']);
});

it('refuses a request only because of others of its user', async () => {
  const gates = createGates(options);
  const leave = await gates.enter('alice');
  const waiting = gates.enter('alice');
  await expect(gates.enter('alice')).rejects.toMatchObject({ code: 'rate_limited', details: { retryAfterS: 1 } });
  (await gates.enter('bob'))();
  leave();
  (await waiting)();
  (await gates.enter('alice'))();
});

it('counts a double leave once', async () => {
  const gates = createGates({ ...options, maxWaiting: 0 });
  const first = await gates.enter('alice');
  first();
  first();
  await gates.enter('alice');
  await expect(gates.enter('alice')).rejects.toMatchObject({ code: 'rate_limited', details: { retryAfterS: 1 } });
});
