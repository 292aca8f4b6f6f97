/** The vocabulary of the notify service. Generated from its OpenAPI document by `npm test -- test/client -u`. */

export interface NotifyRequest {
  readonly type?: string | null;
  readonly userId?: string | null;
  /** Not used so far. */
  readonly data?: Readonly<Record<string, unknown>> | null;
  /** With an email address the user is not looked up. */
  readonly contact?: { readonly email?: string | null; readonly locale?: string | null } | null;
}

export type NotifyAnswer =
  | { readonly delivered: readonly { readonly channel: 'email'; readonly providerId: string }[] }
  | { readonly skipped: true; readonly reason: 'disabled_by_user' | 'plan_gate' | 'user_not_found' };

export interface EmailRequest {
  readonly from: string;
  readonly to: string | readonly string[];
  readonly subject: string;
  readonly html?: string | null;
  readonly text?: string | null;
  readonly cc?: string | readonly string[] | null;
  readonly bcc?: string | readonly string[] | null;
  readonly reply_to?: string | readonly string[] | null;
}

export interface EmailAnswer {
  /** The provider’s. */ readonly id: string;
  /** The recipients that the mail did not go to; absent: none. */
  readonly suppressed?: readonly string[];
}

export interface SuppressionListing {
  readonly limit?: number;
  /** `next_cursor` of the page before. */
  readonly cursor?: string;
}

export interface SuppressionPage {
  readonly suppressions: readonly {
    readonly address: string;
    /** What its server said. */
    readonly reason: string;
    /** ISO 8601. */
    readonly since: string;
  }[];
  /** `null`: this is the last page. */
  readonly next_cursor: string | null;
}
