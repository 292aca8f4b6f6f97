/** Rotates keys as docs/deployment.md describes, on a running suite, restart by restart. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newLanePlace, type Place, type Program, run } from '../acceptance/running.fixture.ts';
import { openBrowser, signIn } from '../auth/browser.fixture.ts';

const [first, second] = ['first-key-of-the-tests', 'second-key-of-the-tests'];
const hex = (pair: string) => pair.repeat(32);
let place: Place;
let running: Program | undefined;

beforeAll(async () => {
  place = await newLanePlace();
});
afterAll(async () => {
  running?.child.kill('SIGKILL');
  await running?.ended();
  await place.remove();
});

async function restart(keys: Readonly<Record<string, string>>): Promise<void> {
  running?.child.kill('SIGTERM');
  expect((await running?.ended(60_000)) ?? 0).toBe(0);
  running = run('start', ['media', 'auth', 'edge', 'idp'], { ...place.env, LOG_LEVEL: 'error', ...keys });
  await running.waitFor('Atelier is ready', 280_000);
}

const urlOf = (offset: number) => `http://localhost:${place.portBase + offset}`;

/** Returns the status and body of a call with this key. */
async function reserve(
  key: string,
): Promise<{ readonly status: number; readonly uploadUrl: string; readonly headers: Record<string, string> }> {
  const answer = await fetch(`${urlOf(1)}/v1/uploads`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-internal-key': key },
    body: JSON.stringify({
      ownerId: '00000000-0000-4000-8000-00000000000a',
      ...{ scopeKind: 'thread', scopeId: 't', kind: 'image', mime: 'image/png' },
    }),
  });
  const body = (await answer.json()) as { readonly uploadUrl: string; readonly headers: Record<string, string> };
  return { ...body, status: answer.status };
}
const statuses = async (...keys: readonly string[]) =>
  Promise.all(keys.map(async (key) => (await reserve(key)).status));
const put = async ({ uploadUrl, headers }: Awaited<ReturnType<typeof reserve>>) =>
  (await fetch(uploadUrl, { method: 'PUT', headers, body: 'x' })).status;

it('rotates internal keys, cookie secrets and signing keys without interruption, except where documented', {
  timeout: 600_000,
}, async () => {
  const before = { IMGPROXY_KEY: hex('ab'), IMGPROXY_SALT: hex('cd') };
  const after = { IMGPROXY_KEY: hex('ef'), IMGPROXY_SALT: hex('cd') };
  const origin = `http://localhost:${place.portBase}`;
  const browser = openBrowser();
  const refresh = async (some = browser) => (await some.post(`${urlOf(3)}/refresh`, { origin })).status;

  await restart({ INTERNAL_KEY: first, COOKIE_SECRETS: first, ...before });
  await signIn(browser, urlOf(3));
  const atFirst = new Map(browser.cookies);
  expect(await statuses(first, second)).toEqual([200, 401]);

  // The new keys are accepted everywhere, but not yet sent or used for sealing.
  await restart({ INTERNAL_KEY: `${first},${second}`, COOKIE_SECRETS: `${first},${second}`, ...before });
  expect(await statuses(first, second)).toEqual([200, 200]);
  expect(await refresh()).toBe(200);

  await restart({ INTERNAL_KEY: `${second},${first}`, COOKIE_SECRETS: `${second},${first}`, ...before });
  expect(await statuses(first, second)).toEqual([200, 200]);
  expect(await refresh()).toBe(200);
  const signed = await reserve(second);
  const other = await reserve(second);
  expect(await put(signed)).toBe(200);

  // The old keys are removed, and the signing key changes at once.
  await restart({ INTERNAL_KEY: second, COOKIE_SECRETS: second, ...after });
  expect(await statuses(first, second)).toEqual([401, 200]);
  expect(await refresh()).toBe(200);
  expect(await refresh(openBrowser(atFirst))).toBe(401);
  expect(await put(other)).toBe(403);
  expect(await put(await reserve(second))).toBe(200);
});
