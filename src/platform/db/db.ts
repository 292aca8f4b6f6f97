/**
 * The database: one interface, two drivers (`pglite.ts`, `postgres.ts`), chosen in `open.ts` only. Queries are Kysely's,
 * typed by the tables that a service declares beside its `store.ts`.
 *
 * Transactions are passed, not conjured (ARCHITECTURE.md): stores take `Db | Tx`; while a transaction runs, the outer
 * handle, the object store and other services throw at once. AsyncLocalStorage serves to detect that, not to hide it.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import { problems } from '../problem.ts';
import { DeadlineExceeded, withDeadline } from '../resilience.ts';

export type Db<Tables> = Kysely<Tables>;
export type Tx<Tables> = Transaction<Tables>;

/** An opened database. `queries` is narrowed by each service to its own tables. */
export interface Database {
  readonly driver: 'pglite' | 'postgres';
  queries<Tables>(): Db<Tables>;
  /** For /ready and doctor. Throws if the engine does not respond. */
  check(): Promise<void>;
  /** Queries in flight are finished, new ones refused as `draining`. */
  close(): Promise<void>;
}

interface RunningTransaction {
  phase: 'opening' | 'open' | 'over';
  readonly afterCommit: (() => void)[];
}

const running = new AsyncLocalStorage<RunningTransaction>();

/**
 * Runs `work` in one transaction (read committed): all of it is committed, or none. Not nestable, never retried
 * automatically: a deadlock or a serialization failure is `engine_unavailable` for the caller to try again. Still open after
 * `timeoutMs`, it is rolled back, so that a `work` that hangs cannot keep the one connection of PGlite.
 */
export async function transaction<Tables, Result>(
  db: Db<Tables>,
  work: (tx: Tx<Tables>) => Promise<Result>,
  timeoutMs = 10_000,
): Promise<Result> {
  assertOutsideTransaction('a nested transaction');
  const state: RunningTransaction = { phase: 'opening', afterCommit: [] };
  const result = await running.run(state, () =>
    db.transaction().execute(async (tx) => {
      state.phase = 'open';
      try {
        return await withDeadline(timeoutMs, () => work(tx));
      } catch (error) {
        throw error instanceof DeadlineExceeded ? problems.engine_unavailable({ cause: error }) : error;
      } finally {
        state.phase = 'over';
      }
    }),
  );
  for (const run of state.afterCommit) run();
  return result;
}

/** Calls `run` after the commit, or immediately outside a transaction. Never after a rollback. */
export function afterCommit(run: () => void): void {
  const state = running.getStore();
  if (state?.phase === 'open') state.afterCommit.push(run);
  else run();
}

/** Called by everything that must not be used within a transaction: the outer handle, object stores, other services. */
export function assertOutsideTransaction(what: string): void {
  if (running.getStore()?.phase === 'open') throw new Error(`${what} was used inside a transaction`);
}

/** Called by the dialect: a transaction begun past `transaction` would be one that the guard does not see. */
export function assertBegunByTransaction(): void {
  if (running.getStore()?.phase !== 'opening') throw new Error('Begin transactions with transaction() of platform/db');
}

/** Transactions that hold the same name wait for each other here, in all processes, until each ends. */
export async function holdName<Tables>(tx: Tx<Tables>, name: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(tx);
}

type Count = 'numUpdatedRows' | 'numDeletedRows' | 'numInsertedOrUpdatedRows';

/** Runs a statement, and returns whether it changed a row: `.$call(hasChanged)` ends the statement. */
export async function hasChanged(statement: {
  executeTakeFirstOrThrow(): Promise<{ readonly [Name in Count]?: bigint | undefined }>;
}): Promise<boolean> {
  const { numUpdatedRows, numDeletedRows, numInsertedOrUpdatedRows } = await statement.executeTakeFirstOrThrow();
  return (numUpdatedRows ?? numDeletedRows ?? numInsertedOrUpdatedRows ?? 0n) > 0n;
}

/** A jsonb parameter. Never pass an array or object bare: pg would make a PostgreSQL array of it. */
export function json<Value>(value: Value): RawBuilder<Value> {
  return sql<Value>`cast(${JSON.stringify(value)} as jsonb)`;
}

// Columns under the names that the code uses.

type Words<Text extends string> = Text extends `${infer First} ${infer Rest}` ? First | Words<Rest> : Text;
type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;
type Aliased<Name extends string> = Name extends string ? `${Name} as ${CamelCase<Name>}` : never;

/** `inCamelCase('asset_id mime')` selects `asset_id as assetId` and `mime`. The compiler knows the columns. */
export function inCamelCase<const Names extends string>(...lists: readonly Names[]): readonly Aliased<Words<Names>>[] {
  const camel = (name: string) => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  return lists.flatMap((list) => list.split(' ')).map((name) => `${name} as ${camel(name)}` as Aliased<Words<Names>>);
}
