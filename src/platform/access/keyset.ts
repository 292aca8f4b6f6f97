/**
 * The public keys of access tokens, read from the identity provider (docs/specification/http.md#credentials: ES256, key by `kid`). Kept while the
 * provider is down: a failing provider never signs anybody out.
 */
import { type CryptoKey, importJWK, type JWK } from 'jose';
import { type Clock, systemClock } from '../clock.ts';
import { outgoingFetch } from '../http/outgoing.ts';
import type { Log } from '../log.ts';
import { problems } from '../problem.ts';

export interface KeySet {
  /**
   * The key named `kid`; `undefined` when the provider does not have it. Throws `engine_unavailable` when the key is not
   * known and the provider cannot be asked.
   */
  find(kid: string): Promise<CryptoKey | undefined>;
}

interface KeySetOptions {
  readonly jwksUrl: string;
  readonly log: Log;
  readonly clock?: Clock;
  /** For one reading of the key set. */
  readonly timeoutMs?: number;
}

/** Older than this, the set is read again beside the requests … */
const refreshAfterMs = 5 * 60_000;
/** … and older than this, requests wait for it. */
const maxAgeMs = 10 * 60_000;
/** Between two readings for the sake of unknown kids, or after a failure: strangers cannot make us hammer the provider. */
const cooldownMs = 1000;
const maxBytes = 256 * 1024;

export function createKeySet(options: KeySetOptions): KeySet {
  const { jwksUrl, log, clock = systemClock, timeoutMs = 3000 } = options;
  let keys: ReadonlyMap<string, CryptoKey> = new Map();
  let loadedAt = Number.NEGATIVE_INFINITY;
  let failedAt = Number.NEGATIVE_INFINITY;
  let failing = false;
  let searchedAt = Number.NEGATIVE_INFINITY;
  let loading: Promise<boolean> | undefined;

  async function load(): Promise<boolean> {
    try {
      keys = await importKeys(await fetchKeys(jwksUrl, timeoutMs));
      loadedAt = clock.now();
      failing = false;
    } catch (error) {
      failedAt = clock.now();
      failing = true;
      log.warn({ err: error, keysKept: keys.size }, 'the key set of access tokens cannot be read');
    }
    return !failing;
  }

  /** Single flight. `false`: the provider did not answer, just now or within the cooldown. */
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
    // With the provider known to be failing nobody waits for it: the last good keys stand.
    if (age >= maxAgeMs && !failing) await refreshed;
  }

  return {
    async find(kid) {
      await refreshWhenOld();
      const known = keys.get(kid);
      if (known !== undefined) return known;
      if (loading === undefined && !failing && clock.now() - searchedAt < cooldownMs) return undefined;
      searchedAt = clock.now();
      if (!(await reload())) throw problems.engine_unavailable({ cause: new Error('no key set to judge a token by') });
      return keys.get(kid);
    },
  };
}

async function fetchKeys(jwksUrl: string, timeoutMs: number): Promise<readonly JWK[]> {
  const response = await outgoingFetch(jwksUrl, {
    headers: { accept: 'application/json' },
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  });
  if (response.status !== 200) throw new Error(`the provider answered ${response.status}`);
  const text = await response.text();
  if (text.length > maxBytes) throw new Error('the key set is too large');
  const body: unknown = JSON.parse(text);
  if (typeof body !== 'object' || body === null || !('keys' in body) || !Array.isArray(body.keys))
    throw new Error('the provider answered without `keys`');
  return body.keys;
}

/** Only keys that can verify ES256 count; others (another algorithm, encryption, no kid) are passed over. */
async function importKeys(jwks: readonly JWK[]): Promise<ReadonlyMap<string, CryptoKey>> {
  const keys = new Map<string, CryptoKey>();
  for (const jwk of jwks) {
    const { kid, kty, crv, x, y, use = 'sig', alg = 'ES256' } = jwk;
    if (typeof kid !== 'string' || kty !== 'EC' || crv !== 'P-256' || use !== 'sig' || alg !== 'ES256') continue;
    // Public members only: whatever else the provider publishes has no say in what the key may do.
    try {
      const key = await importJWK({ kty, crv, x, y }, 'ES256');
      if (!(key instanceof Uint8Array)) keys.set(kid, key);
    } catch {
      // A malformed key verifies nothing; the others still count.
    }
  }
  return keys;
}
