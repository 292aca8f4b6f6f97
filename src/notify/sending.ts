/**
 * A send: accepted as a row with a job, and answered with the outcome of its first try. With an `Idempotency-Key` it happens
 * once a day, however often it is requested (docs/specification/notify.md#idempotency). If the process of the caller dies, the
 * job goes on; if the try fails while the caller waits, the caller gets a 500 and the send has ended.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Db, transaction } from '#platform/db/db.ts';
import { digestOf } from '#platform/http/idempotency.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import type { Log } from '#platform/log.ts';
import type { SkipReason } from './api.ts';
import type { Mail } from './mail.ts';
import type { Outcomes } from './outcomes.ts';
import { notifyProblems } from './problems.ts';
import { cancelSend, enqueueLater, enqueueSend, hastenSend } from './queue.ts';
import { findByKey, findSend, freeKey, insertSend, markFailed, reopen, type StoredSend, takeUp } from './sendstore.ts';
import type { Endpoint, NotifyTables } from './tables.ts';

export interface SendingDeps {
  readonly db: Db<NotifyTables>;
  readonly jobs: Jobs;
  readonly outcomes: Outcomes;
  readonly log: Log;
}

export interface SendRequest {
  readonly endpoint: Endpoint;
  readonly key: string | undefined;
  /** The same key with another body is a conflict. */
  readonly body: unknown;
  /** Decides whether there is anything to send; not called for a repeat of what was decided before. */
  readonly prepare: () => Promise<{ readonly mail: Mail } | { readonly skipReason: SkipReason }>;
  /** In the future: nobody waits for it, and the outcome is its id. */
  readonly scheduledAt?: Date | undefined;
}

export interface Delivered {
  /** Of a scheduled mail ours. */
  readonly providerId: string;
  /** The recipients that the mail did not go to. */
  readonly suppressed: readonly string[];
}

export type Outcome = Delivered | { readonly skipReason: SkipReason };

/** Longer than a try, shorter than the 10 s of a response. */
const waitMs = 9000;
/** A worker of this process wakes its callers; this finds what other processes did. */
const pollEveryMs = 250;

export async function sendOnce(deps: SendingDeps, request: SendRequest): Promise<Outcome> {
  const { endpoint, key, scheduledAt } = request;
  const bodyDigest = digestOf(request.body);
  const giveUpAt = performance.now() + waitMs;
  for (;;) {
    const seen = key === undefined ? undefined : await findByKey(deps.db, endpoint, key);
    if (seen === undefined) {
      const id = randomUUID();
      const content = await request.prepare();
      const isNew = await accept(deps, { id, endpoint, key, bodyDigest, content, scheduledAt });
      if (!isNew) continue;
      if ('skipReason' in content) return content;
      return scheduledAt === undefined ? outcomeOfOwn(deps, id, giveUpAt) : { providerId: id, suppressed: [] };
    }
    if (seen.bodyDigest !== bodyDigest) throw notifyProblems.idempotency_conflict();
    const outcome = outcomeOf(seen);
    if (outcome !== undefined) return outcome;
    if (await join(deps, seen)) return outcomeOfOwn(deps, seen.id, giveUpAt);
    if (performance.now() > giveUpAt) throw notifyProblems.send_in_progress();
    await sleep(100);
  }
}

/** `false`: another request took the key. */
function accept({ db, jobs }: SendingDeps, send: Parameters<typeof insertSend>[1]): Promise<boolean> {
  return transaction(db, async (tx) => {
    if (!(await insertSend(tx, send))) return false;
    if (send.scheduledAt !== undefined) await enqueueLater(jobs, tx, send.id, send.scheduledAt);
    else if ('mail' in send.content) await enqueueSend(jobs, tx, send.id);
    return true;
  });
}

function outcomeOf({ id, providerId, skipReason, suppressed, scheduledAt }: StoredSend): Outcome | undefined {
  if (scheduledAt !== null) return { providerId: id, suppressed: [] };
  if (skipReason !== null) return { skipReason };
  return providerId === null ? undefined : { providerId, suppressed: suppressed ?? [] };
}

/** Whether the send is now this caller's: it failed before, with or without a caller. Otherwise another caller waits for it. */
function join({ db, jobs }: SendingDeps, { id, status }: StoredSend): Promise<boolean> {
  return transaction(db, async (tx) => {
    if (status === 'failed' && (await reopen(tx, id))) {
      await enqueueSend(jobs, tx, id);
      return true;
    }
    if (status !== 'pending' || !(await takeUp(tx, id))) return false;
    await hastenSend(jobs, tx, id);
    return true;
  });
}

/** Waits for the next try. When it fails, or does not end in time, the send ends. */
async function outcomeOfOwn(deps: SendingDeps, id: string, giveUpAt: number): Promise<Delivered> {
  for (;;) {
    const { promise: change, resolve: wake } = Promise.withResolvers<void>();
    const stopWatching = deps.outcomes.watch(id, wake);
    try {
      const send = await lookUp(deps, id, giveUpAt);
      if (send?.providerId) return { providerId: send.providerId, suppressed: send.suppressed ?? [] };
      if (send?.status === 'failed' && send.suppressed !== null) return await refuse(deps, id, send.suppressed);
      const failure = send?.failure ?? (performance.now() > giveUpAt ? 'no answer in time' : undefined);
      if (failure !== undefined && (await end(deps, id, failure)))
        throw notifyProblems.email_failed({ cause: new Error(failure) });
      await Promise.race([change, sleep(pollEveryMs)]);
    } finally {
      stopWatching();
    }
  }
}

/** `undefined`: the database does not answer. A short failure is waited out, so that the caller learns what became of the mail. */
async function lookUp({ db }: SendingDeps, id: string, giveUpAt: number): Promise<StoredSend | undefined> {
  try {
    return await findSend(db, id);
  } catch (error) {
    if (performance.now() > giveUpAt) throw error;
    return undefined;
  }
}

/** `false`: it has ended in another way since. If that cannot be stored, the job goes on although the caller gets an error. */
async function end({ db, jobs, log }: SendingDeps, id: string, failure: string): Promise<boolean> {
  try {
    return await transaction(db, async (tx) => {
      const isEnded = await markFailed(tx, id, { failure });
      if (isEnded) await cancelSend(jobs, tx, id);
      return isEnded;
    });
  } catch (error) {
    log.error({ err: error }, 'the end of a failed send could not be stored');
    return true;
  }
}

async function refuse({ db }: SendingDeps, id: string, suppressed: readonly string[]): Promise<never> {
  await freeKey(db, id);
  const message = `${notifyProblems.table.recipient_suppressed.message} Suppressed: ${suppressed.join(', ')}.`;
  throw notifyProblems.recipient_suppressed({ message, fields: { suppressed } });
}
