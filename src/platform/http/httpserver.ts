/** What a service's HTTP server is, and what it is told; made by server.ts. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest, RawServerDefault } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Registry } from 'prom-client';
import type { Caller } from '../access/caller.ts';
import type { Log } from '../log.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { OriginMatcher } from './origins.ts';
import type { Transfer, Transfers } from './transfers.ts';

export type HttpServer = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypeProvider
>;

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the guard of the route (platform/access); on a route without a guard there is none. */
    caller: Caller;
  }
  interface FastifyReply {
    /** Fires when the client goes away before it has its answer: for whoever does long work for it. */
    readonly abandoned: AbortSignal;
    /** Counts towards `maxInFlight`; kept by admission.ts. */
    holdsPlace: boolean;
    /** Is watched by `transfer`. */
    isTransfer: boolean;
    /**
     * The rest of this request moves at the pace of its client: it no longer counts as in flight, and ends when it is too
     * slow. Throws `overloaded`.
     */
    transfer(transfer: Transfer): void;
  }
  interface FastifyInstance {
    /** What `GET /metrics` shows; services add their own. */
    metrics: Registry;
    transfers: Transfers;
    /** Refuses new requests and resolves when the last one in flight is answered. `close` begins with it. */
    drain(): Promise<void>;
  }
}

/** Engine name → a check that throws when it does not answer. */
export type Readiness = Readonly<Record<string, () => Promise<void>>>;

export interface CorsRule {
  readonly origins: OriginMatcher | '*';
  readonly methods: readonly string[];
  readonly allowedHeaders: readonly string[];
  readonly exposedHeaders: readonly string[];
  /** Cookies are sent and kept; never together with `*`. */
  readonly credentials?: boolean;
}

/** What is the same for all services of a process, but for the service's name in the log. */
export interface ServerCommons {
  readonly log: Log;
  readonly telemetry?: Telemetry;
  /** Requests answered at once (MAX_IN_FLIGHT); more are refused with 503 `overloaded`. */
  readonly maxInFlight?: number;
  /** Uploads, downloads and large answers at once (MAX_TRANSFERS). */
  readonly maxTransfers?: number;
  /** The time over which the speed of a transfer is judged; 30 s. */
  readonly transferWindowMs?: number;
  /** `false`: the process may not act as the service now; requests are 503 until it may again. */
  readonly mayServe?: () => boolean;
  /** For how long `close` waits for what is in flight. */
  readonly drainTimeoutMs?: number;
  /** Calls for runs in flight go on while the service drains (docs/specification/http.md#draining). */
  readonly servedWhileDraining?: (request: FastifyRequest) => boolean;
}

export interface ServerOptions extends ServerCommons {
  /** As `GET /` and `GET /health` report it (docs/specification/http.md#service-endpoints). */
  readonly service: string;
  /** For `GET /ready`. */
  readonly readiness: Readiness;
  /** Bytes; 1 MiB unless the service says otherwise. */
  readonly bodyLimit?: number;
  /** A whole request, its body included, has to arrive within this; 20 s. */
  readonly requestTimeoutMs?: number;
  /** The image service's health is the plain text `ok`. */
  readonly plainHealth?: boolean;
  /** The service shows pages: `GET /` is its own to answer. */
  readonly answersRoot?: boolean;
  /** Without it no browser of another origin may call. */
  readonly cors?: CorsRule;
  /** Routes whose answers last, such as streams: they count neither as in flight nor against `maxInFlight`. */
  readonly standing?: (route: string | undefined) => boolean;
  /** What the service does by itself is wound down, once, as soon as it drains; requests in flight are awaited after it. */
  readonly onDrain?: () => Promise<void>;
  /** One sentence at the head of the reference page. */
  readonly description?: string;
}
