/** `POST /notify` (docs/specification/notify.md#notify): whom a notification goes to, whether it may, and in which language. */
import { type AccountTables, findRecipient } from '#accounts/store.ts';
import type { Db } from '#platform/db/db.ts';
import { type ContentLanguage, toContentLanguage } from '#platform/language.ts';
import type { NotifyAnswer, NotifyRequest, SkipReason } from './api.ts';
import type { Mail } from './mail.ts';
import { notifyProblems } from './problems.ts';
import { type RenderingDeps, renderMail } from './rendering.ts';
import { type Outcome, type SendingDeps, sendOnce } from './sending.ts';
import type { NotificationType } from './types/notification.ts';
import { findType } from './types/registry.ts';

export interface NotifyingDeps extends SendingDeps, RenderingDeps {
  readonly accounts: Db<AccountTables>;
  /** NOTIFY_FROM. */
  readonly from: string;
}

export interface Notification {
  readonly type: string;
  readonly userId: string;
  readonly contact?: NotifyRequest['contact'];
}

export async function notify(
  deps: NotifyingDeps,
  notification: Notification,
  { key, body }: { readonly key: string | undefined; readonly body: unknown },
): Promise<NotifyAnswer> {
  const type = findType(notification.type);
  if (type === undefined)
    throw notifyProblems.unknown_notification_type({ message: `Unknown notification type: ${notification.type}` });
  const prepare = async () => {
    const recipient = await chooseRecipient(deps, type, notification);
    return 'skipReason' in recipient ? recipient : { mail: write(deps, type, notification.userId, recipient) };
  };
  return told(await sendOnce(deps, { endpoint: 'notify', key, body, prepare }));
}

interface Recipient {
  readonly email: string;
  readonly language: ContentLanguage;
}

async function chooseRecipient(
  { accounts }: NotifyingDeps,
  { gates }: NotificationType,
  { userId, contact }: Notification,
): Promise<Recipient | { readonly skipReason: SkipReason }> {
  const fallback = toContentLanguage(contact?.locale ?? '') ?? 'en';
  // The user may be gone already; so are the preference and the plan, and the gates that ask for them.
  if (contact?.email) return { email: contact.email, language: fallback };
  const user = await findRecipient(accounts, userId);
  if (!user?.email) return { skipReason: 'user_not_found' };
  if (gates.preference && !user.isOpenNotification) return { skipReason: 'disabled_by_user' };
  if (gates.plan !== undefined && user.plan !== gates.plan) return { skipReason: 'plan_gate' };
  return { email: user.email, language: toContentLanguage(user.language ?? '') ?? fallback };
}

function write(deps: NotifyingDeps, type: NotificationType, userId: string, { email, language }: Recipient): Mail {
  const { subject, html, text, headers } = renderMail(deps, type, { userId, language });
  return { from: deps.from, to: [email], cc: [], bcc: [], replyTo: [], subject, html, text, headers };
}

function told(outcome: Outcome): NotifyAnswer {
  if ('skipReason' in outcome) return { skipped: true, reason: outcome.skipReason };
  return { delivered: [{ channel: 'email', providerId: outcome.providerId }] };
}
