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
  cache_epochs: {
    name: string;
    epoch: number;
    raised_at: Date;
    server_run: string | null;
    server_since: Date | null;
  };
}

export interface Epoch {
  readonly number: number;
  /** The epoch was raised so recently that data read before it might still be filled in. */
  readonly blocksFills: boolean;
  /** The run of the one Redis server whose entries are valid. `null`: no process has used the cache yet. */
  readonly serverRun: string | null;
  /** The server changed so recently that a process may still use entries of the one before. */
  readonly isSettling: boolean;
}

export type Epochs = ReturnType<typeof createEpochs>;

const trustedForMs = 1000;
const rereadAfterMs = 500;
/** Longer than `trustedForMs` and the time that a commit takes together. */
const settlingMs = 10_000;
/** The part of `fillBarrierMs` in which a raise counts as recent. The rest is longer than a change takes. */
const recentRaiseMs = 5000;

export function createEpochs(db: Db<EpochTables>, name: string) {
  const now = () => monotonicClock.now();
  let known: { readonly epoch: Epoch; readonly readAt: number } | undefined;
  let reading: Promise<void> | undefined;
  let raised: { readonly at: number; readonly done: Promise<void> } | undefined;

  async function read(): Promise<void> {
    const readAt = now();
    const row = await db
      .selectFrom('cache_epochs')
      .select([
        'epoch as number',
        sql<boolean>`raised_at > now() - make_interval(secs => ${fillBarrierMs / 1000})`.as('blocksFills'),
        'server_run as serverRun',
        sql<boolean>`coalesce(server_since > now() - make_interval(secs => ${settlingMs / 1000}), false)`.as(
          'isSettling',
        ),
      ])
      .where('name', '=', name)
      .executeTakeFirst();
    const epoch = { number: 0, blocksFills: false, serverRun: null, isSettling: false, ...row };
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
    /** Returns `undefined` if the database does not respond. Reads the database at most about once a second, and before the value expires. */
    current: async (): Promise<Epoch | undefined> => {
      const age = known === undefined ? Number.POSITIVE_INFINITY : now() - known.readAt;
      if (age > rereadAfterMs) {
        const reread = readOnce();
        if (age > trustedForMs) await reread;
      }
      return known !== undefined && now() - known.readAt <= trustedForMs ? known.epoch : undefined;
    },
    /**
     * Makes `serverRun` the server whose entries are valid. Raises the epoch if there was another one, because this one may have
     * copies of earlier entries. Throws if the database does not respond.
     */
    adopt: async (serverRun: string): Promise<Epoch> => {
      await adopt(serverRun);
      // A read that began earlier may not have the change.
      await reading;
      await readOnce();
      if (known?.epoch.serverRun !== serverRun) throw new Error('another process has adopted another server');
      return known.epoch;
    },
    /** Resolves when no process uses the old epoch any more. */
    raise: (): Promise<void> => {
      const done = raise();
      raised = { at: now(), done };
      done.catch(() => {
        if (raised?.done === done) raised = undefined;
      });
      return done;
    },
    /**
     * The promise of a `raise` that this process called within the last few seconds, or `undefined`. The limit is short enough that the
     * fill barrier outlasts a change.
     */
    recentRaise: () => (raised !== undefined && now() - raised.at < recentRaiseMs ? raised.done : undefined),
  };

  async function adopt(serverRun: string): Promise<void> {
    const hadNone = sql`cache_epochs.server_run is null`;
    await db
      .insertInto('cache_epochs')
      .values({ name, epoch: 0, raised_at: sql`to_timestamp(0)`, server_run: serverRun, server_since: null })
      .onConflict((conflict) =>
        conflict
          .column('name')
          .doUpdateSet({
            epoch: sql`cache_epochs.epoch + case when ${hadNone} then 0 else 1 end`,
            raised_at: sql`case when ${hadNone} then cache_epochs.raised_at else clock_timestamp() end`,
            server_since: sql`case when ${hadNone} then null else clock_timestamp() end`,
            server_run: serverRun,
          })
          .where('cache_epochs.server_run', 'is distinct from', serverRun),
      )
      .execute();
  }

  async function raise(): Promise<void> {
    const row = await db
      .insertInto('cache_epochs')
      .values({ name, epoch: 1, raised_at: sql`now()`, server_run: null, server_since: null })
      .onConflict((conflict) =>
        conflict
          .column('name')
          .doUpdateSet((eb) => ({ epoch: eb('cache_epochs.epoch', '+', 1), raised_at: sql`now()` })),
      )
      .returning(['epoch', 'server_run as serverRun'])
      .executeTakeFirstOrThrow();
    const isSettling = known?.epoch.isSettling ?? true;
    known = { epoch: { number: row.epoch, blocksFills: true, serverRun: row.serverRun, isSettling }, readAt: now() };
    await sleep(trustedForMs);
  }
}
