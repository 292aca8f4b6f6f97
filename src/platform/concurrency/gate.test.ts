import { describe, expect, it } from 'vitest';
import { createGate } from './gate.ts';

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
