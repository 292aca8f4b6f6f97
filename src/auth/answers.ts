/**
 * Refreshes under way and their answers, kept for whoever asks with the same token: in the database where several
 * processes may share it, and in memory where one process alone has it (embedded), which costs nothing.
 */
import type { Database } from '#platform/db/db.ts';
import {
  type AuthTables,
  buryToken,
  claimRefresh,
  dropRefreshes,
  findRefresh,
  forgetToken,
  type Settled,
  settleRefresh,
  sweepRefreshes,
} from './store.ts';

export type { Settled };

export interface Kept {
  /** `null`: the provider is being asked. */
  readonly outcome: Settled['outcome'] | 'signed_out' | null;
  /** Of `ok`. */
  readonly sealed: string | null;
}

/** Tokens are named by their SHA-256. */
export interface Answers {
  /**
   * `true`: this try is the one that asks the provider, for at most `ttlMs`. Failures are not kept: a new call may try
   * anew, and only those that waited already are told.
   */
  claim(tokenHash: Buffer, attempt: string, ttlMs: number): Promise<boolean>;
  find(tokenHash: Buffer): Promise<Kept | undefined>;
  /** Does nothing when the claim ran out and somebody else has it, or a logout came in between. */
  settle(tokenHash: Buffer, attempt: string, settled: Settled, keptMs: number): Promise<void>;
  /** What is kept of a session: under this token, followed by it, or of the same user. Graves stay. */
  drop(tokenHash: Buffer, subjectHash: Buffer | undefined): Promise<void>;
  /** From now on the token is dead here, whatever the provider says of it. */
  bury(tokenHash: Buffer, attempt: string, ttlMs: number): Promise<void>;
  /** A token that a sign-in has just brought has no past. */
  forget(tokenHash: Buffer): Promise<void>;
  /** Drops what was kept long enough. */
  sweep(): Promise<void>;
}

export function databaseAnswers(database: Database): Answers {
  const db = database.queries<AuthTables>();
  return {
    claim: (tokenHash, attempt, ttlMs) => claimRefresh(db, tokenHash, attempt, ttlMs),
    find: (tokenHash) => findRefresh(db, tokenHash),
    settle: (tokenHash, attempt, settled, keptMs) => settleRefresh(db, tokenHash, attempt, settled, keptMs),
    drop: (tokenHash, subjectHash) => dropRefreshes(db, tokenHash, subjectHash),
    bury: (tokenHash, attempt, ttlMs) => buryToken(db, tokenHash, attempt, ttlMs),
    forget: (tokenHash) => forgetToken(db, tokenHash),
    sweep: () => sweepRefreshes(db),
  };
}
