/**
 * `POST /notify` (docs/specification/notify.md#notify): decides the recipient and the language, and whether to send.
 */
import { type AccountTables, findRecipient, isUnsubscribed } from '#accounts/store.ts';
import { digestAddress } from '#accounts/unsubscribing.ts';
import type { Db } from '#platform/db/db.ts';
import { isUuid } from '#platform/ids.ts';
import { type ContentLanguage, toContentLanguage } from '#platform/language.ts';
import { invalid, problems } from '#platform/problem.ts';
import type { NotifyAnswer, NotifyRequest, SkipReason } from './api.ts';
import { addressOf, type Mail } from './mail.ts';
import { notifyProblems } from './problems.ts';
import { type RenderingDeps, renderMail } from './rendering.ts';
import { type Outcome, type SendingDeps, sendOnce } from './sending.ts';
import type { ReadTrending } from './trending.ts';
import type { MailContent, MailUser, NotificationType } from './types/notification.ts';
import type { TypeRegistry } from './types/registry.ts';

export interface TypeDeps extends RenderingDeps {
  readonly types: TypeRegistry;
  readonly readTrending: ReadTrending;
}

export interface NotifyingDeps extends SendingDeps, TypeDeps {
  readonly accounts: Db<AccountTables>;
  /** NOTIFY_FROM. */
  readonly from: string;
}

export interface Notification {
  readonly type: string;
  readonly userId: string;
  readonly data?: NotifyRequest['data'];
  readonly contact?: NotifyRequest['contact'];
}

export async function notify(
  deps: NotifyingDeps,
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
  deps: TypeDeps,
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
  deps: NotifyingDeps,
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

function hasUnsubscribed({ accounts, unsubscribeSecret }: NotifyingDeps, userId: string, email: string) {
  return isUnsubscribed(accounts, userId, digestAddress(unsubscribeSecret, addressOf(email) ?? email));
}

async function write(
  deps: NotifyingDeps,
  type: NotificationType,
  recipient: Recipient,
  data: NotifyRequest['data'],
): Promise<Mail> {
  const { subject, html, text, headers } = await renderFor(deps, type, recipient, data);
  const to = [recipient.user.email];
  return { from: deps.from, to, cc: [], bcc: [], replyTo: [], subject, html, text, headers, audience: type.audience };
}

async function renderFor(
  deps: TypeDeps,
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
