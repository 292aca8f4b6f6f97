/**
 * `POST /webhooks/resend`: verifies the mail provider's events and forwards them to notify, which has no public
 * endpoint.
 */
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { HttpClient } from '#platform/http/client.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { invalid, problems } from '#platform/problem.ts';
import { toStorableLine } from '#platform/storable.ts';
import { contentProblems } from './problems.ts';
import { isSigned } from './webhooksignature.ts';

export interface MailWebhookDeps {
  readonly notify: HttpClient;
  /** RESEND_WEBHOOK_SECRET. Without it, every signature is rejected. */
  readonly webhookSecret: string | undefined;
}

const maxBodyBytes = 256 * 1024;
const maxReasonLength = 2000;
/** Of an email or a recipient. */
const maxIdLength = 512;
const maxNameLength = 64;
const maxRecipients = 50;

const addresses = z.union([z.string().transform((one) => [one]), z.array(z.string())]);
const message = z.object({
  type: z.string().max(maxNameLength),
  data: z
    .object({
      email_id: z.string().max(maxIdLength).nullish(),
      to: addresses.nullish(),
      bounce: z.object({ type: z.string().max(maxNameLength).nullish(), message: z.string().nullish() }).nullish(),
      failed: z.object({ reason: z.string().nullish() }).nullish(),
    })
    .nullish(),
});

export function addMailWebhook(app: HttpServer, deps: MailWebhookDeps): void {
  app.register(async (webhooks) => {
    // The signature covers the exact bytes.
    webhooks.removeAllContentTypeParsers();
    webhooks.addContentTypeParser('*', { bodyLimit: maxBodyBytes, parseAs: 'buffer' }, (_request, body, done) =>
      done(null, body),
    );
    webhooks.post(
      '/webhooks/resend',
      {
        schema: {
          id: 'receiveMailEvent',
          summary: 'Receive an event of the mail provider',
          description: 'Receives events of the mail provider. The headers must have a valid signature by Svix.',
          problems: ['invalid_signature', 'payload_too_large'],
          client: { repeatable: true },
          tags: ['content'],
          response: { 204: z.null() },
        },
      },
      async (request, reply) => {
        const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
        const id = headerOf(request, 'svix-id');
        const signed = {
          id,
          timestamp: headerOf(request, 'svix-timestamp'),
          signature: headerOf(request, 'svix-signature'),
        };
        if (deps.webhookSecret === undefined || !isSigned(deps.webhookSecret, { ...signed, body }))
          throw contentProblems.invalid_signature();
        await handOn(deps.notify, id, parse(body));
        return reply.code(204).send(null);
      },
    );
  });
}

const headerOf = ({ headers }: FastifyRequest, name: string) => String(headers[name] ?? '');

function parse(body: Buffer): z.output<typeof message> {
  try {
    return message.parse(JSON.parse(body.toString('utf8')));
  } catch {
    throw invalid('body', 'must be a message of the mail provider');
  }
}

/**
 * Without a successful response, the provider sends the event again, for days. Notify rejects values that a database cannot
 * store, so none is sent.
 */
async function handOn(notify: HttpClient, id: string, { type, data }: z.output<typeof message>): Promise<void> {
  // Other events are about domains and contacts.
  if (!data?.email_id) return;
  const { status } = await notify.send({
    method: 'POST',
    route: '/emails/events',
    json: {
      id: id.slice(0, 256),
      type: toStorableLine(type, maxNameLength),
      email_id: toStorableLine(data.email_id, maxIdLength),
      to: (data.to ?? []).slice(0, maxRecipients).map((text) => toStorableLine(text, maxIdLength)),
      bounce_type: toStorableLine(data.bounce?.type ?? '', maxNameLength),
      reason: toStorableLine(data.bounce?.message ?? data.failed?.reason ?? '', maxReasonLength),
    },
    // Notify processes an event once.
    idempotent: true,
  });
  if (status !== 204) throw problems.engine_unavailable({ cause: new Error(`notify returned ${status}`) });
}
