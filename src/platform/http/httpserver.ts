/** The HTTP server of a service and its options. server.ts creates it. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Registry } from '@prometheus-io/client';
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest, RawServerDefault } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Caller } from '../access/caller.ts';
import type { Log } from '../log.ts';
import type { Telemetry } from '../telemetry/trace.ts';
import type { ApiReference } from './apireference.ts';
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
    /** Set by the guard of the route (platform/access), and unset on a route without a guard. */
    caller: Caller;
    /** The guard lets in requests without a credential, and this has none. Then there is no `caller`. */
    isAnonymous: boolean;
    /** The pattern of the route, and `undefined` for unknown ones. `routeOptions` creates an object at each access. */
    route: string | undefined;
  }
  interface FastifyReply {
    /** Aborts when the client disconnects before the response. Pass it to long work for the request. */
    readonly abandoned: AbortSignal;
    /** The request counts toward `maxInFlight`. Set by admission.ts. */
    holdsPlace: boolean;
    /** Runs when the response is complete or its connection is closed. Set by admission.ts. */
    onClose: ((reply: FastifyReply) => void) | undefined;
    /** The work is done, and the rest of the response is long-lived. It no longer counts as in flight. */
    leavePlace(): void;
    /** `transfer` watches the request. */
    isTransfer: boolean;
    /**
     * The rest of this request moves at the pace of its client. It no longer counts as in flight, and is ended if it is too slow.
     * Throws `overloaded`.
     */
    transfer(transfer: Transfer): void;
  }
  interface FastifyInstance {
    /** The metrics of `GET /metrics`. Services add their own. */
    metrics: Registry;
    transfers: Transfers;
    /** Rejects new requests and resolves when the last one in flight has its response. `close` begins with it. */
    drain(): Promise<void>;
  }
}

/** Maps an engine name to a check that throws if the engine does not respond. */
export type Readiness = Readonly<Record<string, () => Promise<void>>>;

export type OriginMatcher = (origin: string | undefined) => boolean;

export interface CorsRule {
  readonly origins: OriginMatcher | '*';
  /** The setting that lists the origins, for the log. */
  readonly setting?: string;
  readonly methods: readonly string[];
  readonly allowedHeaders: readonly string[];
  readonly exposedHeaders: readonly string[];
  /** Allows cookies. Cannot be combined with `*`. */
  readonly credentials?: boolean;
}

/** Options that all services of a process share, except for the service name in the log. */
export interface ServerCommons {
  readonly log: Log;
  readonly telemetry?: Telemetry;
  /** Maximum number of concurrent requests (MAX_IN_FLIGHT). Further requests get 503 `overloaded`. */
  readonly maxInFlight?: number;
  /** Maximum number of concurrent uploads, downloads and large responses (MAX_TRANSFERS). */
  readonly maxTransfers?: number;
  /** The period over which the speed of a transfer is measured. Default: 30 s. */
  readonly transferWindowMs?: number;
  /** If it returns `false`, the process may not act as the service, and requests get 503 until it may again. */
  readonly mayServe?: () => boolean;
  /** Other services of the process do not listen yet, so its `/health` returns 503. Requests are served. */
  readonly isStarting?: () => boolean;
  /** How long `close` waits for requests in flight. */
  readonly drainTimeoutMs?: number;
  /** Calls for runs in progress are still served while the service drains (docs/specification/http.md#draining). */
  readonly servedWhileDraining?: (request: FastifyRequest) => boolean;
}

export interface ServerOptions extends ServerCommons {
  /** The service name that `GET /` and `GET /health` report (docs/specification/http.md#service-endpoints). */
  readonly service: string;
  /** The checks of `GET /ready`. */
  readonly readiness: Readiness;
  /** Limit in bytes. Default: 1 MiB. */
  readonly bodyLimit?: number;
  /** A whole request, including its body, must arrive within this time. Default: 20 s. */
  readonly requestTimeoutMs?: number;
  /** The image service's health response is the plain text `ok`. */
  readonly plainHealth?: boolean;
  /** The service serves pages and defines `GET /` itself. */
  readonly servesRoot?: boolean;
  /** If absent, no browser of another origin may call. */
  readonly cors?: CorsRule;
  /** Routes with long-lived responses, such as streams. They count neither as in flight nor toward `maxInFlight`. */
  readonly isLongLived?: (route: string | undefined) => boolean;
  /** Called once when draining starts, to stop background work. Requests in flight are awaited after it. */
  readonly onDrain?: () => Promise<void>;
  /** The texts of the reference page and of the OpenAPI document. */
  readonly reference?: ApiReference;
}
