import { describe, expect, test, vi } from 'vitest';
import { DeadlineExceeded, startIdleDeadline, withDeadline } from './deadline.ts';

const never = () => new Promise<never>(() => undefined);

describe('a deadline', () => {
  test('returns results that arrive in time, and clears its timer', async () => {
    vi.useFakeTimers();
    try {
      await expect(withDeadline(1000, async () => 'done')).resolves.toBe('done');
      await expect(withDeadline(1000, () => Promise.reject(new Error('own')))).rejects.toThrow('own');
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  test('rejects and aborts the signal when the time is up, even if the work ignores it', async () => {
    let seen: AbortSignal | undefined;
    const late = withDeadline(5, (signal) => {
      seen = signal;
      return never();
    });
    await expect(late).rejects.toBeInstanceOf(DeadlineExceeded);
    expect(seen?.reason).toBeInstanceOf(DeadlineExceeded);
  });

  test('rejects with the reason of the outer signal, before and during the work', async () => {
    const reason = new Error('the caller left');
    await expect(withDeadline(1000, never, AbortSignal.abort(reason))).rejects.toBe(reason);
    const outer = new AbortController();
    const running = withDeadline(1000, never, outer.signal);
    outer.abort(reason);
    await expect(running).rejects.toBe(reason);
  });

  test('handles a late rejection of the work', async () => {
    const work = Promise.withResolvers<never>();
    await expect(withDeadline(5, () => work.promise)).rejects.toBeInstanceOf(DeadlineExceeded);
    work.reject(new Error('too late to matter'));
    // Node reports unhandled rejections after the microtasks.
    await new Promise((resolve) => setImmediate(resolve));
  });
});

test('an idle deadline restarts on progress and stops during a pause', async () => {
  vi.useFakeTimers();
  try {
    const deadline = startIdleDeadline(1000);
    const outcome = deadline.race(never()).catch((error: unknown) => error);
    for (let step = 0; step < 5; step++) {
      vi.advanceTimersByTime(900);
      deadline.touch();
    }
    deadline.pause();
    vi.advanceTimersByTime(60_000);
    expect(deadline.signal.aborted).toBe(false);
    deadline.touch();
    vi.advanceTimersByTime(999);
    expect(deadline.signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(deadline.signal.aborted).toBe(true);
    expect(await outcome).toBeInstanceOf(DeadlineExceeded);
    deadline.stop();
    deadline.touch();
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});
