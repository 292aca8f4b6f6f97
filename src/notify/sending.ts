/**
 * A send is accepted as a row with a job. The response has the result of its first attempt. With an `Idempotency-Key`,
 * it happens once a day, however often it is requested (docs/specification/notify.md#idempotency). If the caller's
 * process dies, the job continues. If the attempt fails while the caller waits, the caller gets a 500 and the send has
 * ended.
 */

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { transaction } from '#platform/db/db.ts';
import { digestOf } from '#platform/http/idempotency.ts';
import type { Job, JobInsertion } from '#platform/jobs/jobs.ts';
import type { SkipReason } from './api.ts';
import type { NotifyContext } from './context.ts';
import { attempt } from './delivering.ts';
import type { EmailRequest } from './emailapi.ts';
import { mailOf } from './emails.ts';
import type { Mail } from './mail.ts';
import type { Delivered } from './outcomes.ts';
import { notifyProblems } from './problems.ts';
import { cancelSend, enqueueLater, enqueueSend, expediteSend, type SendJob, sendQueue } from './queue.ts';
import * as store from './sendstore.ts';
import type { Endpoint } from './tables.ts';

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

export type Outcome = Delivered | { readonly skipReason: SkipReason };

/** Longer than an attempt, shorter than the 10 s of a response. */
const waitMs = 9000;
/** A worker of this process wakes its callers. Polling finds the results of other processes. */
const pollEveryMs = 250;

export async function sendOnce(deps: NotifyContext, request: SendRequest): Promise<Outcome> {
  const { endpoint, key, scheduledAt } = request;
  const bodyDigest = digestOf(request.body);
  const giveUpAt = performance.now() + waitMs;
  for (;;) {
    const [seen] = key === undefined ? [] : await store.findByKeys(deps.db, endpoint, [key]);
    if (seen === undefined) {
      const id = randomUUID();
      const content = await request.prepare();
      const send = { id, endpoint, key, bodyDigest, content, scheduledAt };
      const accepted =
        'mail' in content && scheduledAt === undefined ? sendNow(deps, send, giveUpAt) : accept(deps, send);
      const outcome = await accepted;
      if (outcome !== undefined) return outcome;
      // The row of an expired key has to release it first.
      if (key !== undefined) await store.releaseKeys(deps.db, endpoint, [key]);
      continue;
    }
    if (seen.bodyDigest !== bodyDigest) throw notifyProblems.idempotency_conflict();
    const outcome = outcomeOf(seen);
    if (outcome !== undefined) return outcome;
    if (await join(deps, seen)) return outcomeOfOwn(deps, seen.id, giveUpAt);
    if (performance.now() > giveUpAt) throw notifyProblems.send_in_progress();
    await sleep(100);
  }
}

/** Accepts an email and waits for its first attempt. `undefined`: the key is taken. */
async function sendNow(deps: NotifyContext, send: store.NewSend, giveUpAt: number): Promise<Outcome | undefined> {
  const { db, jobs, outcomes } = deps;
  const { id } = send;
  const { promise: change, resolve: wake } = Promise.withResolvers<Delivered | undefined>();
  const stopWatching = outcomes.watch(id, wake);
  let begun: store.BegunSend | undefined;
  try {
    const insert = async (insertion: JobInsertion) => {
      begun = await store.insertSendWithJob(db, send, insertion);
      // Without a worker in this process, its result can only be found in the database.
      if (!insertion.isClaimed) wake(undefined);
      return begun !== undefined;
    };
    const tryFirst = async (job: Job<SendJob>) => begun && attempt(deps, job, begun);
    if (!(await jobs.start(sendQueue, { sendId: id }, insert, { key: id, attempt: tryFirst }))) return undefined;
    const late = setTimeout(wake, giveUpAt - performance.now(), undefined);
    const delivered = await change;
    clearTimeout(late);
    return delivered ?? (await outcomeOfOwn(deps, id, giveUpAt));
  } finally {
    stopWatching();
  }
}

/** Accepts an email for later, or a notification that is skipped. `undefined`: the key is taken. */
async function accept({ db, jobs }: NotifyContext, send: store.NewSend): Promise<Outcome | undefined> {
  const { id, content, scheduledAt } = send;
  if ('skipReason' in content) return (await store.insertSend(db, send)) ? content : undefined;
  return transaction(db, async (tx) => {
    if (!(await store.insertSend(tx, send))) return undefined;
    await enqueueLater(jobs, tx, id, scheduledAt);
    return { providerId: id, suppressed: [] };
  });
}

function outcomeOf({ id, providerId, skipReason, suppressed, scheduledAt }: store.StoredSend): Outcome | undefined {
  if (scheduledAt !== null) return { providerId: id, suppressed: [] };
  if (skipReason !== null) return { skipReason };
  return providerId === null ? undefined : { providerId, suppressed: suppressed ?? [] };
}

