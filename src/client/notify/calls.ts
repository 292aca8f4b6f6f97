/** The calls of the notify service. Generated from its OpenAPI document by `npm run generate`. */
import { type Access, type CallOptions, callJson, callVoid, type KeyedOptions, keyed } from '../calling.ts';
import { operationsOf } from '../operations.ts';
import type {
  EmailAnswer,
  EmailRequest,
  NotifyAnswer,
  NotifyRequest,
  SuppressionListing,
  SuppressionPage,
} from './api.ts';

export type NotifyCalls = ReturnType<typeof notifyCalls>;

export function notifyCalls(access: Access) {
  return {
    ...operationsOf(access),
    /** Notify a user, in their language, if they may be notified (`POST /notify`). */
    notify: (body: NotifyRequest, options?: KeyedOptions): Promise<NotifyAnswer> =>
      callJson(access, { method: 'POST', path: '/notify', body, ...keyed(options) }, options),

    /** Send a mail as it is, now or later (`POST /emails`). */
    sendEmail: (body: EmailRequest, options?: KeyedOptions): Promise<EmailAnswer> =>
      callJson(access, { method: 'POST', path: '/emails', body, ...keyed(options) }, options),

    /** The addresses that no mail goes to (`GET /suppressions`). */
    listSuppressions: (query?: SuppressionListing, options?: CallOptions): Promise<SuppressionPage> =>
      callJson(access, { method: 'GET', path: '/suppressions', query, repeatable: true }, options),

    /** Send mail to an address again (`DELETE /suppressions/:address`). */
    liftSuppression: (address: string, options?: CallOptions): Promise<void> =>
      callVoid(
        access,
        { method: 'DELETE', path: `/suppressions/${encodeURIComponent(address)}`, repeatable: true },
        options,
      ),
  };
}
