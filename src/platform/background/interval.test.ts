import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startInterval } from './interval.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('startInterval', () => {
  it('does not overlap calls, and continues after a slow one', async () => {
    const started: PromiseWithResolvers<void>[] = [];
    const interval = startInterval(
      10,
      () => {
        const call = Promise.withResolvers<void>();
        started.push(call);
        return call.promise;
      },
      () => undefined,
    );
    await vi.advanceTimersByTimeAsync(45);
    expect(started).toHaveLength(1);
    started[0]?.resolve();
    await vi.advanceTimersByTimeAsync(10);
    expect(started).toHaveLength(2);
    started[1]?.resolve();
    await interval.stop();
  });

  it('reports an error and continues', async () => {
    const errors: unknown[] = [];
    let calls = 0;
    const interval = startInterval(
      10,
      async () => {
        calls += 1;
        throw new Error(`call ${calls}`);
      },
      (error) => errors.push(error),
    );
    await vi.advanceTimersByTimeAsync(25);
    await interval.stop();
    expect(errors).toEqual([new Error('call 1'), new Error('call 2')]);
  });

  it('aborts the signal of the current call when it stops', async () => {
    const steps: string[] = [];
    const interval = startInterval(
      10,
      async (stopped) => {
        while (!stopped.aborted) {
          await new Promise((resolve) => setTimeout(resolve, 100));
          steps.push('step');
        }
      },
      () => undefined,
    );
    await vi.advanceTimersByTimeAsync(150);
    const stopping = interval.stop();
    await vi.advanceTimersByTimeAsync(1000);
    await stopping;
    expect(steps).toEqual(['step', 'step']);
  });

  it('stops after the current call has ended, and starts no other', async () => {
    const call = Promise.withResolvers<void>();
    let calls = 0;
    const interval = startInterval(
      10,
      () => {
        calls += 1;
        return call.promise;
      },
      () => undefined,
    );
    await vi.advanceTimersByTimeAsync(15);
    let stopped = false;
    const stopping = interval.stop().then(() => {
      stopped = true;
    });
    await vi.advanceTimersByTimeAsync(50);
    expect(stopped).toBe(false);
    call.resolve();
    await stopping;
    expect(calls).toBe(1);
  });
});
