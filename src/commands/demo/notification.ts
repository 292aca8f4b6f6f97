import { StartFault } from '#platform/lifecycle.ts';
import { type JsonObject, post, printStep } from './calls.ts';

interface Recipient {
  readonly userId: string;
  readonly email: string;
}

/** Notifies the user and prints where the mail is. `outbox` is the local folder, if there is one. */
export async function notifyUser(
  notify: string,
  internalKey: string,
  { userId, email }: Recipient,
  outbox: string | undefined,
): Promise<void> {
  const response = await post(
    `${notify}/notify`,
    { internalKey },
    { type: 'daily_digest', userId, contact: { email, locale: 'en' } },
  );
  const [delivery] = (response.delivered ?? []) as readonly JsonObject[];
  if (delivery === undefined)
    throw new StartFault(`${notify}/notify delivered no notification: ${JSON.stringify(response)}`);
  printStep(
    'Notify',
    `daily_digest to ${email}`,
    outbox === undefined ? undefined : `${outbox}/${delivery.providerId}.eml`,
  );
}
