/**
 * Mails that jobs send. Most are jobs themselves, which the transaction of the change that they report writes. Each mail is sent once,
 * because the notify service knows its key.
 */
import { z } from 'zod';
import type { HttpClient } from '#platform/http/client.ts';
import type { Job, Queue } from '#platform/jobs/jobs.ts';
import { parseJson } from '#platform/json.ts';
import type { Log } from '#platform/log.ts';

const payload = z.object({
  key: z.string(),
  type: z.string(),
  userId: z.string(),
  /** `null`: the notify service looks up the user. */
  contact: z.object({ email: z.string(), locale: z.string().optional() }).nullable(),
  data: z.record(z.string(), z.unknown()),
});
export type QueuedMail = z.output<typeof payload>;

/** Retries for about two days. */
export const mailQueueOf = (name: string): Queue<QueuedMail> => ({
  name,
  payload,
  maxAttempts: 60,
  longestRetryMs: 3_600_000,
});

/** Throws until the notify service has accepted the mail. */
export async function sendMail(
  { notify, log }: { readonly notify: Pick<HttpClient, 'send'>; readonly log: Log },
  { payload: { key, type, userId, contact, data }, signal }: Pick<Job<QueuedMail>, 'payload' | 'signal'>,
): Promise<void> {
  const { status, body } = await notify.send({
    method: 'POST',
    route: '/notify',
    json: { type, userId, data, ...(contact !== null && { contact }) },
    headers: { 'idempotency-key': key },
    idempotent: true,
    signal,
  });
  if (status === 200) return;
  // The address is not one, or is suppressed: another attempt would not change that.
  if (status === 400 || status === 422) return log.warn({ type, status }, 'an email was refused');
  // The email has the answer of the mail server.
  const { id } = Object(parseJson(body));
  const { events = [] } =
    typeof id === 'string'
      ? Object(parseJson((await notify.send({ method: 'GET', route: '/emails/:id', params: { id }, signal })).body))
      : {};
  const { reason } = Object(events.at(-1));
  throw new Error(`the notify service returned ${status}${typeof reason === 'string' ? `: ${reason}` : ''}`);
}
