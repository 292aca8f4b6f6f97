/**
 * The public keys of access tokens, read from the identity provider (docs/specification/http.md#credentials: ES256, key by `kid`). Known
 * keys
 * stay valid while the provider is down, so an outage of the provider does not sign users out.
 */
import { type CryptoKey, importJWK, type JWK } from 'jose';
import { type Clock, systemClock } from '../clock.ts';
import { readAtMost } from '../http/bodies.ts';
import type { Log } from '../log.ts';
import { problems } from '../problem.ts';
import { outgoingFetch } from '../version.ts';

export interface KeySet {
  /**
   * Returns the key named `kid`, or `undefined` if the provider does not have it. Throws `engine_unavailable` if the key is
   * unknown and the provider does not respond.
   */
  find(kid: string): Promise<CryptoKey | undefined>;
}

interface KeySetOptions {
  readonly jwksUrl: string;
  readonly log: Log;
  readonly clock?: Clock;
  /** Time limit for one request of the key set. */
  readonly timeoutMs?: number;
}

/** A set older than this is refreshed in the background. */
const refreshAfterMs = 5 * 60_000;
/** Requests wait for the refresh if the set is older than this. */
const maxAgeMs = 10 * 60_000;
/**
 * Minimum time between two requests to the provider after an unknown `kid` or a failure. Callers with invented kids cannot flood the
 * provider.
 */
const cooldownMs = 1000;
const maxBytes = 256 * 1024;

export function createKeySet(options: KeySetOptions): KeySet {
  const { jwksUrl, log, clock = systemClock, timeoutMs } = options;
  let keys: ReadonlyMap<string, CryptoKey> = new Map();
  let loadedAt = Number.NEGATIVE_INFINITY;
  let failedAt = Number.NEGATIVE_INFINITY;
  let failing = false;
  let searchedAt = Number.NEGATIVE_INFINITY;
  let loading: Promise<boolean> | undefined;

  async function load(): Promise<boolean> {
    try {
      keys = await readKeys(jwksUrl, timeoutMs);
      loadedAt = clock.now();
      failing = false;
    } catch (error) {
      failedAt = clock.now();
      failing = true;
      log.warn({ err: error, keysKept: keys.size }, 'cannot read the key set of access tokens');
    }
    return !failing;
  }

  /** Allows one request at a time. Returns `false` if the provider did not respond, either now or within the cooldown. */
  function reload(): Promise<boolean> {
    if (loading === undefined && failing && clock.now() - failedAt < cooldownMs) return Promise.resolve(false);
    loading ??= load().finally(() => {
      loading = undefined;
    });
    return loading;
  }

  async function refreshWhenOld(): Promise<void> {
    const age = clock.now() - loadedAt;
    if (age < refreshAfterMs) return;
    const refreshed = reload();
    // While the provider is known to be failing, requests use the last good keys without waiting.
    if (age >= maxAgeMs && !failing) await refreshed;
  }

  return {
    async find(kid) {
      await refreshWhenOld();
      const known = keys.get(kid);
      if (known !== undefined) return known;
      if (loading === undefined && !failing && clock.now() - searchedAt < cooldownMs) return undefined;
      searchedAt = clock.now();
      if (!(await reload()))
        throw problems.engine_unavailable({ cause: new Error('no key set is available to verify a token') });
      return keys.get(kid);
    },
  };
}

/** Returns the keys that can verify access tokens, by `kid`. Rejects if the provider does not return a key set. */
export async function readKeys(jwksUrl: string, timeoutMs = 3000): Promise<ReadonlyMap<string, CryptoKey>> {
  return importKeys(await fetchKeys(jwksUrl, timeoutMs));
}

async function fetchKeys(jwksUrl: string, timeoutMs: number): Promise<readonly JWK[]> {
  const response = await outgoingFetch(jwksUrl, {
    headers: { accept: 'application/json' },
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  });
  if (response.status !== 200) throw new Error(`the provider returned ${response.status}`);
  const bytes = await readAtMost(response.body ?? [], maxBytes, () => new Error('the key set is too large'));
  const body: unknown = JSON.parse(bytes.toString());
  if (typeof body !== 'object' || body === null || !('keys' in body) || !Array.isArray(body.keys))
    throw new Error('the provider returned no `keys`');
  return body.keys;
}

/** Imports only keys that can verify ES256, and skips others (another algorithm, encryption, no `kid`). */
async function importKeys(jwks: readonly JWK[]): Promise<ReadonlyMap<string, CryptoKey>> {
  const keys = new Map<string, CryptoKey>();
  for (const jwk of jwks) {
    const { kid, kty, crv, x, y, use = 'sig', alg = 'ES256' } = jwk;
    if (typeof kid !== 'string' || kty !== 'EC' || crv !== 'P-256' || use !== 'sig' || alg !== 'ES256') continue;
    // Uses the public members only. Other members that the provider publishes must not change what the key can do.
    try {
      const key = await importJWK({ kty, crv, x, y }, 'ES256');
      if (!(key instanceof Uint8Array)) keys.set(kid, key);
    } catch {
      // A malformed key is skipped, and the other keys remain valid.
    }
  }
  return keys;
}
