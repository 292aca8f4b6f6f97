/**
 * The epoch of a cache in Redis: a number in the database that is raised when Redis cannot be told of a change. Readers
 * believe the number that they know for a second only, so a second after it was raised nobody reads what was cached
 * before, whoever reaches Redis by then.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { monotonicClock } from '../clock.ts';
import type { Db } from '../db/db.ts';
import { quietMs } from './cache.ts';

export interface EpochTables {
  cache_epochs: { name: string; epoch: number; raised_at: Date };
}

export interface Epoch {
  readonly number: number;
  /** Raised so recently that what was read before might still be filled in. */
  readonly isQuiet: boolean;
}

export interface Epochs {
  /** `undefined`: not known, as the database does not answer. Asks it once a second at most, ahead of need. */
  current(): Promise<Epoch | undefined>;
  /** Resolves when no process believes the old one any more. */
  raise(): Promise<void>;
  /** Resolves as `raise`; `undefined`: not raised by this process just now, so that its quiet need not outlast a change. */
  justRaised(): Promise<void> | undefined;
}

const believedForMs = 1000;
const askedAgainAfterMs = 500;
/** Of `quietMs`; the rest is longer than a change takes. */
const justRaisedForMs = 5000;

export function createEpochs(db: Db<EpochTables>, name: string): Epochs {
  const now = () => monotonicClock.now();
  let known: { readonly epoch: Epoch; readonly askedAt: number } | undefined;
  let asking: Promise<void> | undefined;
  let raised: { readonly at: number; readonly done: Promise<void> } | undefined;

  async function ask(): Promise<void> {
    const askedAt = now();
    const row = await db
      .selectFrom('cache_epochs')
      .select(['epoch', sql<boolean>`raised_at > now() - make_interval(secs => ${quietMs / 1000})`.as('isQuiet')])
      .where('name', '=', name)
      .executeTakeFirst();
    const epoch = { number: row?.epoch ?? 0, isQuiet: row?.isQuiet ?? false };
    // An answer that was on its way while we raised it ourselves tells of the past.
    if (epoch.number >= (known?.epoch.number ?? 0)) known = { epoch, askedAt };
  }

  const askOnce = () => {
    asking ??= ask()
      .catch(() => undefined)
      .finally(() => {
        asking = undefined;
      });
    return asking;
  };

  return {
    current: async () => {
      const age = known === undefined ? Number.POSITIVE_INFINITY : now() - known.askedAt;
      if (age > askedAgainAfterMs) {
        const asked = askOnce();
        if (age > believedForMs) await asked;
      }
      return known !== undefined && now() - known.askedAt <= believedForMs ? known.epoch : undefined;
    },
    raise: () => {
      const done = raise();
      raised = { at: now(), done };
      done.catch(() => {
        if (raised?.done === done) raised = undefined;
      });
      return done;
    },
    justRaised: () => (raised !== undefined && now() - raised.at < justRaisedForMs ? raised.done : undefined),
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
    known = { epoch: { number: row.epoch, isQuiet: true }, askedAt: now() };
    await sleep(believedForMs);
  }
}
