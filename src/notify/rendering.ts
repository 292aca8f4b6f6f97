/**
 * Renders the mail of a notification: the content of its type in one language, with the headers that mail clients need.
 */
import { signUnsubscribe } from '#accounts/unsubscribing.ts';
import type { Brand } from './brand.ts';
import { addressOf } from './mail.ts';
import type { MailContent, MailFacts, NotificationType, TrendingItem } from './types/notification.ts';

export interface RenderingDeps {
  /** The URL of the button. */
  readonly appUrl: string;
  /** The page of the content service, without its query. */
  readonly unsubscribeUrl: string;
  readonly unsubscribeSecret: string;
  readonly brand: Brand;
}

export interface RenderedMail extends MailContent {
  readonly headers: Readonly<Record<string, string>>;
}

export interface Rendering extends Pick<MailFacts, 'language' | 'user' | 'data'> {
  readonly trending?: readonly TrendingItem[];
  readonly now?: Date;
}

export function renderMail(deps: RenderingDeps, type: NotificationType, rendering: Rendering): RenderedMail {
  const { appUrl, brand } = deps;
  const { language, user, data, trending = [], now = new Date() } = rendering;
  const unsubscribeUrl =
    type.audience === 'product'
      ? `${deps.unsubscribeUrl}?token=${signUnsubscribe(deps.unsubscribeSecret, user.id, addressOf(user.email) ?? user.email)}`
      : undefined;
  const content = type.render({ language, user, data, brand, appUrl, unsubscribeUrl, now, trending });
  return {
    ...content,
    // Vacation responders do not answer such mails (RFC 3834 §5).
    headers: { 'Auto-Submitted': 'auto-generated', ...(unsubscribeUrl && unsubscribeHeaders(unsubscribeUrl)) },
  };
}

/** RFC 8058: mail clients show their own button, which sends a POST. */
function unsubscribeHeaders(url: string) {
  return { 'List-Unsubscribe': `<${url}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' };
}
