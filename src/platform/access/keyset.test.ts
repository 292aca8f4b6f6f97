import { exportJWK, generateKeyPair } from 'jose';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startTestIssuer, type TestIssuer } from '../../../test/platform/tokenissuer.fixture.ts';
import { createLog } from '../log.ts';
import { createKeySet, type KeySet } from './keyset.ts';

const minuteMs = 60_000;
let issuer: TestIssuer;
let nowMs: number;
let keys: KeySet;

beforeEach(async () => {
  issuer = await startTestIssuer();
  nowMs = 1_800_000_000_000;
  keys = createKeySet({
    jwksUrl: issuer.jwksUrl,
    log: createLog({ level: 'silent' }),
    clock: { now: () => nowMs },
    timeoutMs: 500,
  });
});
afterEach(() => issuer.close());

const unavailable = expect.objectContaining({ code: 'engine_unavailable', status: 503 });

describe('a key set', () => {
  it('is requested once for concurrent lookups', async () => {
    const found = await Promise.all(Array.from({ length: 50 }, () => keys.find('k1')));
    expect(found.every((key) => key !== undefined)).toBe(true);
    expect(issuer.requestCount()).toBe(1);
  });

  it('is served from memory while it is fresh', async () => {
    await keys.find('k1');
    nowMs += 4 * minuteMs;
    await keys.find('k1');
    expect(issuer.requestCount()).toBe(1);
  });

  it('is immediately requested again for a new kid', async () => {
    await keys.find('k1');
    await issuer.rotate('k2');
    expect(await keys.find('k2')).toBeDefined();
    expect(await keys.find('k1')).toBeDefined();
    expect(issuer.requestCount()).toBe(2);
  });

  it('does not send a request to the provider for each unknown kid', async () => {
    await keys.find('k1');
    for (const kid of ['a', 'b', 'c', 'd']) expect(await keys.find(kid)).toBeUndefined();
    expect(issuer.requestCount()).toBe(2);
    nowMs += 1001;
    expect(await keys.find('e')).toBeUndefined();
    expect(issuer.requestCount()).toBe(3);
  });

  it('drops a key that the provider revoked', async () => {
    await keys.find('k1');
    await issuer.rotate('k2', false);
    nowMs += 11 * minuteMs;
    expect(await keys.find('k1')).toBeUndefined();
  });

  it('is refreshed in the background before it is too old', async () => {
    await keys.find('k1');
    nowMs += 6 * minuteMs;
    await keys.find('k1');
    await expect.poll(() => issuer.requestCount()).toBe(2);
  });
});

describe('while the provider is down', () => {
  it.each(['failing', 'hanging', 'garbage'] as const)('%s: keeps the last good keys', async (state) => {
    await keys.find('k1');
    issuer.become(state);
    nowMs += 60 * minuteMs;
    expect(await keys.find('k1')).toBeDefined();
    expect(await keys.find('k1')).toBeDefined();
    expect(issuer.requestCount()).toBe(2);
  });

  it.each(['failing', 'hanging', 'garbage'] as const)(
    '%s: returns 503 for an unknown key, never 401',
    async (state) => {
      issuer.become(state);
      await expect(keys.find('k1')).rejects.toEqual(unavailable);
      await expect(keys.find('k1')).rejects.toEqual(unavailable);
      expect(issuer.requestCount()).toBe(1);
    },
  );

  it('returns 503 for a kid that it cannot look up, and recovers automatically', async () => {
    await keys.find('k1');
    issuer.become('failing');
    await issuer.rotate('k2');
    await expect(keys.find('k2')).rejects.toEqual(unavailable);
    issuer.become('up');
    nowMs += 1001;
    expect(await keys.find('k2')).toBeDefined();
  });

  it('does not wait for the end of a key set that is too large', async () => {
    issuer.become('endless');
    const patient = createKeySet({
      jwksUrl: issuer.jwksUrl,
      log: createLog({ level: 'silent' }),
      timeoutMs: 600_000,
    });
    await expect(patient.find('k1')).rejects.toEqual(unavailable);
    await expect.poll(() => issuer.openResponses()).toBe(0);
  });

  it('returns 503 if nothing listens', async () => {
    await issuer.close();
    await expect(keys.find('k1')).rejects.toEqual(unavailable);
  });
});

describe('published keys', () => {
  it('skips keys that cannot verify ES256', async () => {
    const rsa = await exportJWK((await generateKeyPair('RS256', { extractable: true })).publicKey);
    const p384 = await exportJWK((await generateKeyPair('ES384', { extractable: true })).publicKey);
    const good = issuer.publicJwk();
    issuer.publish(
      { ...rsa, kid: 'rsa', alg: 'RS256' },
      { ...p384, kid: 'p384' },
      { ...good, kid: 'enc', use: 'enc' },
      { ...good, kid: 'other-alg', alg: 'ES384' },
      { ...good, kid: undefined },
      { kty: 'EC', crv: 'P-256', x: '!!', y: 'AA', kid: 'malformed' },
      { kty: 'oct', k: 'AAAA', kid: 'oct', alg: 'HS256' },
      { ...good, kid: 'bare', use: undefined, alg: undefined },
    );
    const found = async (kid: string) => (await keys.find(kid)) !== undefined;
    expect(await found('k1')).toBe(true);
    expect(await found('bare')).toBe(true);
    for (const kid of ['rsa', 'p384', 'enc', 'other-alg', 'undefined', 'malformed', 'oct'])
      expect([kid, await found(kid)]).toEqual([kid, false]);
  });
});
