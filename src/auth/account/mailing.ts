/** Emails about the account itself. */
import { bodyOf, type HttpClient } from '#platform/http/client.ts';
import type { Log } from '#platform/log.ts';
import { Problem } from '#platform/problem.ts';

export interface AccountMail {
  readonly type: string;
  /** A repeated mail with the same key is not sent again. */
  readonly key: string;
  readonly userId: string;
  /** `null`: no mail is sent. */
  readonly email: string | null;
  readonly language: string | null;
  readonly data: Readonly<Record<string, string>>;
}

/** A mail that the service refuses is logged. Throws if the service does not respond. */
export async function sendMail(
  { clients: { notify }, log }: { readonly clients: { readonly notify: HttpClient }; readonly log: Log },
  { type, key, userId, email, language, data }: AccountMail,
): Promise<void> {
  if (email === null) return;
  try {
    bodyOf(
      await notify.send({
        method: 'POST',
        route: '/notify',
        json: { type, userId, data, contact: { email, ...(language !== null && { locale: language }) } },
        headers: { 'idempotency-key': key },
        idempotent: true,
      }),
    );
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500 || error.status === 429 || error.status === 409) throw error;
    log.warn({ err: error, type }, 'an email about an account was refused');
  }
}
