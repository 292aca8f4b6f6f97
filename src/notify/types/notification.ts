import type { Plan } from '#accounts/api.ts';
import type { ContentLanguage } from '#platform/language.ts';

export interface MailTexts {
  readonly subject: string;
  readonly heading: string;
  readonly paragraphs: readonly string[];
  /** Of the button that leads to the application. */
  readonly action: string;
}

export interface NotificationType {
  /** As `POST /notify` names it. */
  readonly name: string;
  readonly gates: {
    /** Whether the user's setting can switch it off; account mails go out in any case (docs/specification/notify.md#skip-reasons). */
    readonly preference: boolean;
    /** Only users of this plan are written to. */
    readonly plan?: Plan;
  };
  /** Carries a one-click unsubscribe (RFC 8058). */
  readonly canUnsubscribe: boolean;
  readonly texts: Readonly<Record<ContentLanguage, MailTexts>>;
}
