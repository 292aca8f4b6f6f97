import { Readable } from 'node:stream';
import { z } from 'zod';
import { ensureProfile } from '#accounts/store.ts';
import type { Access } from '#platform/access/access.ts';
import { idempotencyHeaders } from '#platform/http/idempotency.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import * as api from './api.ts';
import { readCredits, readUsage } from './billing/accounts.ts';
import { listMediaModels } from './generation/catalogue.ts';
import { describeRun, readCurrentTask, readRun } from './runs/runs.ts';
import { abortTask, findBeginning, startTaskOnce } from './runs/tasks.ts';
import type { ServingContext } from './servingcontext.ts';
import { readLastEventId } from './stream/readers.ts';
import { namedUserOf, signedIn, userOf } from './threads/changes.ts';
import { readMessages } from './threads/messages.ts';
import { retryVideos } from './videos/videos.ts';

export const threadId = 'thread-1';
/** The problems of a start of a run. */
export const starting = [
  'forbidden',
  'insufficient_plan',
  'insufficient_credits',
  'account_blocked',
  'task_running',
  'queue_full',
  'approval_answered',
  'message_exists',
  'thread_deleting',
  'thread_full',
  'prompt_refused',
  'too_many_runs',
] as const;

export function addRoutes(app: HttpServer, access: Access, deps: ServingContext): void {
  const routes = routesOf(app, 'agent');

  routes.post('/task', access.userOrInternal, {
    id: 'startTask',
    summary: 'Start a run in a thread',
    description:
      'Starts a run that answers a message, or continues after `approvals`, and returns its `taskId`. Read the answer with `GET /stream/:taskId`. With an `Idempotency-Key`, a repeated request returns the same run for 24 hours.',
    problems: [...starting, 'idempotency_conflict'],
    example: { threadId, text: 'Create an image of a lighthouse at dusk.' },
    headers: idempotencyHeaders,
    body: api.taskRequest,
    response: { 201: api.startedTask },
    handler: async (request, reply) => {
      const { caller, body } = request;
      const userId = userOf(caller, body.userId, 'body.userId');
      // Instructions of a user would be those of the app.
      const trusted = caller.kind === 'internal' ? body : { ...body, instructions: undefined };
      const started = await startTaskOnce(deps, userId, trusted, request.headers['idempotency-key']);
      const { taskId, threadId, queued } = started;
      const lastEventId = body.approvals ? await findBeginning(deps, taskId) : undefined;
      return reply.code(201).send({ taskId, threadId, ...(queued && { queued }), ...(lastEventId && { lastEventId }) });
    },
  });

  routes.get('/task/:taskId', access.userOrInternal, {
    id: 'readTask',
    summary: 'Read the status of a run',
    description: 'Returns the status of a run: `queued`, `running`, `completed`, `failed` or `aborted`.',
    problems: ['forbidden', 'not_found'],
    params: api.taskParams,
    response: { 200: api.taskInfo },
    handler: async (request) => describeRun(await readRun(deps, request.caller, request.params.taskId)),
  });

  routes.delete('/task/:taskId', access.userOrInternal, {
    id: 'stopTask',
    summary: 'Stop a run',
    description:
      'Stops a run, or removes it from the queue of its thread. The messages contain everything that was streamed. You can repeat the request.',
    problems: ['forbidden', 'not_found'],
    params: api.taskParams,
    response: { 204: z.null() },
    handler: async (request) => abortTask(deps, request.caller, request.params.taskId),
  });

  routes.get('/stream/:taskId', access.userOrInternal, {
    id: 'followRun',
    summary: 'Stream the output of a run as server-sent events',
    description:
      'Streams the AI SDK v5 UI message stream of a run, and ends with `data: [DONE]`. Each event has an id. Send the last one as `Last-Event-ID` to resume after it, on any instance.',
    problems: ['forbidden', 'not_found', 'too_many_streams'],
    otherResponses: { 200: ['A stream of server-sent events.', 'text/event-stream'] },
    client: { kind: 'stream' },
    params: api.taskParams,
    handler: async (request, reply) => {
      const lastEventId = readLastEventId(request.headers['last-event-id']);
      const run = await readRun(deps, request.caller, request.params.taskId);
      await deps.readers.read(reply, run, lastEventId);
    },
  });

  routes.get('/thread/:threadId/current-task', access.userOrInternal, {
    id: 'readCurrentTask',
    summary: 'Read the run in progress of a thread',
    description:
      'Returns the run in progress of a thread, or `null`, and the runs that wait for it. Use it to resume a stream when a page loads.',
    problems: ['forbidden'],
    params: api.threadParams,
    querystring: api.currentTaskQuery,
    response: { 200: api.currentTask },
    handler: async ({ caller, params, query }) => {
      const userId = namedUserOf(caller, query.userId, 'querystring.userId');
      return readCurrentTask(deps, userId, params.threadId, query.failed === 'true');
    },
  });

  routes.get('/messages/:threadId', access.userOrInternal, {
    id: 'readMessages',
    summary: 'List the messages of a thread',
    description:
      'Returns all messages of a thread, or a page of them, oldest first. The header `X-Next-Before` is the `before` of the next page.',
    problems: ['forbidden'],
    params: api.threadParams,
    querystring: api.messagePaging,
    response: { 200: api.threadMessages },
    handler: async ({ caller, params, query }, reply) => {
      const userId = namedUserOf(caller, query.userId, 'querystring.userId');
      const { messages, nextBefore } = await readMessages(deps, userId, params.threadId, query);
      if (nextBefore !== undefined) reply.header('x-next-before', nextBefore);
      if (messages instanceof Readable) return reply.type('application/json; charset=utf-8').send(messages as never);
      return { messages: [...messages] };
    },
  });

  routes.get('/models', access.userOnly, {
    id: 'listModels',
    summary: 'List the models of texts, images and videos, with their prices',
    description: 'Returns the models, their prices, what they can do, and whether the plan of the user includes them.',
    querystring: api.modelListing,
    response: { 200: api.modelList },
    handler: async (request) => {
      const { plan } = await ensureProfile(deps.db, { id: signedIn(request.caller).userId }, deps.welcome);
      const all = [...deps.models.list(plan), ...listMediaModels(deps.catalogue, plan)];
      const { kind } = request.query;
      return { models: kind === undefined ? all : all.filter((model) => model.kind === kind) };
    },
  });

  routes.get('/usage', access.userOrInternal, {
    id: 'readUsage',
    summary: 'Read the usage of a user by day and model',
    description: 'Returns runs, tokens, media and credits for each day and model, newest day first.',
    querystring: api.usageRange,
    response: { 200: api.usageDays },
    handler: async (request) =>
      readUsage(deps, userOf(request.caller, request.query.userId, 'query.userId'), request.query),
  });

  routes.get('/credits', access.userOrInternal, {
    id: 'readCredits',
    summary: 'Read the plan, the credits and the prices of a user',
    description: 'Returns the plan, the credits, and the prices of a run, an image and a video.',
    querystring: api.creditsOwner,
    response: { 200: api.creditsState },
    handler: async (request) => {
      const userId = userOf(request.caller, request.query.userId, 'query.userId');
      return readCredits(deps, userId, deps.models.pick(undefined).credits, deps.catalogue);
    },
  });

  routes.post('/video/submit/:taskId', access.userOnly, {
    id: 'retryVideos',
    summary: 'Retry the videos of a run that failed because of credits or plan',
    description:
      'Retries the videos of a run that failed with `insufficient_credits` or `insufficient_plan`. If they still cannot be paid for, the response is 400, and `error` is the current reason.',
    problems: ['not_found', 'video_not_retryable', 'video_unpayable', 'account_blocked'],
    client: { answer: 'VideosRetried' },
    params: api.taskParams,
    response: { 200: z.object({ success: z.literal(true) }) },
    handler: async (request) => {
      await retryVideos(deps, signedIn(request.caller).userId, request.params.taskId);
      return { success: true as const };
    },
  });
}
