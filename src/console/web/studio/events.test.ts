import { expect, it, vi } from 'vitest';
import { readForever } from './events.ts';

// It needs a browser.
vi.mock('../user.tsx', () => ({}));

it('stops at once when the user leaves during a pause between attempts', { timeout: 5000 }, async () => {
  const leaving = new AbortController();
  const refused = Promise.withResolvers<void>();
  const agent = {
    url: 'http://service.example',
    credential: { accessToken: async () => 'a token' },
    patience: { tries: 1 },
    fetch: async () => {
      refused.resolve();
      throw new TypeError('fetch failed');
    },
  };
  const next = readForever({ agent }, leaving.signal).next();
  await refused.promise;
  // The failure reaches the pause.
  await new Promise((resolve) => setImmediate(resolve));
  leaving.abort();
  expect(await next).toEqual({ done: true, value: undefined });
});
