/**
 * Refreshes in progress and their results, stored for other requests with the same token: in the database if several processes may
 * share it, and in memory if one process has exclusive use of it (embedded), which costs nothing.
 */
import { removeAll } from '#platform/background/removal.ts';
import { createLru } from '#platform/cache/cache.ts';
import type { Database } from '#platform/db/db.ts';
import {
  claimRefresh,
  dropRefreshes,
  findRefresh,
  forgetToken,
  markTokenRevoked,
  type Settled,
  settleRefresh,
  sweepRefreshes,
} from './store.ts';
import type { AuthTables } from './tables.ts';

export type { Settled };

interface StoredResult {
  /** `null`: the request to the provider is in progress. */
  readonly outcome: Settled['outcome'] | 'signed_out' | null;
  /** Set if the outcome is `ok`. */
  readonly sealed: string | null;
}

/** Tokens are identified by their SHA-256. */
export interface RefreshResults {
  /**
   * Returns `true` if this attempt may call the provider, for at most `ttlMs`. Failures are not stored: only callers that were already
   * waiting receive them, and a new call may try again.
   */
  claim(tokenHash: Buffer, attempt: string, ttlMs: number): Promise<boolean>;
  find(tokenHash: Buffer): Promise<StoredResult | undefined>;
  /** Does nothing if the claim expired and another attempt holds it, or if a logout happened in between. */
  settle(tokenHash: Buffer, attempt: string, settled: Settled, ttlMs: number): Promise<void>;
  /** Deletes the results of a session: those of this token, of its successor, and of the same user. Revoked tokens stay recorded. */
  drop(tokenHash: Buffer, subjectHash: Buffer | undefined): Promise<void>;
  /** Marks the token as revoked here, regardless of the provider's response. */
  markRevoked(tokenHash: Buffer, attempt: string, ttlMs: number): Promise<void>;
  /** Deletes results of a token that a sign-in has just issued. */
  forget(tokenHash: Buffer): Promise<void>;
  /** Deletes expired results. */
  sweep(stopped: Pick<AbortSignal, 'aborted'>): Promise<void>;
}

const sweptAtOnce = 1000;

export function databaseRefreshResults(database: Database): RefreshResults {
  const db = database.queries<AuthTables>();
  return {
    claim: (tokenHash, attempt, ttlMs) => claimRefresh(db, tokenHash, attempt, ttlMs),
    find: (tokenHash) => findRefresh(db, tokenHash),
    settle: (tokenHash, attempt, settled, ttlMs) => settleRefresh(db, tokenHash, attempt, settled, ttlMs),
    drop: (tokenHash, subjectHash) => dropRefreshes(db, tokenHash, subjectHash),
    markRevoked: (tokenHash, attempt, ttlMs) => markTokenRevoked(db, tokenHash, attempt, ttlMs),
    forget: (tokenHash) => forgetToken(db, tokenHash),
    sweep: (stopped) => removeAll(sweptAtOnce, (limit) => sweepRefreshes(db, limit), stopped),
  };
}

// Refresh results in memory, for the lifetime of the process. After a restart, the provider returns the active token for the previous one.

interface Row extends StoredResult {
  readonly attempt: string;
  readonly successor?: string | undefined;
  readonly subject?: string | undefined;
}

/** About two kilobytes each: enough for ten seconds of heavy traffic. */
const maxRows = 20_000;
/** A refresh must not evict a sign-out. Each has about 200 bytes, and only an unavailable provider leaves one. */
const maxSignedOut = 100_000;

export function createMemoryRefreshResults(): RefreshResults {
  const rows = createLru<string, Row>(maxRows);
  const signedOut = createLru<string, StoredResult>(maxSignedOut);
  const name = (hash: Buffer) => hash.toString('base64');
  const find = (tokenHash: Buffer) => signedOut.get(name(tokenHash)) ?? rows.get(name(tokenHash));
  return {
    claim: async (tokenHash, attempt, ttlMs) => {
      const outcome = find(tokenHash)?.outcome;
      if (outcome === null || outcome === 'ok' || outcome === 'signed_out') return false;
      rows.set(name(tokenHash), { attempt, outcome: null, sealed: null }, { ttl: ttlMs });
      return true;
    },
    find: async (tokenHash) => find(tokenHash),
    settle: async (tokenHash, attempt, settled, ttlMs) => {
      const row = rows.get(name(tokenHash));
      if (row === undefined || row.attempt !== attempt || row.outcome !== null) return;
      // The cache would treat a time of 0 as unlimited.
      if (ttlMs === 0) return void rows.delete(name(tokenHash));
      const { outcome, sealed = null, successorHash, subjectHash } = settled;
      const links = { successor: successorHash && name(successorHash), subject: subjectHash && name(subjectHash) };
      rows.set(name(tokenHash), { attempt, outcome, sealed, ...links }, { ttl: ttlMs });
    },
    drop: async (tokenHash, subjectHash) => {
      const token = name(tokenHash);
      const entries = [...rows.entries()];
      const own = entries.filter(([key, { successor }]) => key === token || successor === token);
      const subjects = new Set([...own.map(([, { subject }]) => subject), subjectHash && name(subjectHash)]);
      for (const [key, { successor, subject }] of entries)
        if (key === token || successor === token || (subject !== undefined && subjects.has(subject))) rows.delete(key);
    },
    markRevoked: async (tokenHash, _attempt, ttlMs) => {
      signedOut.set(name(tokenHash), { outcome: 'signed_out', sealed: null }, { ttl: ttlMs });
      rows.delete(name(tokenHash));
    },
    forget: async (tokenHash) => {
      signedOut.delete(name(tokenHash));
      rows.delete(name(tokenHash));
    },
    sweep: async () => {
      signedOut.purgeStale();
      rows.purgeStale();
    },
  };
}
