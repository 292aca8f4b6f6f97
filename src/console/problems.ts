import { defineProblems } from '#platform/problem.ts';

export const consoleProblems = defineProblems({
  forbidden_host: { status: 403, message: 'The host is unknown. Set CONSOLE_URL to the public URL of the console.' },
  forbidden_origin: { status: 403, message: 'Pages of other origins must not call the console.' },
  wrong_token: { status: 401, message: 'The token is wrong. Use the value of CONSOLE_TOKEN.' },
  not_an_operator: {
    status: 403,
    message: 'This account is not an operator. Operators are configured in OPERATOR_EMAILS or OPERATOR_CLAIM.',
  },
  read_only: { status: 403, message: 'Your role is read-only. Contact an operator who can make changes.' },
  doctor_is_busy: { status: 429, message: 'The check ran a moment ago. Try again in a few seconds.', retryAfterS: 10 },
  job_changed: { status: 409, message: 'The job has changed. Reload the page to see its state.' },
  job_settled: {
    status: 409,
    message: 'The service has handled this failure, for example with a refund, so a retry would have no effect.',
  },
  job_replaced: { status: 409, message: 'A newer job does the same work. Discard this one.' },
  run_not_ended: { status: 409, message: 'The run has not ended. Read its stream when it has.' },
  outbox_unused: { status: 404, message: 'This installation sends email through a server, so there is no outbox.' },
});
