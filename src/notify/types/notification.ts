import type { Plan } from '#accounts/api.ts';
import type { ContentLanguage } from '#platform/language.ts';
import type { Brand } from '../brand.ts';

/** The facts of one mail. */
export interface MailFacts {
  readonly language: ContentLanguage;
  readonly user: MailUser;
  /** As in the request. */
  readonly data: Readonly<Record<string, unknown>>;
  readonly brand: Brand;
  /** The URL of the button. */
  readonly appUrl: string;
  /** For product mails. */
  readonly unsubscribeUrl?: string | undefined;
  readonly now: Date;
  /** For types that `showsTrending`. */
  readonly trending: readonly TrendingItem[];
}

export interface MailUser {
  readonly id: string;
  readonly email: string;
  /** `null`: the user was not looked up. */
  readonly plan: Plan | null;
}

export interface TrendingItem {
  readonly title: string;
  readonly url: string;
  readonly imageUrl?: string | undefined;
}

export interface MailContent {
  readonly subject: string;
  readonly html: string;
  readonly text: string;
}

export interface NotificationType {
  /** The name in `POST /notify`. */
  readonly name: string;
  /**
   * `account`: about the account itself, so it ignores the user's setting. `product`: users can turn it off, and it has
   * a one-click unsubscribe (RFC 8058).
   */
  readonly audience: 'account' | 'product';
  /** Only users of these plans get it. */
  readonly plans?: readonly Plan[] | undefined;
  /** The languages of its texts. English is among them. */
  readonly locales: readonly ContentLanguage[];
  readonly showsTrending: boolean;
  /** Throws `invalid_request` if a field of `data` is not what the type expects. */
  render(facts: MailFacts): MailContent;
}
