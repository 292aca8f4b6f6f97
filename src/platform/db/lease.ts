/**
 * Leases for work that only one process may do at a time (docs/specification/system.md#processes: with PostgreSQL and without Redis, one process
 * per service). They are rows of the database and use its clock; one statement per process renews all leases that it holds.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { startInterval } from '../background/interval.ts';
import type { Log } from '../log.ts';
import type { Db } from './db.ts';

export interface LeaseTables {
  /** `fence` is not used: what a lease guards stops when its signal aborts. */
  leases: { name: string; holder: string; fence: number; expires_at: Date };
}

export interface LeasesOptions {
  readonly db: Db<LeaseTables>;
  readonly log: Log;
  /** How long a lease outlives the last sign of its holder. */
  readonly ttlMs?: number;
  readonly renewEveryMs?: number;
}

export type Leases = ReturnType<typeof createLeases>;

export class LeaseLost extends Error {
  constructor(name: string) {
    super(`The lease ${name} is lost`);
    this.name = 'LeaseLost';
  }
}

export function createLeases({ db, log, ttlMs = 15_000, renewEveryMs = ttlMs / 3 }: LeasesOptions) {
  const rows = leaseRows(db, randomUUID(), ttlMs);
  const held = new Map<string, HeldLease>();

  /**
   * The signal is aborted with LeaseLost if another process took the lease or it could not be renewed in time. `undefined`: this
   * process or another one holds it.
   */
  async function acquire(name: string): Promise<AbortSignal | undefined> {
    const startedAtMs = performance.now();
    if (!(await rows.take(name))) return undefined;
    const lease = new HeldLease(name, ttlMs, () => {
      held.delete(name);
      log.error({ lease: name }, 'a lease is lost');
    });
    lease.prolong(startedAtMs);
    held.set(name, lease);
    return lease.signal;
  }

  /** For a start after a crash: waits until a dead holder's lease expires; `undefined` if the holder renews it. */
  async function acquireFromDead(name: string): Promise<AbortSignal | undefined> {
    let seen: Date | undefined;
    for (;;) {
      const lease = await acquire(name);
      if (lease !== undefined) return lease;
      const expiry = await rows.expiry(name);
      if (seen !== undefined && expiry !== undefined && expiry > seen) return undefined;
      seen ??= expiry;
      await sleep(Math.min(500, renewEveryMs));
    }
  }

  async function renew(): Promise<void> {
    if (held.size === 0) return;
    const startedAtMs = performance.now();
    const renewing = [...held];
    const renewed = await rows.renew(renewing.map(([name]) => name));
    for (const [name, lease] of renewing) {
      // Lost, and perhaps acquired again, while the statement ran.
      if (held.get(name) !== lease) continue;
      if (renewed.has(name)) lease.prolong(startedAtMs);
      else lease.lose();
    }
  }

  const renewal = startInterval(renewEveryMs, renew, (error) => {
    // The next call retries. If it is too late, the lease's own timer reports the loss.
    log.warn({ err: error }, 'leases could not be renewed');
  });

  return {
    acquire,
    acquireFromDead,
    /** Releases what is held. */
    close: async (): Promise<void> => {
      void renewal.stop();
      for (const lease of held.values()) lease.forget();
      held.clear();
      await rows.releaseAll();
    },
  };
}

/** The holder's view: until when it surely holds the lease, by a monotonic clock. */
class HeldLease {
  readonly #name: string;
  readonly #ttlMs: number;
  readonly #onLoss: () => void;
  readonly #controller = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(name: string, ttlMs: number, onLoss: () => void) {
    this.#name = name;
    this.#ttlMs = ttlMs;
    this.#onLoss = onLoss;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** `fromMs`: performance.now() before the statement, so never later than the moment the database counts from. */
  prolong(fromMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.lose(), Math.max(0, fromMs + this.#ttlMs - performance.now())).unref();
  }

  lose(): void {
    this.forget();
    this.#onLoss();
    this.#controller.abort(new LeaseLost(this.#name));
  }

  forget(): void {
    clearTimeout(this.#timer);
  }
}

/** The statements. An expired lease is not revived, not even by its holder, which may have been notified of the loss. */
function leaseRows(db: Db<LeaseTables>, holder: string, ttlMs: number) {
  const now = sql<Date>`clock_timestamp()`;
  const later = sql<Date>`clock_timestamp() + make_interval(secs => ${ttlMs / 1000})`;
  const mine = () => db.updateTable('leases').where('holder', '=', holder).where('expires_at', '>', now);
  return {
    /** Whether the lease was free. */
    async take(name: string): Promise<boolean> {
      const row = await db
        .insertInto('leases')
        .values({ name, holder, fence: 1, expires_at: later })
        .onConflict((conflict) =>
          conflict.column('name').doUpdateSet({ holder, expires_at: later }).where('leases.expires_at', '<=', now),
        )
        .returning('name')
        .executeTakeFirst();
      return row !== undefined;
    },
    async renew(names: readonly string[]): Promise<ReadonlySet<string>> {
      const rows = await mine().where('name', 'in', names).set({ expires_at: later }).returning('name').execute();
      return new Set(rows.map(({ name }) => name));
    },
    async releaseAll(): Promise<void> {
      await mine().set({ expires_at: now }).execute();
    },
    async expiry(name: string): Promise<Date | undefined> {
      const row = await db.selectFrom('leases').select('expires_at').where('name', '=', name).executeTakeFirst();
      return row?.expires_at;
    },
  };
}
