import { afterEach, expect, it, vi } from 'vitest';
import { createTokens } from './tokens.ts';

afterEach(() => vi.unstubAllGlobals());

/** The authentication service. Its first token expires at once, and the others in an hour. */
function serveTokens() {
  let count = 0;
  const serve = vi.fn(async () => {
    count += 1;
    const expiresInS = count === 1 ? 0 : 3600;
    // The service's clock may differ from the device's.
    return Response.json({ access_token: `token ${count}`, expires_in: expiresInS, expires_at: 0 });
  });
  vi.stubGlobal('fetch', serve);
  return serve;
}

it('concurrent calls share the renewal of an expired token', async () => {
  const serve = serveTokens();
  const token = createTokens('https://auth.example');
  expect(await Promise.all([token(), token(), token(), token()])).toEqual(Array(4).fill('token 2'));
  expect(serve).toHaveBeenCalledTimes(2);
});

it('a call after a failed renewal tries again', async () => {
  serveTokens().mockRejectedValueOnce(new TypeError('offline'));
  const token = createTokens('https://auth.example');
  await expect(token()).rejects.toMatchObject({ status: 0 });
  expect(await token()).toBe('token 2');
});

it('a call whose token was refused gets another one', async () => {
  serveTokens();
  const token = createTokens('https://auth.example');
  expect(await token()).toBe('token 2');
  expect(await token()).toBe('token 2');
  expect(await token('token 2')).toBe('token 3');
});
