/** The Jobs page: the queues of all services, and what became of their jobs. */
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { summarizeQueues } from '#platform/jobs/depthstore.ts';
import { largestDepth } from '#platform/jobs/jobs.ts';
import { type ShownJob as JobRow, listJobs } from '#platform/jobs/operatorstore.ts';
import type { StoredContext } from '../context.ts';
import { type OperatorGuard, operatorName } from '../operators/guard.ts';
import type { TraceLink } from '../traces.ts';
import { changedJobs, deadOfQueue, jobList, jobPath, jobQuery, queueList, type ShownJob, seenJob } from './api.ts';
import { discardAllDead, discardDeadJob, retryAllDead, retryDeadJob } from './changes.ts';
import { maskPayload } from './masking.ts';

const longestList = 100;

export function addJobRoutes(app: HttpServer, guard: OperatorGuard, deps: StoredContext): void {
  const routes = routesOf(app, 'console');

  routes.get(
    '/api/queues',
    guard,
    { summary: 'Queues with unfinished or dead jobs', response: { 200: queueList } },
    async () => {
      const queues = await summarizeQueues(deps.db, largestDepth + 1);
      return {
        largestCount: largestDepth,
        queues: queues.map(({ oldestDueAt, ...queue }) => ({ ...queue, oldestDueAt: spell(oldestDueAt) })),
      };
    },
  );

  routes.get(
    '/api/jobs',
    guard,
    { summary: 'Jobs of a queue', querystring: jobQuery, response: { 200: jobList } },
    async ({ query: { queue, state, q = '' } }) => {
      const words = q.trim();
      const rows = await listJobs(deps.db, queue, state, longestList, words);
      const jobs = rows.map((row) => describe(row, deps.traceLink));
      return { jobs: words === '' ? jobs : jobs.filter((job) => isShownIn(job, words.toLowerCase())) };
    },
  );

  routes.post(
    '/api/jobs/:id/retry',
    guard,
    { summary: 'Retry a dead job', params: jobPath, body: seenJob },
    async (request, reply) => {
      const { params, body } = request;
      await retryDeadJob(deps, operatorName(request), { jobId: params.id, fence: body.fence });
      return reply.code(204).send();
    },
  );

  routes.post(
    '/api/jobs/:id/discard',
    guard,
    { summary: 'Delete a dead job', params: jobPath, body: seenJob },
    async (request, reply) => {
      const { params, body } = request;
      await discardDeadJob(deps, operatorName(request), { jobId: params.id, fence: body.fence });
      return reply.code(204).send();
    },
  );

  routes.post(
    '/api/queues/retry',
    guard,
    { summary: 'Retry the dead jobs of a queue', body: deadOfQueue, response: { 200: changedJobs } },
    async (request) => retryAllDead(deps, operatorName(request), request.body.queue),
  );

  routes.post(
    '/api/queues/discard',
    guard,
    { summary: 'Delete the dead jobs of a queue', body: deadOfQueue, response: { 200: changedJobs } },
    async (request) => discardAllDead(deps, operatorName(request), request.body.queue),
  );
}

/** Hidden parts of the payload must not be found, because a search could guess them. */
const isShownIn = ({ id, requestId, reason, payload }: ShownJob, words: string): boolean =>
  [id, requestId, reason, payload].some((text) => text?.toLowerCase().includes(words));

function describe(row: JobRow, traceLink: TraceLink): ShownJob {
  return {
    id: row.jobId,
    fence: row.fence,
    attempts: row.attempts,
    reason: row.reason,
    payload: maskPayload(row.payload),
    isSettled: row.settled,
    requestId: row.requestId,
    traceUrl: traceLink(row.traceparent?.split('-')[1]),
    createdAt: row.createdAt.toISOString(),
    dueAt: row.runAt.toISOString(),
    startedAt: spell(row.claimedAt),
    endedAt: spell(row.finishedAt),
  };
}

const spell = (at: Date | null): string | null => at?.toISOString() ?? null;
