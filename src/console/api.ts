/** Requests and responses of the console's server side to its pages (docs/console.md). */
import { z } from 'zod';
import type { ServerError } from '#platform/http/servererrors.ts';
import { type DeliveryCounts, type DeliveryState, deliveryStates } from '#webhooks/deliverystore.ts';
import { webhookEventTypes } from '#webhooks/events.ts';
import { type ShownQueue, searchedText } from './jobs/api.ts';
import type { Role } from './operators/roles.ts';

export const signIn = z.object({ token: z.string().min(1).max(1024) });
export const identitySignIn = z.object({ accessToken: z.string().min(1).max(8192) });

/** Public information that a browser needs to show the pages. */
export interface ConsoleInfo {
  readonly version: string;
  /** The browser has an operator session. */
  readonly isOperator: boolean;
  /** `name`: the email address, or `console` for CONSOLE_TOKEN. A `reader` has read-only access. */
  readonly operator: { readonly name: string; readonly role: Role } | null;
  /** Operators can sign in with an account at the identity provider. */
  readonly hasOperatorAccounts: boolean;
  /** People and incidents can be managed: an internal key is configured. */
  readonly hasPeople: boolean;
  /** Service → its URL for browsers. */
  readonly addresses: Readonly<Record<string, string>>;
  /** The hosts of cover images of home cards, as `host` or `host:port`. */
  readonly pictureHosts: readonly string[];
  readonly hasOutbox: boolean;
  readonly hasMemory: boolean;
  readonly hasWebhooks: boolean;
  /** The Jobs page is available. */
  readonly hasDatabase: boolean;
  /** The local identity provider runs. */
  readonly hasDemoUsers: boolean;
  /** The browser sent the cookie of a user, which may have expired. */
  readonly hasUserSession: boolean;
}

/** The credits of an image and of a video for new users. `null`: unknown. */
export type FirstPrices = Readonly<Record<'image' | 'video', number | null>>;

export interface ServiceState {
  readonly service: string;
  readonly address: string;
  readonly status: 'ready' | 'unready' | 'unreachable';
  readonly engines: Readonly<Record<string, 'ok' | 'unavailable'>>;
}

/** Times are ISO 8601, here and below. */
export interface Delivery {
  readonly id: string;
  /** The `webhook-id` of every attempt. */
  readonly webhookId: string;
  readonly type: string;
  /** It changes with each attempt. Send it with a retry of the job. */
  readonly fence: number;
  readonly state: DeliveryState;
  readonly attempts: number;
  /** The reason of the last failed attempt. */
  readonly reason: string | null;
  readonly createdAt: string;
  readonly endedAt: string | null;
  /** The start of the last attempt. */
  readonly lastAttemptAt: string | null;
  readonly nextAttemptAt: string | null;
  readonly body: string;
}

export const deliveryQuery = z.object({
  status: z.enum(deliveryStates).optional(),
  type: z.enum(webhookEventTypes).optional(),
  q: searchedText.describe('A part of the id, the reason or the body, among the newest 10,000.'),
});

/** Counts stop one above `largestCount`. */
export interface EndpointState extends Omit<DeliveryCounts, 'failingSince' | 'lastDoneAt'> {
  readonly receiver: string;
  /** The queue of the deliveries. */
  readonly queue: string;
  readonly largestCount: number;
  readonly failingSince: string | null;
  readonly lastDoneAt: string | null;
}

export interface DeliveryList extends EndpointState {
  /** All types of events. */
  readonly types: readonly string[];
  /** Newest first; at most 100. */
  readonly deliveries: readonly Delivery[];
}

export interface Overview {
  readonly checkedAt: string;
  readonly services: readonly ServiceState[];
  readonly engines: readonly { readonly concern: string; readonly engine: string; readonly isEmbedded: boolean }[];
  /** Those with unfinished or dead jobs. `null`: not known. */
  readonly queues: readonly ShownQueue[] | null;
  /** The counts of queues stop one above this number. */
  readonly largestCount: number;
  readonly processes: readonly {
    readonly services: readonly string[];
    readonly startedAt: string;
    readonly memoryBytes: number;
  }[];
  /** `null`: no webhooks are set. */
  readonly webhooks: EndpointState | null;
}

/** One value for each minute. `null`: not measured. */
type Series = readonly (number | null)[];

/** The last hour of the services. */
export interface History {
  /** The start of each minute, oldest first, as ISO 8601. */
  readonly startsAt: readonly string[];
  readonly services: readonly ServiceSeries[];
  readonly runs: {
    readonly endedPerMinute: Series;
    readonly failedPerMinute: Series;
    readonly inputTokensPerMinute: Series;
    readonly outputTokensPerMinute: Series;
    /** From the start of a turn to the first token of its model. */
    readonly firstTokenP50Ms: Series;
    readonly firstTokenP95Ms: Series;
  };
}

interface ServiceSeries {
  readonly service: string;
  /** Requests. */
  readonly perMinute: Series;
  /** Responses with a 5xx status. */
  readonly errorsPerMinute: Series;
  /** The median response time, without streams. */
  readonly p50Ms: Series;
  readonly p95Ms: Series;
}

/** The last errors of the services. */
export interface ErrorList {
  /** The newest first; at most 50. */
  readonly errors: readonly (Omit<ServerError, 'traceId'> & {
    readonly service: string;
    readonly traceUrl: string | null;
  })[];
  /** Services that do not respond. Their errors are unknown. */
  readonly unread: readonly string[];
}

export interface Endpoint {
  readonly service: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  /** The first that it accepts. */
  readonly credential: 'accessToken' | 'internalKey' | 'adminToken' | 'none';
  /** The body of a request. */
  readonly example?: unknown;
}
export interface EndpointList {
  readonly endpoints: readonly Endpoint[];
}

interface MailHead {
  /** The name of the file in the outbox. */
  readonly name: string;
  readonly subject: string;
  readonly from: string;
  readonly to: readonly string[];
  readonly sentAt: string;
}

export interface MailList {
  /** Newest first; at most 100. */
  readonly mails: readonly MailHead[];
  /** The number of emails in the outbox. */
  readonly total: number;
}

export interface Mail extends MailHead {
  readonly text: string;
  readonly hasHtml: boolean;
  readonly attachments: readonly string[];
}

export const mailPath = z.object({ name: z.string().regex(/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}\.eml$/) });
