/** The vocabulary of the notify service. Generated from its OpenAPI document by `npm run generate`. */

export interface MailsOfPersonQuery {
  readonly address: string;
  readonly limit?: number;
}

export interface MailsOfPerson {
  /** Newest first. */
  readonly mails: readonly {
    readonly id: string;
    readonly subject: string;
    readonly status: string;
    /** It was stored in the outbox, and not sent. */
    readonly inOutbox: boolean;
    /** An attempt failed, and another one follows. */
    readonly isDelayed: boolean;
    readonly createdAt: string;
  }[];
  readonly suppression: { readonly reason: string; readonly since: string } | null;
}

export interface MailsErasure {
  readonly userId: string;
  readonly address?: string | null;
}

export interface ErasedMails {
  /** The number of removed records of each kind. */ readonly removed: Readonly<Record<string, number>>;
}

export interface NotifyRequest {
  readonly type?: string | null;
  /** A UUID. */
  readonly userId?: string | null;
  /** For the texts of the type. */
  readonly data?: Readonly<Record<string, unknown>> | null;
  /** With an email address, the service does not look up the user. */
  readonly contact?: { readonly email?: string | null; readonly locale?: string | null } | null;
}

export type NotifyAnswer =
  | { readonly delivered: readonly { readonly channel: 'email'; readonly providerId: string }[] }
  | { readonly skipped: true; readonly reason: 'disabled_by_user' | 'plan_gate' | 'user_not_found' | 'suppressed' };

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
  /** At most 30 days ahead. A time in the past means now. */
  readonly scheduled_at?: string | null;
}

export interface EmailAnswer {
  /** The id of the provider. For a scheduled email: the id of this service. */ readonly id: string;
  /** The suppressed recipients. If absent: none. */
  readonly suppressed?: readonly string[];
}

export interface EmailListing {
  readonly limit?: number;
  /** The id of the last email of the previous page. */
  readonly after?: string;
  /** Only emails whose subject or recipients contain this text. Ignores case. */
  readonly q?: string;
  /** `delayed`: an attempt failed, and another one follows. `failed`: none follows, and the service has not sent the email. */
  readonly status?: 'delayed' | 'failed';
}

export interface EmailList {
  readonly object: 'list';
  readonly has_more: boolean;
  /** The emails of the last 30 days, newest first. */
  readonly data: readonly {
    readonly id: string;
    readonly to: readonly string[];
    readonly subject: string;
    readonly status: 'scheduled' | 'sent' | 'delivered' | 'bounced' | 'complained' | 'failed' | 'canceled';
    /** It was not sent, but stored in the outbox of an installation without a mail server. */
    readonly in_outbox: boolean;
    /** ISO 8601. */
    readonly created_at: string;
    /** ISO 8601. `null`: the email was not scheduled. */
    readonly scheduled_at: string | null;
    /** The reason of the last failed attempt; `null` after it was sent. */
    readonly reason: string | null;
    /** ISO 8601. `null`: an attempt is running, or no job of this installation tries the email again. */
    readonly next_attempt_at: string | null;
  }[];
}

export type EmailBatch = readonly EmailRequest[];

export interface EmailBatchAnswer {
  readonly data: readonly { readonly id: string }[];
}

export interface Email {
  readonly id: string;
  /** `null`, as `html` and `text`: the email was sent, so its content is deleted. */
  readonly from: string | null;
  readonly to: readonly string[];
  readonly subject: string;
  readonly html: string | null;
  readonly text: string | null;
  /** `scheduled`: not sent yet. */
  readonly status: 'scheduled' | 'sent' | 'delivered' | 'bounced' | 'complained' | 'failed' | 'canceled';
  /** ISO 8601. */
  readonly created_at: string;
  /** ISO 8601; `null`: sent immediately. */
  readonly scheduled_at: string | null;
  readonly tags: readonly { readonly name: string; readonly value: string }[];
  /** ISO 8601. `null`: an attempt is running, or no job of this installation tries the email again. */
  readonly next_attempt_at: string | null;
  /** The addresses that a mail server accepted before it refused others. */
  readonly accepted: readonly string[];
  /** The addresses of recipients that are suppressed now. */
  readonly suppressed: readonly string[];
  /** The last 100, oldest first. */
  readonly events: readonly {
    readonly type:
      | 'sent'
      | 'suppressed'
      | 'delivery_delayed'
      | 'failed'
      | 'canceled'
      | 'delivered'
      | 'bounced'
      | 'complained';
    readonly created_at: string;
    /** The reason that the provider or the SMTP server returned. */
    readonly reason: string | null;
  }[];
}

export interface CanceledEmail {
  readonly object: 'email';
  readonly id: string;
}

export interface RetriedEmail {
  readonly object: 'email';
  readonly id: string;
}

export interface EmailEvent {
  /** The id of the event. A repeated event counts once. */ readonly id: string;
  readonly type: string;
  readonly email_id: string;
  readonly to: readonly string[];
  readonly bounce_type?: string | null;
  readonly reason?: string | null;
}

export interface NotificationTypes {
  readonly types: readonly {
    readonly type: string;
    /** `product`: users can turn it off and unsubscribe. */
    readonly audience: 'account' | 'product';
    readonly locales: readonly (
      | 'en'
      | 'zh_CN'
      | 'zh_TW'
      | 'ja'
      | 'ko'
      | 'de'
      | 'es'
      | 'fr'
      | 'it'
      | 'ms'
      | 'pt'
      | 'ru'
    )[];
  }[];
}

export interface PreviewRequest {
  /** Default: `en`. */ readonly locale?: string | null;
  /** As in `POST /notify`. */
  readonly data?: Readonly<Record<string, unknown>> | null;
}

export interface Preview {
  readonly subject: string;
  readonly html: string;
  readonly text: string;
}

export interface SuppressionListing {
  readonly limit?: number;
  /** The `next_cursor` of the previous page. */
  readonly cursor?: string;
}

export interface SuppressionPage {
  readonly suppressions: readonly {
    readonly address: string;
    /** The reason that its server returned. */
    readonly reason: string;
    /** ISO 8601. */
    readonly since: string;
  }[];
  /** `null`: this is the last page. */
  readonly next_cursor: string | null;
}
