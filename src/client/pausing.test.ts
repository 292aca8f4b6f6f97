import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { AtelierError } from './errors.ts';
import { createPauses } from './pausing.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it.each([30 * 24 * 3_600_000, Number.POSITIVE_INFINITY])(
  'waits as long as a timer can if the service asks for %d ms',
  async (retryAfterMs) => {
    const stopping = new AbortController();
    let state = 'waiting';
    const pause = createPauses(undefined, stopping.signal).pause(
      new AtelierError('draining', 'later', { status: 503, retryAfterMs }),
    );
    const ended = pause.then(
      () => (state = 'over'),
      () => (state = 'stopped'),
    );
    await vi.advanceTimersByTimeAsync(24 * 24 * 3_600_000);
    expect(state).toBe('waiting');
    stopping.abort();
    await ended;
    expect(state).toBe('stopped');
  },
);
