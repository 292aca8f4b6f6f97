/** `POST /emails/batch`: accepts up to 100 mails together or not at all. No caller waits for the sends. */
import { randomUUID } from 'node:crypto';
import { type Db, transaction } from '#platform/db/db.ts';
import { digestOf } from '#platform/http/idempotency.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import type { EmailRequest } from './emailapi.ts';
import { mailOf } from './emails.ts';
import { notifyProblems } from './problems.ts';
import { enqueueLater } from './queue.ts';
import { findByKey, insertSend, releaseKeys } from './sendstore.ts';
import type { NotifyTables } from './tables.ts';

export interface BatchingDeps {
  readonly db: Db<NotifyTables>;
  readonly jobs: Jobs;
}

export interface Batch {
  readonly requests: readonly EmailRequest[];
  readonly key: string | undefined;
}

/** The ids of the mails, in order. */
export async function acceptBatch(deps: BatchingDeps, { requests, key }: Batch): Promise<readonly string[]> {
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

async function findBatch(db: BatchingDeps['db'], key: string, count: number) {
  const first = await findByKey(db, 'batch', keyOf(key, 0));
  if (first === undefined) return undefined;
  const ids: string[] = [];
  for (let position = 0; position < count; position += 1) {
    const row = await findByKey(db, 'batch', keyOf(key, position));
    if (row !== undefined) ids.push(row.id);
  }
  return { bodyDigest: first.bodyDigest, ids };
}

/** `false`: another request took the key. */
function insertBatch(
  { db, jobs }: BatchingDeps,
  { requests, key }: Batch,
  ids: readonly string[],
  bodyDigest: string,
): Promise<boolean> {
  return transaction(db, async (tx) => {
    const keys = key === undefined ? [] : requests.map((_, position) => keyOf(key, position));
    if (keys.length > 0) await releaseKeys(tx, 'batch', keys);
    for (const [position, request] of requests.entries()) {
      const id = ids[position] ?? '';
      const isNew = await insertSend(tx, {
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
