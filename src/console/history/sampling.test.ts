import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createLog } from '#platform/log.ts';
import type { StoredContext } from '../context.ts';
import { startSampling } from './sampling.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('leaves the services alone while they start', async () => {
  const looked = vi.fn(() => []);
  const services = new Proxy<Record<string, string>>({}, { ownKeys: looked });
  const sampling = startSampling({
    db: {} as StoredContext['db'],
    clock: Date,
    services,
    log: createLog({ level: 'silent' }),
    sampleEveryMs: 1000,
  } as Partial<StoredContext> as StoredContext);
  await vi.advanceTimersByTimeAsync(999);
  expect(looked).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(looked).toHaveBeenCalledOnce();
  await sampling.stop();
});
