/** Runs and generations of all users, for operators (docs/operators.md#runs). */
import { z } from 'zod';
import type { Access } from '#platform/access/access.ts';
import { type Place, readCursor, writeCursor } from '#platform/db/paging.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { problems } from '#platform/problem.ts';
import type { AgentContext } from '../context.ts';
import * as api from './api.ts';
import * as store from './recordstore.ts';

export function addRecordRoutes(app: HttpServer, access: Access, { db, catalogue }: AgentContext): void {
  const routes = routesOf(app, 'agent');

  routes.get('/runs', access.internalOnly, {
    id: 'listRuns',
    summary: 'List the runs of all users, newest first',
    description: 'Returns the requests of runs, how they went and what they cost, for operators.',
    querystring: api.runListing,
    response: { 200: api.runPage },
    handler: async ({ query }) => {
      const rows = await store.listRunRecords(db, query, placeOf(query.cursor), query.limit + 1);
      const page = pageOf(rows, query.limit, ({ taskId }) => taskId);
      return { runs: page.shown.map(describe), next_cursor: page.next };
    },
  });

  routes.get('/runs/failures', access.internalOnly, {
    id: 'countFailedRuns',
    summary: 'Count the failed runs of each user',
    description: 'Returns the stored failed runs since a day, for each user who has any.',
    querystring: api.failureRange,
    response: { 200: api.failureCounts },
    handler: async ({ query }) => ({ failures: await store.countFailures(db, query.from) }),
  });

  routes.get('/runs/:taskId', access.internalOnly, {
    id: 'readRun',
    summary: 'Read how a run went',
    description: 'Returns the request of a run, how it went and what it cost, for operators.',
    problems: ['not_found'],
    params: z.object({ taskId: z.guid().toLowerCase() }),
    response: { 200: api.runRecord },
    handler: async ({ params }) => {
      const row = await store.findRunRecord(db, params.taskId);
      if (row === undefined) throw problems.not_found();
      return describe(row);
    },
  });

  routes.get('/threads/titles', access.internalOnly, {
    id: 'readTitles',
    summary: 'Read the titles of threads',
    description: 'Returns the titles of up to 100 threads of any users, for pages that list their ids.',
    querystring: api.titlesQuery,
    response: { 200: api.titles },
    handler: async ({ query }) => ({ titles: await store.listTitles(db, query.ids) }),
  });

  routes.get('/generations/all', access.internalOnly, {
    id: 'listAllGenerations',
    summary: 'List the generations of all users, newest first',
    description:
      'Returns all videos, the images of each run that has ended, and images that were ordered without a run, with the failures in the words of the provider, for operators.',
    querystring: api.generationRecordListing,
    response: { 200: api.generationRecordPage },
    handler: async ({ query }) => {
      const [usual] = catalogue.images;
      const rows = await store.listGenerationRecords(db, query, placeOf(query.cursor), query.limit + 1, usual.id);
      const page = pageOf(rows, query.limit, ({ id }) => id);
      return {
        generations: page.shown.map(({ createdAtUs, ...row }) => ({
          ...row,
          createdAt: row.createdAt.toISOString(),
          orderedAt: row.orderedAt?.toISOString() ?? null,
          endedAt: row.endedAt?.toISOString() ?? null,
        })),
        next_cursor: page.next,
      };
    },
  });
}

const placeOf = (cursor: string | undefined) => (cursor === undefined ? undefined : readCursor(cursor));

/** `rows`: one more than the limit if there is another page. */
function pageOf<Row extends Pick<Place, 'createdAtUs'>>(
  rows: readonly Row[],
  limit: number,
  idOf: (row: Row) => string,
) {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const hasMore = rows.length > limit && last !== undefined;
  return { shown, next: hasMore ? writeCursor({ createdAtUs: last.createdAtUs, id: idOf(last) }) : null };
}

function describe({ record, trace, createdAtUs, videoCredits, videoCostUsd, ...run }: store.RunRow): api.RunRecord {
  const withVideos = (own: number | undefined, ofVideos: number) => (own === undefined ? null : own + ofVideos);
  const {
    answeredBy = null,
    finishReason = null,
    answer = null,
    steps = null,
    tools = [],
    timeline = [],
  } = record ?? {};
  return {
    ...run,
    ...{ answeredBy, finishReason, answer, steps, tools: [...tools], timeline: [...timeline] },
    createdAt: run.createdAt.toISOString(),
    endedAt: run.endedAt?.toISOString() ?? null,
    inputTokens: record?.inputTokens ?? null,
    outputTokens: record?.outputTokens ?? null,
    credits: withVideos(record?.credits, videoCredits),
    costUsd: withVideos(record?.costUsd, videoCostUsd),
    requestId: trace?.requestId ?? null,
    traceId: trace?.traceId ?? null,
  };
}
