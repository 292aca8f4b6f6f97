import { Readable } from 'node:stream';
import { z } from 'zod';
import { ensureProfile } from '#accounts/store.ts';
import type { Access } from '#platform/access/access.ts';
import { idempotencyHeaders } from '#platform/http/idempotency.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { publishAccount } from '#webhooks/accounts.ts';
import {
  creditsInfo,
  creditsQuery,
  currentTask,
  messagePaging,
  modelList,
  taskInfo,
  taskParams,
  taskRequest,
  taskStart,
  threadMessages,
  threadOwner,
  threadParams,
  usageDays,
  usageQuery,
} from './api.ts';
import { readCredits, readUsage, type UsageDeps } from './billing/accounts.ts';
import { describeRun, readCurrentTask, readRun } from './runs/runs.ts';
import { abortTask, findBeginning, type StartDeps, startTaskOnce } from './runs/tasks.ts';
import { readLastEventId, type StreamReaders } from './stream/readers.ts';
import { namedUserOf, userOf } from './threads/access.ts';
import { type MessagesDeps, readMessages } from './threads/messages.ts';
import { retryVideos, type VideoDeps } from './videos/videos.ts';

export interface RouteDeps extends MessagesDeps, StartDeps, VideoDeps, UsageDeps {
  readonly db: MessagesDeps['db'] & StartDeps['db'] & VideoDeps['db'] & UsageDeps['db'];
  readonly readers: StreamReaders;
}

export function addRoutes(app: HttpServer, access: Access, deps: RouteDeps): void {
  const routes = routesOf(app, 'agent');

  routes.post(
    '/task',
    access.userOrInternal,
    {
      summary: 'Start a run in a thread',
      headers: idempotencyHeaders,
      body: taskRequest,
      response: { 201: taskStart },
    },
    async (request, reply) => {
      const { caller, body } = request;
      const userId = userOf(caller, body.userId, 'body.userId');
      const { taskId, threadId, queued } = await startTaskOnce(deps, userId, body, request.headers['idempotency-key']);
      const lastEventId = body.approvals ? await findBeginning(deps, taskId) : undefined;
      return reply.code(201).send({ taskId, threadId, ...(queued && { queued }), ...(lastEventId && { lastEventId }) });
    },
  );

  routes.get(
    '/task/:taskId',
    access.userOrInternal,
    { summary: 'Read the status of a run', params: taskParams, response: { 200: taskInfo } },
    async (request) => describeRun(await readRun(deps, request.caller, request.params.taskId)),
  );

  routes.delete(
    '/task/:taskId',
    access.userOrInternal,
    { summary: 'Stop a run', params: taskParams, response: { 204: z.null() } },
    async (request, reply) => {
      await abortTask(deps, request.caller, request.params.taskId);
      return reply.code(204).send(null);
    },
  );

  routes.get(
    '/stream/:taskId',
    access.userOrInternal,
    { summary: 'Stream the output of a run as server-sent events', params: taskParams },
    async (request, reply) => {
      const lastEventId = readLastEventId(request.headers['last-event-id']);
      const run = await readRun(deps, request.caller, request.params.taskId);
      await deps.readers.read(reply, run, lastEventId);
    },
  );

  routes.get(
    '/thread/:threadId/current-task',
    access.userOrInternal,
    {
      summary: 'Read the run in progress of a thread',
      params: threadParams,
      querystring: threadOwner,
      response: { 200: currentTask },
    },
    async ({ caller, params, query }) => {
      const userId = namedUserOf(caller, query.userId, 'querystring.userId');
      return readCurrentTask(deps, userId, params.threadId);
    },
  );

  routes.get(
    '/messages/:threadId',
    access.userOrInternal,
    {
      summary: 'List the messages of a thread',
      params: threadParams,
      querystring: messagePaging,
      response: { 200: threadMessages },
    },
    async ({ caller, params, query }, reply) => {
      const userId = namedUserOf(caller, query.userId, 'querystring.userId');
      const { messages, nextBefore } = await readMessages(deps, userId, params.threadId, query);
      if (nextBefore !== undefined) reply.header('x-next-before', nextBefore);
      if (messages instanceof Readable) return reply.type('application/json; charset=utf-8').send(messages as never);
      return { messages: [...messages] };
    },
  );

  routes.get(
    '/models',
    access.userOnly,
    { summary: 'List the models that a run can name, with their prices', response: { 200: modelList } },
    async (request) => {
      if (request.caller.kind !== 'user') throw new Error('the guard admits only users');
      const { plan } = await ensureProfile(deps.db, { id: request.caller.userId }, publishAccount(deps.webhooks));
      return { models: [...deps.models.list(plan)] };
    },
  );

  routes.get(
    '/usage',
    access.userOrInternal,
    { summary: 'Read the usage of a user by day and model', querystring: usageQuery, response: { 200: usageDays } },
    async (request) => readUsage(deps, userOf(request.caller, request.query.userId, 'query.userId'), request.query),
  );

  routes.get(
    '/credits',
    access.userOrInternal,
    {
      summary: 'Read the plan, the credits and the prices of a user',
      querystring: creditsQuery,
      response: { 200: creditsInfo },
    },
    async (request) => {
      const userId = userOf(request.caller, request.query.userId, 'query.userId');
      return readCredits(deps, userId, deps.models.pick(undefined).credits);
    },
  );

  routes.post(
    '/video/submit/:taskId',
    access.userOnly,
    {
      summary: 'Retry the videos of a run that failed because of credits or plan',
      params: taskParams,
      response: { 200: z.object({ success: z.literal(true) }) },
    },
    async (request) => {
      if (request.caller.kind !== 'user') throw new Error('the guard admits only users');
      await retryVideos(deps, request.caller.userId, request.params.taskId);
      return { success: true as const };
    },
  );
}
