import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createLog } from '#platform/log.ts';
import { startSampling } from './history.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('leaves the services alone while they start', async () => {
  const sample = vi.fn(async () => undefined);
  const history = { sample, read: () => expect.unreachable() };
  const sampling = startSampling(history, { log: createLog({ level: 'silent' }), sampleEveryMs: 1000 });
  await vi.advanceTimersByTimeAsync(999);
  expect(sample).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(sample).toHaveBeenCalledOnce();
  await sampling.stop();
});