/** Whether this caller now owns the send, because an earlier attempt failed. Otherwise another caller waits for it. */
function join({ db, jobs }: NotifyContext, { id, status }: store.StoredSend): Promise<boolean> {
  return transaction(db, async (tx) => {
    if (status === 'failed' && (await store.reopen(tx, id))) {
      await enqueueSend(jobs, tx, id);
      return true;
    }
    if (status !== 'pending' || !(await store.claimFailed(tx, id))) return false;
    await expediteSend(jobs, tx, id);
    return true;
  });
}

/** Waits for the next attempt. If it fails or does not end in time, ends the send. */
async function outcomeOfOwn(deps: NotifyContext, id: string, giveUpAt: number): Promise<Outcome> {
  for (;;) {
    const { promise: change, resolve: wake } = Promise.withResolvers<void>();
    const stopWatching = deps.outcomes.watch(id, () => wake());
    try {
      const send = await lookUp(deps, id, giveUpAt);
      if (send?.providerId) return { providerId: send.providerId, suppressed: send.suppressed ?? [] };
      if (send?.skipReason) return { skipReason: send.skipReason };
      if (send?.status === 'failed' && send.suppressed !== null) return await refuse(deps, id, send.suppressed);
      const failure = send?.failure ?? (performance.now() > giveUpAt ? 'no response in time' : undefined);
      if (failure !== undefined && (await end(deps, id, failure)))
        throw notifyProblems.email_failed({ cause: new Error(failure), fields: { id } });
      await Promise.race([change, sleep(pollEveryMs)]);
    } finally {
      stopWatching();
    }
  }
}

/** `undefined`: the database does not respond. Retries during a short failure, so that the caller gets the result of the mail. */
async function lookUp({ db }: NotifyContext, id: string, giveUpAt: number): Promise<store.StoredSend | undefined> {
  try {
    return await store.findSend(db, id);
  } catch (error) {
    if (performance.now() > giveUpAt) throw error;
    return undefined;
  }
}

/** `false`: it has ended in another way since. If this cannot be stored, the job continues although the caller gets an error. */
async function end({ db, jobs, log }: NotifyContext, id: string, failure: string): Promise<boolean> {
  try {
    return await transaction(db, async (tx) => {
      const isEnded = await store.markFailed(tx, id, { failure });
      if (isEnded) await cancelSend(jobs, tx, id);
      return isEnded;
    });
  } catch (error) {
    log.error({ err: error }, 'the end of a failed send could not be stored');
    return true;
  }
}

async function refuse({ db }: NotifyContext, id: string, suppressed: readonly string[]): Promise<never> {
  await store.freeKey(db, id);
  const message = `${notifyProblems.table.recipient_suppressed.message} Suppressed: ${suppressed.join(', ')}.`;
  throw notifyProblems.recipient_suppressed({ message, fields: { suppressed } });
}

// `POST /emails/batch`: accepts up to 100 mails together or not at all. No caller waits for the sends.

interface Batch {
  readonly requests: readonly EmailRequest[];
  readonly key: string | undefined;
}

/** The ids of the mails, in order. */
export async function acceptBatch(deps: NotifyContext, { requests, key }: Batch): Promise<readonly string[]> {
  const bodyDigest = digestOf(requests);
  for (;;) {
    const seen = key === undefined ? undefined : await findBatch(deps.db, key, requests.length);
    if (seen !== undefined) {
      if (seen.bodyDigest !== bodyDigest) throw notifyProblems.idempotency_conflict();
      return seen.ids;
    }
    const ids = requests.map(() => randomUUID());
    if (await insertBatch(deps, { requests, key }, ids, bodyDigest)) return ids;
  }
}

/** Each mail of a batch has its own row, and so its own key. */
const keyOf = (key: string, position: number) => `${position} ${key}`;

async function findBatch(db: NotifyContext['db'], key: string, count: number) {
  const keys = Array.from({ length: count }, (_, position) => keyOf(key, position));
  const rows = await store.findByKeys(db, 'batch', keys);
  return rows[0] && { bodyDigest: rows[0].bodyDigest, ids: rows.map(({ id }) => id) };
}

/** `false`: another request took the key. */
function insertBatch(
  { db, jobs }: NotifyContext,
  { requests, key }: Batch,
  ids: readonly string[],
  bodyDigest: string,
): Promise<boolean> {
  return transaction(db, async (tx) => {
    const keys = key === undefined ? [] : requests.map((_, position) => keyOf(key, position));
    if (keys.length > 0) await store.releaseKeys(tx, 'batch', keys);
    for (const [position, request] of requests.entries()) {
      const id = ids[position] ?? '';
      const isNew = await store.insertSend(tx, {
        id,
        endpoint: 'batch',
        key: keys[position],
        bodyDigest,
        content: { mail: mailOf(request) },
        scheduledAt: request.scheduled_at,
      });
      // The first row decides: a concurrent request has inserted all of the rows, or none.
      if (!isNew) return false;
      await enqueueLater(jobs, tx, id, request.scheduled_at);
    }
    return true;
  });
}
