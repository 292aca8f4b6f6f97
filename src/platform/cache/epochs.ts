/**
 * The epoch of a cache in Redis: a number in the database that is raised when Redis does not accept an invalidation. Readers
 * trust the number they know for one second only. One second after a raise, no reader uses entries of the old epoch, even if
 * that reader can reach Redis.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { monotonicClock } from '../clock.ts';
import type { Db } from '../db/db.ts';
import { fillBarrierMs } from './cache.ts';

export interface EpochTables {
  cache_epochs: { name: string; epoch: number; raised_at: Date };
}

export interface Epoch {
  readonly number: number;
  /** The epoch was raised so recently that data read before it might still be filled in. */
  readonly blocksFills: boolean;
}

export interface Epochs {
  /** Returns `undefined` if the database does not respond. Reads the database at most about once a second, and before the value expires. */
  current(): Promise<Epoch | undefined>;
  /** Resolves when no process uses the old epoch any more. */
  raise(): Promise<void>;
  /**
   * The promise of a `raise` that this process called within the last few seconds, or `undefined`. The limit is short enough that the fill
   * barrier outlasts a change.
   */
  recentRaise(): Promise<void> | undefined;
}

const trustedForMs = 1000;
const rereadAfterMs = 500;
/** The part of `fillBarrierMs` in which a raise counts as recent. The rest is longer than a change takes. */
const recentRaiseMs = 5000;

export function createEpochs(db: Db<EpochTables>, name: string): Epochs {
  const now = () => monotonicClock.now();
  let known: { readonly epoch: Epoch; readonly readAt: number } | undefined;
  let reading: Promise<void> | undefined;
  let raised: { readonly at: number; readonly done: Promise<void> } | undefined;

  async function read(): Promise<void> {
    const readAt = now();
    const row = await db
      .selectFrom('cache_epochs')
      .select([
        'epoch',
        sql<boolean>`raised_at > now() - make_interval(secs => ${fillBarrierMs / 1000})`.as('blocksFills'),
      ])
      .where('name', '=', name)
      .executeTakeFirst();
    const epoch = { number: row?.epoch ?? 0, blocksFills: row?.blocksFills ?? false };
    // A result that was read before this process raised the epoch is outdated.
    if (epoch.number >= (known?.epoch.number ?? 0)) known = { epoch, readAt };
  }

  const readOnce = () => {
    reading ??= read()
      .catch(() => undefined)
      .finally(() => {
        reading = undefined;
      });
    return reading;
  };

  return {
    current: async () => {
      const age = known === undefined ? Number.POSITIVE_INFINITY : now() - known.readAt;
      if (age > rereadAfterMs) {
        const reread = readOnce();
        if (age > trustedForMs) await reread;
      }
      return known !== undefined && now() - known.readAt <= trustedForMs ? known.epoch : undefined;
    },
    raise: () => {
      const done = raise();
      raised = { at: now(), done };
      done.catch(() => {
        if (raised?.done === done) raised = undefined;
      });
      return done;
    },
    recentRaise: () => (raised !== undefined && now() - raised.at < recentRaiseMs ? raised.done : undefined),
  };

  async function raise(): Promise<void> {
    const row = await db
      .insertInto('cache_epochs')
      .values({ name, epoch: 1, raised_at: sql`now()` })
      .onConflict((conflict) =>
        conflict
          .column('name')
          .doUpdateSet((eb) => ({ epoch: eb('cache_epochs.epoch', '+', 1), raised_at: sql`now()` })),
      )
      .returning('epoch')
      .executeTakeFirstOrThrow();
    known = { epoch: { number: row.epoch, blocksFills: true }, readAt: now() };
    await sleep(trustedForMs);
  }
}
