/**
 * The database: one interface, two drivers (`pglite.ts`, `postgres.ts`), chosen in `open.ts` only. Queries are Kysely's,
 * typed by the tables that a service declares beside its `store.ts`.
 *
 * Transactions are passed, not conjured (ARCHITECTURE.md): stores take `Db | Tx`; while a transaction runs, the outer
 * handle, the object store and other services throw at once. AsyncLocalStorage serves to detect that, not to hide it.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Kysely, Transaction } from 'kysely';

export type Db<Tables> = Kysely<Tables>;
export type Tx<Tables> = Transaction<Tables>;

/** An opened database. `queries` is narrowed by each service to its own tables. */
export interface Database {
  readonly driver: 'pglite' | 'postgres';
  queries<Tables>(): Db<Tables>;
  /** Throws when the engine does not answer; for /ready and doctor. */
  check(): Promise<void>;
  close(): Promise<void>;
}

const running = new AsyncLocalStorage<true>();

/** Runs `work` in one transaction: all of it is committed, or none. Not nestable. */
export function transaction<Tables, Result>(
  db: Db<Tables>,
  work: (tx: Tx<Tables>) => Promise<Result>,
): Promise<Result> {
  assertOutsideTransaction('a nested transaction');
  return db.transaction().execute((tx) => running.run(true, () => work(tx)));
}

/** Called by whatever must not be used while a transaction is open: the outer handle, object stores, other services. */
export function assertOutsideTransaction(what: string): void {
  if (running.getStore()) throw new Error(`${what} was used inside a transaction`);
}
