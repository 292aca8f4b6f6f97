import { defineProblems } from '#platform/problem.ts';

/** The messages of docs/specification/notify.md#notify-endpoints are fixed, and have no full stop. */
export const notifyProblems = defineProblems({
  unknown_notification_type: {
    status: 400,
    message: 'There is no notification of this type. List the types with GET /types.',
  },
  idempotency_conflict: {
    status: 409,
    message: 'This Idempotency-Key was used with another body. Send a new key with a new body.',
  },
  not_cancelable: {
    status: 409,
    message: 'The email is being sent, was sent or has failed, so it cannot be canceled.',
  },
  not_retryable: {
    status: 409,
    message: 'The email was sent or canceled, or it was due more than a day ago. Send a new one.',
  },
  recipient_suppressed: {
    status: 422,
    message: 'Every recipient is suppressed, because of an earlier bounce or complaint.',
  },
  internal_key_not_configured: { status: 500, message: 'INTERNAL_KEY is not configured.' },
  email_failed: { status: 500, message: 'The email could not be sent.' },
  send_in_progress: { status: 503, message: 'The same email is still being sent. Try again later.', retryAfterS: 5 },
});

/** Fields that the bodies of some problems have in addition, by code. */
export const notifyProblemFields = {
  recipient_suppressed: {
    suppressed: { type: 'array', items: { type: 'string' }, description: 'The suppressed recipients.' },
  },
  email_failed: {
    id: { type: 'string', description: 'The id of the email. `GET /emails/{id}` returns the reason of the failure.' },
  },
} as const;
