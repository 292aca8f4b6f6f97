import { defineProblems } from '#platform/problem.ts';

/** Document 001; CONTRACT §7. */
export const agentProblems = defineProblems({
  task_running: { status: 409, message: 'The thread has a run in flight.' },
  insufficient_credits: { status: 402, message: 'The credits do not suffice for a run.' },
  video_not_retryable: { status: 400, message: 'The task has no video that failed for want of credits or plan.' },
  video_unpayable: { status: 400, message: 'The video still cannot be paid for.' },
});
