/** `POST /notify` (docs/specification/notify.md#notify): decides the recipient and the language, and whether to send. */

import { findRecipient, isUnsubscribed } from '#accounts/store.ts';
import { digestAddress, signUnsubscribe } from '#accounts/unsubscribing.ts';
import { isUuid } from '#platform/ids.ts';
import { type ContentLanguage, toContentLanguage } from '#platform/language.ts';
import { invalid, problems } from '#platform/problem.ts';
import type { NotifyAnswer, NotifyRequest, SkipReason } from './api.ts';
import type { NotifyContext } from './context.ts';
import { addressOf, type Mail } from './mail.ts';
import { notifyProblems } from './problems.ts';
import { type Outcome, sendOnce } from './sending.ts';
import type { MailContent, MailFacts, MailUser, NotificationType, TrendingItem } from './types/notification.ts';

export interface Notification {
  readonly type: string;
  readonly userId: string;
  readonly data?: NotifyRequest['data'];
  readonly contact?: NotifyRequest['contact'];
}

export async function notify(
  deps: NotifyContext,
  notification: Notification,
  { key, body }: { readonly key: string | undefined; readonly body: unknown },
): Promise<NotifyAnswer> {
  const type = deps.types.find(notification.type);
  if (type === undefined)
    throw notifyProblems.unknown_notification_type({ message: `Unknown notification type: ${notification.type}` });
  if (!isUuid(notification.userId)) throw invalid('body.userId', 'must be a UUID');
  const prepare = async () => {
    const recipient = await chooseRecipient(deps, type, notification);
    if ('skipReason' in recipient) return recipient;
    return { mail: await write(deps, type, recipient, notification.data) };
  };
  return toAnswer(await sendOnce(deps, { endpoint: 'notify', key, body, prepare }));
}

/** `POST /types/:type/preview`: renders for an invented user of the free plan. */
export async function previewType(
  deps: NotifyContext,
  name: string,
  { locale, data = {} }: { readonly locale?: string | undefined; readonly data?: NotifyRequest['data'] },
): Promise<MailContent> {
  const type = deps.types.find(name);
  if (type === undefined) throw problems.not_found({ message: `Unknown notification type: ${name}` });
  const user = { id: '00000000-0000-4000-8000-000000000000', email: 'reader@example.com', plan: 'free' } as const;
  const language = toContentLanguage(locale ?? '') ?? 'en';
  const { subject, html, text } = await renderFor(deps, type, { user, language }, data);
  return { subject, html, text };
}

interface Recipient {
  readonly user: MailUser;
  readonly language: ContentLanguage;
}

async function chooseRecipient(
  deps: NotifyContext,
  type: NotificationType,
  { userId, contact }: Notification,
): Promise<Recipient | { readonly skipReason: SkipReason }> {
  const { accounts } = deps;
  const fallback = toContentLanguage(contact?.locale ?? '') ?? 'en';
  const isProduct = type.audience === 'product';
  if (contact?.email) {
    // The user may be deleted already, so neither the setting nor the plan applies. A link in an earlier mail does.
    if (isProduct && (await hasUnsubscribed(deps, userId, contact.email))) return { skipReason: 'disabled_by_user' };
    return { user: { id: userId, email: contact.email, plan: null }, language: fallback };
  }
  const user = await findRecipient(accounts, userId);
  if (!user?.email) return { skipReason: 'user_not_found' };
  if (isProduct && (!user.isOpenNotification || (await hasUnsubscribed(deps, userId, user.email))))
    return { skipReason: 'disabled_by_user' };
  if (type.plans !== undefined && !type.plans.includes(user.plan)) return { skipReason: 'plan_gate' };
  return {
    user: { id: userId, email: user.email, plan: user.plan },
    language: toContentLanguage(user.language ?? '') ?? fallback,
  };
}

function hasUnsubscribed({ accounts, unsubscribeSecret }: NotifyContext, userId: string, email: string) {
  return isUnsubscribed(accounts, userId, digestAddress(unsubscribeSecret, addressOf(email) ?? email));
}

async function write(
  deps: NotifyContext,
  type: NotificationType,
  recipient: Recipient,
  data: NotifyRequest['data'],
): Promise<Mail> {
  const { subject, html, text, headers } = await renderFor(deps, type, recipient, data);
  const to = [recipient.user.email];
  return { from: deps.from, to, cc: [], bcc: [], replyTo: [], subject, html, text, headers, audience: type.audience };
}

async function renderFor(
  deps: NotifyContext,
  type: NotificationType,
  { user, language }: Recipient,
  data: NotifyRequest['data'],
) {
  const trending = type.showsTrending ? await deps.readTrending(language) : [];
  return renderMail(deps, type, { user, language, data: data ?? {}, trending });
}

function toAnswer(outcome: Outcome): NotifyAnswer {
  if ('skipReason' in outcome) return { skipped: true, reason: outcome.skipReason };
  return { delivered: [{ channel: 'email', providerId: outcome.providerId }] };
}

// Renders the mail of a notification: the content of its type in one language, with the headers that mail clients need.

interface RenderedMail extends MailContent {
  readonly headers: Readonly<Record<string, string>>;
}

export interface Rendering extends Pick<MailFacts, 'language' | 'user' | 'data'> {
  readonly trending?: readonly TrendingItem[];
  readonly now?: Date;
}

export function renderMail(deps: NotifyContext, type: NotificationType, rendering: Rendering): RenderedMail {
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
