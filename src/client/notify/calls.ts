/** The calls of the notify service. Generated from its OpenAPI document by `npm run generate`. */
import { type Access, type CallOptions, callJson, callVoid, type KeyedOptions, keyed } from '../calling.ts';
import { operationsOf } from '../operations.ts';
import type {
  CanceledEmail,
  Email,
  EmailAnswer,
  EmailBatch,
  EmailBatchAnswer,
  EmailEvent,
  EmailList,
  EmailListing,
  EmailRequest,
  ErasedMails,
  MailsErasure,
  MailsOfPerson,
  MailsOfPersonQuery,
  NotificationTypes,
  NotifyAnswer,
  NotifyRequest,
  Preview,
  PreviewRequest,
  RetriedEmail,
  SuppressionListing,
  SuppressionPage,
} from './api.ts';

export type NotifyCalls = ReturnType<typeof notifyCalls>;

export function notifyCalls(access: Access) {
  return {
    ...operationsOf(access),
    /** List the newest emails to an address (`GET /people/mails`). */
    listMailsOfPerson: (query: MailsOfPersonQuery, options?: CallOptions): Promise<MailsOfPerson> =>
      callJson(access, { method: 'GET', path: '/people/mails', query, repeatable: true }, options),

    /** Erase the emails of a person (`POST /people/erasure`). */
    eraseMails: (body: MailsErasure, options?: CallOptions): Promise<ErasedMails> =>
      callJson(access, { method: 'POST', path: '/people/erasure', body, repeatable: true }, options),

    /** Send a notification to a user (`POST /notify`). */
    notify: (body: NotifyRequest, options?: KeyedOptions): Promise<NotifyAnswer> =>
      callJson(access, { method: 'POST', path: '/notify', body, ...keyed(options) }, options),

    /** Send an email (`POST /emails`). */
    sendEmail: (body: EmailRequest, options?: KeyedOptions): Promise<EmailAnswer> =>
      callJson(access, { method: 'POST', path: '/emails', body, ...keyed(options) }, options),

    /** List accepted emails, newest first (`GET /emails`). */
    listEmails: (query?: EmailListing, options?: CallOptions): Promise<EmailList> =>
      callJson(access, { method: 'GET', path: '/emails', query, repeatable: true }, options),

    /** Send up to 100 emails (`POST /emails/batch`). */
    sendEmails: (body: EmailBatch, options?: KeyedOptions): Promise<EmailBatchAnswer> =>
      callJson(access, { method: 'POST', path: '/emails/batch', body, ...keyed(options) }, options),

    /** Read the status of an email (`GET /emails/:id`). */
    readEmail: (id: string, options?: CallOptions): Promise<Email> =>
      callJson(access, { method: 'GET', path: `/emails/${encodeURIComponent(id)}`, repeatable: true }, options),

    /** Cancel a scheduled email (`POST /emails/:id/cancel`). */
    cancelEmail: (id: string, options?: CallOptions): Promise<CanceledEmail> =>
      callJson(access, { method: 'POST', path: `/emails/${encodeURIComponent(id)}/cancel`, repeatable: true }, options),

    /** Try a failed email now (`POST /emails/:id/retry`). */
    retryEmail: (id: string, options?: CallOptions): Promise<RetriedEmail> =>
      callJson(access, { method: 'POST', path: `/emails/${encodeURIComponent(id)}/retry`, repeatable: true }, options),

    /** Record a verified event of the mail provider (`POST /emails/events`). */
    reportEmailEvent: (body: EmailEvent, options?: CallOptions): Promise<void> =>
      callVoid(access, { method: 'POST', path: '/emails/events', body, repeatable: true }, options),

    /** List the types of notifications (`GET /types`). */
    listTypes: (options?: CallOptions): Promise<NotificationTypes> =>
      callJson(access, { method: 'GET', path: '/types', repeatable: true }, options),

    /** Render a notification without sending it (`POST /types/:type/preview`). */
    previewType: (type: string, body: PreviewRequest, options?: CallOptions): Promise<Preview> =>
      callJson(
        access,
        { method: 'POST', path: `/types/${encodeURIComponent(type)}/preview`, body, repeatable: true },
        options,
      ),

    /** List suppressed addresses (`GET /suppressions`). */
    listSuppressions: (query?: SuppressionListing, options?: CallOptions): Promise<SuppressionPage> =>
      callJson(access, { method: 'GET', path: '/suppressions', query, repeatable: true }, options),

    /** Remove an address from the suppression list (`DELETE /suppressions/:address`). */
    liftSuppression: (address: string, options?: CallOptions): Promise<void> =>
      callVoid(
        access,
        { method: 'DELETE', path: `/suppressions/${encodeURIComponent(address)}`, repeatable: true },
        options,
      ),
  };
}
