import { defineProblems } from '#platform/problem.ts';

/** docs/specification/agent.md. */
export const agentProblems = defineProblems({
  task_running: {
    status: 409,
    message: 'The thread already has a run in progress. Wait until it has ended, or stop it.',
  },
  queue_full: {
    status: 409,
    message: 'Five runs of this thread are already waiting. Wait until one has started, or delete one.',
  },
  approval_answered: {
    status: 409,
    message: 'This approval was answered already, or a new message has denied it. Read the messages of the thread.',
  },
  message_exists: {
    status: 409,
    message: 'The thread already has a message with this id. `taskId` names the run that it started.',
  },
  idempotency_conflict: {
    status: 409,
    message: 'This Idempotency-Key was used with another request. Send a new key with a new request.',
  },
  thread_deleting: {
    status: 409,
    message: 'The thread is being deleted. Try again in a moment, or start another thread.',
    retryAfterS: 2,
  },
  too_many_runs: {
    status: 429,
    message: 'The user has reached the limit of runs in progress. Wait until one has ended, or stop one.',
    retryAfterS: 5,
  },
  too_many_streams: {
    status: 429,
    message: 'The user has reached the limit of open streams. Close one before you open another.',
    retryAfterS: 5,
  },
  method_not_allowed: {
    status: 405,
    message: 'Send MCP messages with POST. There is no session and no stream to open.',
  },
  prompt_refused: { status: 422, message: 'The prompt was refused. Change it and try again.' },
  thread_full: {
    status: 409,
    message: 'The thread is full. Start another thread, or rewind this one to an earlier message.',
  },
  insufficient_plan: { status: 402, message: "Your plan doesn't include this model. Choose another model or upgrade." },
  insufficient_credits: { status: 402, message: "You don't have enough credits for a run." },
  video_not_retryable: { status: 400, message: 'The task has no video that failed because of credits or plan.' },
  video_unpayable: {
    status: 400,
    message: 'Your plan or credits still do not cover this video. Upgrade or add credits, then try again.',
  },
  still_deleting: {
    status: 503,
    message: 'Not all threads are deleted yet. They are hidden, and the deletion continues. Try again.',
    retryAfterS: 5,
  },
});

const taskId = { type: 'string', description: 'The run.' } as const;
const required = { type: 'integer', description: 'The price in credits.' } as const;
const balance = { type: 'integer', description: 'The credits of the user.' } as const;

/** Fields that the bodies of some problems have in addition, by code. */
export const agentProblemFields = {
  task_running: { taskId, reason: { const: 'running' } },
  queue_full: { taskId, reason: { const: 'queue_full' } },
  approval_answered: { reason: { const: 'approval_answered' } },
  message_exists: { taskId, reason: { const: 'message_exists' } },
  thread_full: { reason: { const: 'thread_full' } },
  prompt_refused: {
    categories: {
      type: 'array',
      items: { type: 'string' },
      description: 'The reasons, as the screening service names them.',
    },
  },
  idempotency_conflict: { taskId, reason: { const: 'idempotency_conflict' } },
  insufficient_credits: { required, balance },
  video_unpayable: { required, balance },
} as const;

// Failures of a run that are no faults of the program. `providers/failures.ts` explains those of the AI SDK too, and loads it.

/** Its message is shown to the user. */
export class RunFailure extends Error {}

/** The model has sent no token in time. */
export class FirstTokenTimeout extends Error {}
