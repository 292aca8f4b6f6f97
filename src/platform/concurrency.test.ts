import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, test } from 'vitest';
import { createGate, createGates, mapConcurrently } from './concurrency.ts';
import { problems } from './problem.ts';

const patient = { width: 1, maxWaiting: 10, waitTimeoutMs: 60_000 };

describe('the gate before the connections', () => {
  it('admits as many as its width, and the others in order', async () => {
    const gate = createGate({ ...patient, width: 2 });
    const order: number[] = [];
    const leaves = [await gate.enter(), await gate.enter()];
    const later = [1, 2, 3].map(async (number) => {
      const leave = await gate.enter();
      order.push(number);
      leave();
    });
    await Promise.resolve();
    expect(order).toEqual([]);
    leaves[1]?.();
    await Promise.all(later);
    expect(order).toEqual([1, 2, 3]);
  });

  it('counts a double leave once', async () => {
    const gate = createGate({ ...patient, maxWaiting: 0 });
    const leave = await gate.enter();
    leave();
    leave();
    await gate.enter();
    await expect(gate.enter()).rejects.toMatchObject({ code: 'overloaded' });
  });

  it('rejects callers beyond the queue limit, and callers that waited too long', async () => {
    const gate = createGate({ width: 1, maxWaiting: 1, waitTimeoutMs: 20 });
    const leave = await gate.enter();
    const waiting = gate.enter();
    await expect(gate.enter()).rejects.toMatchObject({ code: 'overloaded', status: 503 });
    await expect(waiting).rejects.toMatchObject({ code: 'overloaded' });
    leave();
    await expect(gate.enter()).resolves.toBeTypeOf('function');
  });

  it('admits callers to places that became free while the process was blocked', async () => {
    const gate = createGate({ width: 1, maxWaiting: 1, waitTimeoutMs: 20 });
    const leave = await gate.enter();
    const waiting = gate.enter();
    // As the answer of a database, it is seen after the timers.
    setImmediate(leave);
    for (const sinceMs = performance.now(); performance.now() - sinceMs < 100; );
    await expect(waiting).resolves.toBeTypeOf('function');
  });

  it('closes when the last caller has left, and rejects new callers until then', async () => {
    const gate = createGate(patient);
    const leave = await gate.enter();
    const waiting = gate.enter();
    let closed = false;
    const closing = gate.close(60_000).then(() => {
      closed = true;
    });
    await expect(gate.enter()).rejects.toMatchObject({ code: 'draining' });
    leave();
    const leaveLast = await waiting;
    expect(closed).toBe(false);
    leaveLast();
    await closing;
  });

  it('closes without callers that do not leave in time', async () => {
    const gate = createGate(patient);
    await gate.enter();
    await expect(gate.close(10)).resolves.toBeUndefined();
  });
});

const options = { width: 1, maxWaiting: 1, waitTimeoutMs: 60_000 };

it('requests of a user wait for each other, and for no others', async () => {
  const gates = createGates(options);
  const order: string[] = [];
  const add = (name: string) => async () => void order.push(name);
  const first = Promise.withResolvers<void>();
  const inside = gates.run('alice', () => first.promise);
  const second = gates.run('alice', add('alice again'));
  await gates.run('bob', add('bob'));
  first.resolve();
  await Promise.all([inside, second]);
  expect(order).toEqual(['bob', 'alice again']);
});

it('refuses a request only because of others of its user', async () => {
  const gates = createGates(options);
  const first = Promise.withResolvers<void>();
  const done = async () => 'done';
  const inside = [gates.run('alice', () => first.promise), gates.run('alice', done)];
  await expect(gates.run('alice', done)).rejects.toMatchObject({ code: 'rate_limited', details: { retryAfterS: 1 } });
  expect(await gates.run('bob', done)).toBe('done');
  first.resolve();
  await Promise.all(inside);
  expect(await gates.run('alice', done)).toBe('done');
});

it('refuses with the problem of its caller', async () => {
  const gates = createGates({ ...options, maxWaiting: 0 }, problems.overloaded);
  const first = Promise.withResolvers<void>();
  const inside = gates.run('alice', () => first.promise);
  await expect(gates.run('alice', async () => 'done')).rejects.toMatchObject({ code: 'overloaded' });
  first.resolve();
  await inside;
});

it('does not change the failure of the work, and lets the next request in', async () => {
  const gates = createGates({ ...options, maxWaiting: 0 });
  const failure = problems.overloaded();
  await expect(gates.run('alice', () => Promise.reject(failure))).rejects.toBe(failure);
  expect(await gates.run('alice', async () => 'done')).toBe('done');
});

test.each([
  ['nothing', 0, 3],
  ['fewer items than the limit', 2, 3],
  ['more', 10, 3],
])('%s: returns every result in order and respects the limit', async (_name, count, atOnce) => {
  let working = 0;
  let most = 0;
  const items = Array.from({ length: count }, (_, index) => index);
  const results = await mapConcurrently(items, atOnce, async (item) => {
    working += 1;
    most = Math.max(most, working);
    // Earlier items take longer, so that they finish out of order.
    await delay(10 - item);
    working -= 1;
    return item * 2;
  });
  expect(results).toEqual(items.map((item) => item * 2));
  expect(most).toBe(Math.min(count, atOnce));
});

test('throws the first failure and starts no further items', async () => {
  const begun: number[] = [];
  const working = mapConcurrently([1, 2, 3, 4, 5, 6], 2, async (item) => {
    begun.push(item);
    await delay(item);
    if (item === 2) throw new Error('no');
  });
  await expect(working).rejects.toThrow('no');
  await delay(30);
  expect(begun).toEqual(expect.arrayContaining([1, 2]));
  expect(begun).not.toContain(6);
});
