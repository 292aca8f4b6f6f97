import { defineProblems } from '#platform/problem.ts';

/** docs/specification/agent.md. */
export const agentProblems = defineProblems({
  task_running: { status: 409, message: 'The thread has a run in flight.' },
  message_exists: {
    status: 409,
    message: 'The thread has a message with this id. `taskId` is the run that it started.',
  },
  idempotency_conflict: { status: 409, message: 'This Idempotency-Key was used with another request.' },
  thread_deleting: {
    status: 409,
    message: 'The thread is being deleted. Try again in a moment, or start another thread.',
    retryAfterS: 2,
  },
  too_many_runs: {
    status: 429,
    message: 'The user has as many runs in flight as are allowed. Wait until one has ended, or stop one.',
    retryAfterS: 5,
  },
  too_many_streams: {
    status: 429,
    message: 'The user has as many streams open as are allowed. Close one before you open another.',
    retryAfterS: 5,
  },
  method_not_allowed: {
    status: 405,
    message: 'Send MCP messages with POST. There is no session and no stream to open.',
  },
  thread_full: {
    status: 409,
    message: 'The thread is full. Start another thread, or rewind this one to an earlier message.',
  },
  insufficient_plan: { status: 402, message: "Your plan doesn't include this model. Choose another model or upgrade." },
  insufficient_credits: { status: 402, message: 'The credits do not suffice for a run.' },
  video_not_retryable: { status: 400, message: 'The task has no video that failed for want of credits or plan.' },
  video_unpayable: { status: 400, message: 'The video still cannot be paid for.' },
  still_deleting: {
    status: 503,
    message: 'Not all threads are deleted yet. They are hidden, and the deletion continues. Try again.',
    retryAfterS: 5,
  },
});
