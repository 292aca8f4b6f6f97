/** Parts of a `with`, by which one statement writes a row together with its job. */
import { randomUUID } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import { currentScope, writeTrace } from '../telemetry/trace.ts';
import type { EnqueueOptions } from './jobs.ts';
import { type Claim, type ClaimedRow, clock, later } from './rows.ts';

/** The worker that holds a job from its insertion. */
export interface Holder {
  readonly holder: string;
  readonly leaseMs: number;
}

/** A new job as its first claim returns it. */
export function newJob(payload: unknown): ClaimedRow {
  const scope = currentScope();
  const traceparent = scope === undefined ? null : (writeTrace(scope.trace).traceparent ?? null);
  return { jobId: randomUUID(), payload, attempt: 1, fence: 1, requestId: scope?.requestId ?? null, traceparent };
}

/** A part of a `with`: inserts the job if `from` has a row. Without a holder, the job waits for its first claim. */
export function insertionOf(
  queue: string,
  { jobId, payload, attempt, fence, requestId, traceparent }: ClaimedRow,
  { key, lane = '' }: Pick<EnqueueOptions, 'key' | 'lane'>,
  held: Holder | undefined,
) {
  return (from: string): RawBuilder<unknown> => {
    const common = sql`${jobId}::uuid, ${queue}::text, ${JSON.stringify(payload)}::jsonb, ${key ?? null}::text, ${lane}::text,
      ${requestId}::text, ${traceparent}::text`;
    const columns = sql`job_id, queue, payload, unique_key, lane, request_id, traceparent`;
    if (held === undefined) return sql`insert into jobs (${columns}) select ${common} from ${sql.ref(from)}`;
    return sql`
      insert into jobs (${columns}, status, attempt, fence, holder, expires_at, claimed_at)
      select ${common}, 'running', ${attempt}::int, ${fence}::bigint, ${held.holder}::text, ${later(held.leaseMs)}, ${clock}
      from ${sql.ref(from)}`;
  };
}

/** A part of a `with`, which completes the job and returns a row, or does nothing if another worker holds the job. */
export function completionOf({ jobId, fence }: Claim): RawBuilder<unknown> {
  return sql`
    update jobs set status = 'done', holder = null, expires_at = null, reason = null, finished_at = ${clock}
    where job_id = ${jobId} and fence = ${fence} and status = 'running' returning job_id`;
}
