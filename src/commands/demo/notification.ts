import { StartFault } from '#platform/lifecycle.ts';
import { type Answer, post, tell } from './calls.ts';

interface Recipient {
  readonly userId: string;
  readonly email: string;
}

/** Notifies the user, and tells where the mail lies when it lies here: `outbox` is the folder, if there is one. */
export async function notifyUser(
  notify: string,
  internalKey: string,
  { userId, email }: Recipient,
  outbox: string | undefined,
): Promise<void> {
  const answer = await post(
    `${notify}/notify`,
    { internalKey },
    { type: 'daily_digest', userId, contact: { email, locale: 'en' } },
  );
  const [delivery] = (answer.delivered ?? []) as readonly Answer[];
  if (delivery === undefined) throw new StartFault(`${notify}/notify delivered nothing: ${JSON.stringify(answer)}`);
  tell('Notify', `daily_digest to ${email}`, outbox === undefined ? undefined : `${outbox}/${delivery.providerId}.eml`);
}
