import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startWire, type Wire, type WireResponse } from '../../test/client/wires.ts';
import { createSession } from './session.ts';

let wire: Wire;
beforeAll(async () => {
  wire = await startWire();
});
afterAll(() => wire.close());

const sessionOf = () => createSession({ url: wire.url, patience: { firstPauseMs: 1, longestPauseMs: 5 } });
const token = (name: string, goodForS = 3600): WireResponse => ({
  body: {
    access_token: name,
    token_type: 'bearer',
    expires_in: goodForS,
    expires_at: Math.floor(Date.now() / 1000) + goodForS,
  },
});
const requests = () => wire.seen.map(({ method, url }) => `${method} ${url}`);

it('requests a token once for concurrent callers, and again shortly before it expires', async () => {
  wire.respond(token('one', 30), token('two'), token('three'));
  const session = sessionOf();
  // The first token is too old to use.
  const given = await Promise.all([session.accessToken(), session.accessToken(), session.accessToken()]);
  expect(given).toEqual(['two', 'two', 'two']);
  expect(await session.accessToken()).toBe('two');
  expect(requests()).toEqual(['POST /refresh', 'POST /refresh']);
});

it('requests another one, once, for all callers whose token was rejected', async () => {
  wire.respond(token('one'), token('two'), token('three'));
  const session = sessionOf();
  await session.accessToken();
  expect(await Promise.all([session.accessToken('one'), session.accessToken('one')])).toEqual(['two', 'two']);
  expect(await session.accessToken('one')).toBe('two');
  expect(requests()).toHaveLength(2);
});

it('reports that no user is signed in, and calls again when that may have changed', async () => {
  wire.respond({ status: 401, body: { error: 'no_session' } }, { fate: 'cut' }, token('one'));
  const session = sessionOf();
  await expect(session.accessToken()).rejects.toMatchObject({ code: 'no_session', status: 401 });
  expect(await session.accessToken()).toBe('one');
});

it('drops the token when the user signs out', async () => {
  wire.respond(token('one'), { body: { ok: true } }, { status: 401, body: { error: 'no_session' } });
  const session = sessionOf();
  await session.accessToken();
  await session.signOut();
  await expect(session.accessToken()).rejects.toMatchObject({ status: 401 });
  expect(requests()).toEqual(['POST /refresh', 'POST /logout', 'POST /refresh']);
});

it.each([-120, 59, 120])('requests one token if the clock of the device is %i minutes ahead', async (minutes) => {
  const now = Date.now;
  wire.respond(token('one'), token('two'));
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() + minutes * 60_000);
  try {
    const session = sessionOf();
    for (let call = 0; call < 20; call++) expect(await session.accessToken()).toBe('one');
    expect(requests()).toHaveLength(1);
  } finally {
    clock.mockRestore();
  }
});
