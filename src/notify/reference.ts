/** The texts of the notification service's API reference (docs/specification/notify.md). */
import { defineReference } from '#platform/http/apireference.ts';
import { notifyProblems } from './problems.ts';

const userId = '5b1c1f0e-8a4d-4f0f-8f57-0f4c0b9b8a21';
const mail = {
  from: 'Atelier <hello@example.com>',
  to: ['ada@example.com'],
  subject: 'Your video is ready',
  text: 'Watch it at https://example.com/videos/1.',
};
const configured = 'internal_key_not_configured' as const;
const sending = [configured, 'idempotency_conflict', 'email_failed', 'send_in_progress'] as const;

export const notifyReference = defineReference({
  description: 'An internal service that sends notifications by type, and raw email.',
  tags: {
    notify: 'Notifications, email and suppressed addresses.',
    people: 'Users and their data, for operators.',
  },
  problems: notifyProblems.table,
  problemFields: {
    recipient_suppressed: {
      suppressed: { type: 'array', items: { type: 'string' }, description: 'The suppressed recipients.' },
    },
    email_failed: {
      id: { type: 'string', description: 'The id of the email. `GET /emails/{id}` returns the reason of the failure.' },
    },
  },
  operations: {
    'POST /notify': {
      id: 'notify',
      description:
        'Sends a notification in the language of the user. If the user or the plan does not allow it, or the address is suppressed, the response is 200 with `skipped` and the reason. An `Idempotency-Key` prevents a second email for 24 hours.',
      problems: ['unknown_notification_type', ...sending],
      example: { type: 'daily_digest', userId },
    },
    'POST /emails': {
      id: 'sendEmail',
      description:
        'Sends an email now, or at `scheduled_at`. The request is compatible with the API of Resend. Use the internal key as its API key (bearer token).',
      problems: ['recipient_suppressed', ...sending],
      example: mail,
    },
    'GET /emails': {
      id: 'listEmails',
      description: 'Returns the accepted emails with their status, newest first.',
      problems: [configured],
    },
    'POST /emails/batch': {
      id: 'sendEmails',
      description: 'Accepts up to 100 emails. Either all are accepted or none.',
      problems: sending,
      example: [mail],
    },
    'GET /emails/:id': {
      id: 'readEmail',
      description: 'Returns the status and the events of an email.',
      problems: [configured, 'not_found'],
    },
    'POST /emails/:id/cancel': {
      id: 'cancelEmail',
      description: 'Cancels an email that is not sent yet.',
      problems: [configured, 'not_found', 'not_cancelable'],
    },
    'POST /emails/events': {
      id: 'reportEmailEvent',
      description:
        'Records an event of the mail provider. The content service calls it after it has verified the signature.',
      problems: [configured],
      example: {
        id: 'msg_2Lh9KRb0pzN4LePd3XiA4v12Axj',
        type: 'email.delivered',
        email_id: '4ef9a417-02e9-4d39-ad75-9611e0fcc33c',
        to: ['ada@example.com'],
      },
    },
    'GET /people/mails': {
      id: 'listMailsOfPerson',
      description: 'Returns the newest emails to an address, and whether the address is suppressed.',
    },
    'POST /people/erasure': {
      id: 'eraseMails',
      description: 'Erases the emails of a user and of an address. You can repeat the request.',
      example: { userId, address: 'ada@example.com' },
    },
    'GET /types': {
      id: 'listTypes',
      description: 'Returns the types of notifications, with their audiences and languages.',
      problems: [configured],
    },
    'POST /types/:type/preview': {
      id: 'previewType',
      description: 'Returns the subject, the HTML and the text of a notification with sample data.',
      problems: [configured, 'not_found'],
      example: { locale: 'en' },
    },
    'GET /suppressions': {
      id: 'listSuppressions',
      description: 'Returns a page of addresses that receive no email, because of a bounce or a complaint.',
      problems: [configured],
    },
    'DELETE /suppressions/:address': {
      id: 'liftSuppression',
      description: 'Removes an address from the suppression list.',
      problems: [configured, 'not_found'],
    },
  },
});
