/** The texts of the agent service's API reference (docs/specification/agent.md). */
import { defineReference } from '#platform/http/apireference.ts';
import { agentProblems } from './problems.ts';

const threadId = 'thread-1';
const starting = [
  'forbidden',
  'insufficient_plan',
  'insufficient_credits',
  'task_running',
  'queue_full',
  'approval_answered',
  'message_exists',
  'thread_deleting',
  'thread_full',
  'too_many_runs',
] as const;
const taskId = { type: 'string', description: 'The run.' } as const;
const required = { type: 'integer', description: 'The price in credits.' } as const;
const balance = { type: 'integer', description: 'The credits of the user.' } as const;
const eventStream: readonly [string, string] = ['A stream of server-sent events.', 'text/event-stream'];

export const agentReference = defineReference({
  description:
    'Runs a model with tools in threads, one run per thread at a time. The output is a resumable stream with images, videos and memory.',
  tags: {
    agent: 'Runs, streams, threads, models and credits.',
    people: 'Users and their data, for operators.',
  },
  problems: agentProblems.table,
  problemFields: {
    task_running: { taskId, reason: { const: 'running' } },
    queue_full: { taskId, reason: { const: 'queue_full' } },
    approval_answered: { reason: { const: 'approval_answered' } },
    message_exists: { taskId, reason: { const: 'message_exists' } },
    thread_full: { reason: { const: 'thread_full' } },
    idempotency_conflict: { taskId, reason: { const: 'idempotency_conflict' } },
    insufficient_credits: { required, balance },
    video_unpayable: { required, balance },
  },
  operations: {
    'POST /task': {
      id: 'startTask',
      description:
        'Starts a run that answers a message, or goes on after `approvals`, and returns its `taskId`. Read the answer with `GET /stream/:taskId`. With an `Idempotency-Key`, a repeated request returns the same run for 24 hours.',
      problems: [...starting, 'idempotency_conflict'],
      example: { threadId, text: 'Create an image of a lighthouse at dusk.' },
    },
    'GET /task/:taskId': {
      id: 'readTask',
      description: 'Returns the status of a run: `queued`, `running`, `completed`, `failed` or `aborted`.',
      problems: ['forbidden', 'not_found'],
    },
    'DELETE /task/:taskId': {
      id: 'stopTask',
      description:
        'Stops a run, or removes it from the queue of its thread. The messages contain everything that was streamed. You can repeat the request.',
      problems: ['forbidden', 'not_found'],
    },
    'GET /stream/:taskId': {
      id: 'followRun',
      description:
        'Streams the AI SDK v5 UI message stream of a run, and ends with `data: [DONE]`. Each event has an id. Send the last one as `Last-Event-ID` to resume after it, on any instance.',
      problems: ['forbidden', 'not_found', 'too_many_streams'],
      responses: { 200: eventStream },
    },
    'GET /thread/:threadId/current-task': {
      id: 'readCurrentTask',
      description:
        'Returns the run in progress of a thread, or `null`, and the runs that wait for it. Use it to resume a stream when a page loads.',
      problems: ['forbidden'],
    },
    'GET /messages/:threadId': {
      id: 'readMessages',
      description:
        'Returns all messages of a thread, or a page of them, oldest first. The header `X-Next-Before` is the `before` of the next page.',
      problems: ['forbidden'],
    },
    'GET /threads': {
      id: 'listThreads',
      description: 'Returns a page of threads. The thread with the newest message is first.',
    },
    'DELETE /threads': {
      id: 'deleteThreads',
      description: 'Immediately hides all threads of a user, and deletes them. You can repeat the request.',
      responses: { 204: ['The threads are hidden.'] },
    },
    'GET /threads/:threadId': {
      id: 'readThread',
      description: 'Returns the title, the times and the number of messages of a thread.',
      problems: ['forbidden', 'not_found'],
    },
    'PATCH /threads/:threadId': {
      id: 'renameThread',
      description: 'Sets the title of a thread. The position of the thread in the list does not change.',
      problems: ['forbidden', 'not_found', 'thread_deleting'],
      example: { title: 'Lighthouses' },
    },
    'DELETE /threads/:threadId': {
      id: 'deleteThread',
      description:
        "Stops the run in progress and deletes the thread with its messages and videos. With `assets=true`, it also deletes the thread's assets. After 503, you can repeat the request.",
      problems: ['forbidden', 'not_found'],
    },
    'GET /models/all': {
      id: 'listConfiguredModels',
      description: 'Returns all models with their plans and prices, for operators.',
      problems: ['forbidden'],
    },
    'GET /usage/totals': {
      id: 'readUsageTotals',
      description: 'Returns the usage of all users by day, model and plan, newest day first, for operators.',
      problems: ['forbidden'],
    },
    'GET /usage/users': {
      id: 'listSpenders',
      description: 'Returns the users who spent the most credits in a month, for operators.',
      problems: ['forbidden'],
    },
    'GET /people/:userId': {
      id: 'countThreads',
      description: 'Returns the numbers of threads, messages and runs in progress of a user, for operators.',
      problems: ['forbidden'],
    },
    'DELETE /people/:userId': {
      id: 'eraseThreads',
      description:
        'Erases the threads of a user with their assets, events and usage. After 503, you can repeat the request.',
      problems: ['forbidden', 'still_deleting'],
    },
    'POST /chat': {
      id: 'chat',
      description:
        "Takes the request of the AI SDK's `DefaultChatTransport` and returns the stream of the run. If the connection breaks, the run continues.",
      problems: [...starting, 'too_many_streams'],
      responses: { 200: eventStream },
      example: {
        id: threadId,
        messages: [{ id: 'message-1', role: 'user', parts: [{ type: 'text', text: 'Hello' }] }],
      },
    },
    'GET /chat/:id/stream': {
      id: 'resumeChat',
      description: 'Streams the run in progress of a thread from its first event, or after `Last-Event-ID`.',
      problems: ['forbidden', 'too_many_streams'],
      responses: { 200: eventStream, 204: ['The thread has no run in progress.'] },
    },
    'GET /events': {
      id: 'events',
      description:
        "Streams changes of the user's data from all processes. Send the last id as `Last-Event-ID` to resume, for up to an hour.",
      problems: ['too_many_streams'],
      responses: { 200: eventStream },
    },
    'GET /models': {
      id: 'listModels',
      description: 'Returns the models, their prices, and whether the plan of the user includes them.',
    },
    'GET /usage': {
      id: 'readUsage',
      description: 'Returns runs, tokens, media and credits for each day and model, newest day first.',
    },
    'GET /credits': {
      id: 'readCredits',
      description: 'Returns the plan, the credits, and the prices of a run, an image and a video.',
    },
    'POST /video/submit/:taskId': {
      id: 'retryVideos',
      description:
        'Retries the videos of a run that failed with `insufficient_credits` or `insufficient_plan`. If they still cannot be paid for, the response is 400, and `error` is the current reason.',
      problems: ['not_found', 'video_not_retryable', 'video_unpayable'],
    },
  },
});
