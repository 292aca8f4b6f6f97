/** The vocabulary of the notify service. Generated from its OpenAPI document by `npm run generate`. */

export interface NotifyRequest {
  readonly type?: string | null;
  readonly userId?: string | null;
  /** For the texts of the type. */
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
  readonly attachments?:
    | readonly {
        readonly filename: string;
        readonly content: string | { readonly type: 'Buffer'; readonly data: readonly number[] };
        readonly content_type?: string | null;
        readonly content_id?: string | null;
        /** Files are not fetched: send their `content`. */
        readonly path?: null;
      }[]
    | null;
  readonly headers?: Readonly<Record<string, string>> | null;
  readonly tags?: readonly { readonly name: string; readonly value: string }[] | null;
  /** At most 30 days ahead. The past means now. */
  readonly scheduled_at?: string | null;
}

export interface EmailAnswer {
  /** The provider’s; of a scheduled mail ours. */ readonly id: string;
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
