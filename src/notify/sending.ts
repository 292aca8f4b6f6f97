/**
 * A send is accepted as a row with a job. The response has the result of its first attempt. With an `Idempotency-Key`,
 * it happens once a day, however often it is requested (docs/specification/notify.md#idempotency). If the caller's
 * process dies, the job continues. If the attempt fails while the caller waits, the caller gets a 500 and the send has
 * ended.
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
  /** Decides whether there is anything to send. Not called for a repeated request. */
  readonly prepare: () => Promise<{ readonly mail: Mail } | { readonly skipReason: SkipReason }>;
  /** In the future: no caller waits for it, and the result is its id. */
  readonly scheduledAt?: Date | undefined;
}

export interface Delivered {
  /** The id of a scheduled mail is our own. */
  readonly providerId: string;
  /** The recipients that did not get the mail. */
  readonly suppressed: readonly string[];
}

export type Outcome = Delivered | { readonly skipReason: SkipReason };

/** Longer than an attempt, shorter than the 10 s of a response. */
const waitMs = 9000;
/** A worker of this process wakes its callers. Polling finds the results of other processes. */
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

/** Whether this caller now owns the send, because an earlier attempt failed. Otherwise another caller waits for it. */
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

/** Waits for the next attempt. If it fails or does not end in time, ends the send. */
async function outcomeOfOwn(deps: SendingDeps, id: string, giveUpAt: number): Promise<Delivered> {
  for (;;) {
    const { promise: change, resolve: wake } = Promise.withResolvers<void>();
    const stopWatching = deps.outcomes.watch(id, wake);
    try {
      const send = await lookUp(deps, id, giveUpAt);
      if (send?.providerId) return { providerId: send.providerId, suppressed: send.suppressed ?? [] };
      if (send?.status === 'failed' && send.suppressed !== null) return await refuse(deps, id, send.suppressed);
      const failure = send?.failure ?? (performance.now() > giveUpAt ? 'no response in time' : undefined);
      if (failure !== undefined && (await end(deps, id, failure)))
        throw notifyProblems.email_failed({ cause: new Error(failure) });
      await Promise.race([change, sleep(pollEveryMs)]);
    } finally {
      stopWatching();
    }
  }
}

/**
 * `undefined`: the database does not respond. Retries during a short failure, so that the caller gets the result of the
 * mail.
 */
async function lookUp({ db }: SendingDeps, id: string, giveUpAt: number): Promise<StoredSend | undefined> {
  try {
    return await findSend(db, id);
  } catch (error) {
    if (performance.now() > giveUpAt) throw error;
    return undefined;
  }
}

/**
 * `false`: it has ended in another way since. If this cannot be stored, the job continues although the caller gets an
 * error.
 */
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
