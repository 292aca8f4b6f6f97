/** The responses of the console's server side to its pages (docs/console.md). */
import { z } from 'zod';
import { deliveryStates } from '#webhooks/deliverystore.ts';
import { webhookEventTypes } from '#webhooks/events.ts';
import { queueState, searchedText } from './jobs/api.ts';

export const signIn = z.object({ token: z.string().min(1).max(1024) });
export const identitySignIn = z.object({ accessToken: z.string().min(1).max(8192) });

/** Public information that a browser needs to show the pages. */
export const consoleInfo = z.object({
  version: z.string(),
  isOperator: z.boolean().describe('The browser has an operator session.'),
  operator: z
    .object({ name: z.string(), role: z.enum(['full', 'reader']) })
    .nullable()
    .describe('`name`: the email address, or `console` for CONSOLE_TOKEN. A `reader` has read-only access.'),
  hasOperatorAccounts: z.boolean().describe('Operators can sign in with an account at the identity provider.'),
  hasPeople: z.boolean().describe('People and incidents can be managed: an internal key is configured.'),
  addresses: z.record(z.string(), z.string()).describe('Service → its URL for browsers.'),
  pictureHosts: z.array(z.string()).describe('The hosts of cover images of home cards, as `host` or `host:port`.'),
  hasOutbox: z.boolean(),
  hasMemory: z.boolean(),
  hasWebhooks: z.boolean(),
  hasDatabase: z.boolean().describe('The Jobs page is available.'),
  hasDemoUsers: z.boolean().describe('The local identity provider runs.'),
  hasUserSession: z.boolean().describe('The browser sent the cookie of a user, which may have expired.'),
});
export type ConsoleInfo = z.output<typeof consoleInfo>;

export const firstPrices = z.object({
  image: z.int().nullable().describe('The credits of an image for new users. `null`: unknown.'),
  video: z.int().nullable().describe('The credits of a video.'),
});
export type FirstPrices = z.output<typeof firstPrices>;

const serviceState = z.object({
  service: z.string(),
  address: z.string(),
  status: z.enum(['ready', 'unready', 'unreachable']),
  engines: z.record(z.string(), z.enum(['ok', 'unavailable'])),
});
export type ServiceState = z.output<typeof serviceState>;

const delivery = z.object({
  id: z.string(),
  webhookId: z.string().describe('The `webhook-id` of every attempt.'),
  type: z.string(),
  fence: z.int().describe('It changes with each attempt. Send it with a retry of the job.'),
  state: z.enum(deliveryStates),
  attempts: z.int(),
  reason: z.string().nullable().describe('The reason of the last failed attempt.'),
  createdAt: z.iso.datetime(),
  endedAt: z.iso.datetime().nullable(),
  lastAttemptAt: z.iso.datetime().nullable().describe('The start of the last attempt.'),
  nextAttemptAt: z.iso.datetime().nullable(),
  body: z.string(),
});
export type Delivery = z.output<typeof delivery>;

export const deliveryQuery = z.object({
  status: z.enum(deliveryStates).optional(),
  type: z.enum(webhookEventTypes).optional(),
  q: searchedText.describe('A part of the id, the reason or the body, among the newest 10,000.'),
});
/** Counts stop one above `largestCount`. */
const endpointState = z.object({
  receiver: z.string(),
  queue: z.string().describe('The queue of the deliveries.'),
  largestCount: z.int(),
  failing: z.int(),
  dead: z.int(),
  waiting: z.int(),
  done: z.int().describe('Among the newest deliveries.'),
  failingSince: z.iso.datetime().nullable().describe('The time of the oldest event that fails.'),
  reason: z.string().nullable().describe('The reason of the last failed attempt.'),
  lastDoneAt: z.iso.datetime().nullable(),
});
export type EndpointState = z.output<typeof endpointState>;
export const deliveryList = endpointState.extend({
  types: z.array(z.string()).describe('All types of events.'),
  deliveries: z.array(delivery).describe('Newest first; at most 100.'),
});
export type DeliveryList = z.output<typeof deliveryList>;

export const overview = z.object({
  checkedAt: z.iso.datetime(),
  services: z.array(serviceState),
  engines: z.array(z.object({ concern: z.string(), engine: z.string(), isEmbedded: z.boolean() })),
  queues: z.array(queueState).nullable().describe('Those with unfinished or dead jobs. `null`: not known.'),
  largestCount: z.int().describe('The counts of queues stop one above this number.'),
  processes: z.array(z.object({ services: z.array(z.string()), startedAt: z.iso.datetime(), memoryBytes: z.int() })),
  webhooks: endpointState.nullable().describe('`null`: no webhooks are set.'),
});
export type Overview = z.output<typeof overview>;

export const endpointList = z.object({
  endpoints: z.array(
    z.object({
      service: z.string(),
      method: z.string(),
      path: z.string(),
      summary: z.string(),
      credential: z.enum(['accessToken', 'internalKey', 'adminToken', 'none']).describe('The first that it accepts.'),
      example: z.unknown().optional().describe('The body of a request.'),
    }),
  ),
});
export type EndpointList = z.output<typeof endpointList>;

const mailHead = z.object({
  name: z.string().describe('The name of the file in the outbox.'),
  subject: z.string(),
  from: z.string(),
  to: z.array(z.string()),
  sentAt: z.iso.datetime(),
});
export const mailList = z.object({
  mails: z.array(mailHead).describe('Newest first.'),
  total: z.int().describe('The number of emails in the outbox. The list contains at most 100.'),
});
export type MailList = z.output<typeof mailList>;

export const mail = mailHead.extend({
  text: z.string(),
  hasHtml: z.boolean(),
  attachments: z.array(z.string()),
});
export type Mail = z.output<typeof mail>;

export const mailPath = z.object({ name: z.string().regex(/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}\.eml$/) });
