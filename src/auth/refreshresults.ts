/**
 * Refreshes in progress and their results, stored for other requests with the same token: in the database if several processes may
 * share it, and in memory if one process has exclusive use of it (embedded), which costs nothing.
 */
import { removeAll } from '#platform/background/removal.ts';
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

export interface StoredResult {
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
