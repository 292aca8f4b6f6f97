import { importJWK } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestIssuer, type TestIssuer, testUserId } from '../../../test/platform/tokenissuer.fixture.ts';
import { createTokenVerifier, type TokenVerifier } from './access.ts';
import type { KeySet } from './keyset.ts';

let issuer: TestIssuer;
let nowMs: number;
let looked: number;
let tokens: TokenVerifier;

beforeAll(async () => {
  issuer = await startTestIssuer();
});
afterAll(() => issuer.close());
beforeEach(async () => {
  nowMs = Date.now();
  looked = 0;
  const key = await importJWK(issuer.publicJwk(), 'ES256');
  const keys: KeySet = {
    async find(kid) {
      looked += 1;
      return kid === 'k1' && !(key instanceof Uint8Array) ? key : undefined;
    },
  };
  tokens = createTokenVerifier(keys, { now: () => nowMs });
});

const unauthorized = expect.objectContaining({ code: 'unauthorized', status: 401 });

describe('a verified token', () => {
  it('is remembered for a minute', async () => {
    const token = await issuer.token();
    for (let count = 0; count < 3; count += 1) expect((await tokens.verify(token)).userId).toBe(testUserId);
    expect(looked).toBe(1);
    nowMs += 60_000;
    await tokens.verify(token);
    expect(looked).toBe(2);
  });

  it('is not remembered beyond its expiry', async () => {
    const expS = Math.floor(nowMs / 1000) + 10;
    const token = await issuer.token({ exp: expS });
    await tokens.verify(token);
    nowMs = expS * 1000 - 1;
    await tokens.verify(token);
    nowMs = expS * 1000;
    await expect(tokens.verify(token)).rejects.toEqual(unauthorized);
  });

  it('does not validate another token', async () => {
    const other = '11111111-2222-4333-8444-555555555555';
    const [mine, theirs] = [await issuer.token(), await issuer.token({ sub: other })];
    expect((await tokens.verify(mine)).userId).toBe(testUserId);
    expect((await tokens.verify(theirs)).userId).toBe(other);
    expect((await tokens.verify(mine)).userId).toBe(testUserId);
  });
});

describe('a rejected token', () => {
  it('is rejected every time', async () => {
    const token = `${(await issuer.token()).slice(0, -6)}AAAAAA`;
    for (let count = 0; count < 2; count += 1) await expect(tokens.verify(token)).rejects.toEqual(unauthorized);
    expect(looked).toBe(2);
  });

  it('is rejected without a key lookup if it is huge or uses another algorithm', async () => {
    const header = Buffer.from('{"alg":"none","kid":"k1"}').toString('base64url');
    for (const token of [await issuer.token({ filler: 'x'.repeat(8192) }), `${header}.e30.AA`])
      await expect(tokens.verify(token)).rejects.toEqual(unauthorized);
    expect(looked).toBe(0);
  });
});

describe('random bytes as a token', () => {
  /** A seeded generator makes failures reproducible. */
  function* numbers(seed: number) {
    for (let state = seed; ; ) {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      yield state;
    }
  }

  it('are never accepted and always result in 401', async () => {
    const random = numbers(42);
    const next = (below: number) => (random.next().value ?? 0) % below;
    const good = await issuer.token();
    for (let round = 0; round < 2000; round += 1) {
      const bytes = Buffer.from(good);
      const cuts = 1 + next(4);
      for (let cut = 0; cut < cuts; cut += 1) bytes[next(bytes.length - 1)] = next(256);
      const token = bytes.subarray(0, round % 3 === 0 ? next(bytes.length) : bytes.length).toString('latin1');
      if (token === good) continue;
      const outcome = await tokens.verify(token).catch((error: unknown) => error);
      // Base64url ignores some bits of a part's last character, so a different spelling can be the same token.
      if (outcome === testUserId) expect(decoded(token)).toEqual(decoded(good));
      else expect(outcome).toEqual(unauthorized);
    }
  });

  const decoded = (token: string) => token.split('.').map((part) => Buffer.from(part, 'base64url').toString('hex'));
});
