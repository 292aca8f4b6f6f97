/** Adds the routes of a feature: each has a URL, a guard, its texts and schemas, and a handler. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type {
  ContextConfigDefault,
  FastifyBaseLogger,
  FastifyReply,
  FastifyRequest,
  FastifySchema,
  RawServerDefault,
  RouteGenericInterface,
  RouteHandlerMethod,
  RouteShorthandOptions,
} from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { RouteTexts } from './apireference.ts';
import { refuseFields } from './bodies.ts';
import type { HttpServer } from './httpserver.ts';

type Handler<Schema extends FastifySchema> = RouteHandlerMethod<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  RouteGenericInterface,
  ContextConfigDefault,
  Schema,
  ZodTypeProvider,
  FastifyBaseLogger
>;

interface Parts<Params, Query, Headers, Body, Response> {
  readonly params?: Params;
  readonly querystring?: Query;
  readonly headers?: Headers;
  readonly body?: Body;
  /** The schemas of the responses by status. */
  readonly response?: Response;
}

type AddRoute = <Params, Query, Headers, Body, Response>(
  url: string,
  /** The guard of platform/access, with further options if the route needs them. */
  options: Omit<RouteShorthandOptions, 'schema'>,
  route: RouteTexts &
    Parts<Params, Query, Headers, Body, Response> & {
      readonly handler: Handler<Required<Parts<Params, Query, Headers, Body, Response>>>;
    },
) => void;

export type Routes = Readonly<Record<'get' | 'head' | 'post' | 'put' | 'patch' | 'delete', AddRoute>>;

/** In place of a guard, for routes that need no credential. */
export const unguarded = {};

type AnyHandler = (request: FastifyRequest, reply: FastifyReply) => unknown;

/** `tag`: the section of the API reference that lists the routes. A route whose only response is 204 sends nothing of its handler. */
export function routesOf(app: HttpServer, tag: string): Routes {
  const add =
    (method: string): AddRoute =>
    (url, options, { handler, ...schema }) => {
      const isEmpty = Object.keys({ ...(schema.response as object), ...schema.otherResponses }).join() === '204';
      const answering = isEmpty ? withoutBody(handler as AnyHandler) : handler;
      // AddRoute has checked the handler against the schema.
      app.route({ method, url, ...options, schema: { tags: [tag], ...schema }, handler: answering } as never);
    };
  return {
    get: add('GET'),
    head: add('HEAD'),
    post: add('POST'),
    put: add('PUT'),
    patch: add('PATCH'),
    delete: (url, options, route) => {
      const preValidation = [route.body === undefined ? refuseFields : [], options.preValidation ?? []].flat();
      add('DELETE')(url, { ...options, preValidation }, route);
    },
  };
}

function withoutBody(handler: AnyHandler): AnyHandler {
  return async (request, reply) => {
    await handler(request, reply);
    return reply.code(204).send();
  };
}
