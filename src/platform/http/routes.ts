/** Adds the routes of a feature: each has a URL, a guard, a schema with its texts, and a handler. */
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

type AddRoute = <const Schema extends FastifySchema & RouteTexts>(
  url: string,
  /** The guard of platform/access, with further options if the route needs them. */
  options: Omit<RouteShorthandOptions, 'schema'>,
  schema: Schema,
  handler: Handler<Schema>,
) => void;

export type Routes = Readonly<Record<'get' | 'head' | 'post' | 'put' | 'patch' | 'delete', AddRoute>>;

type AnyHandler = (request: FastifyRequest, reply: FastifyReply) => unknown;

/** `tag`: the section of the API reference that lists the routes. A route whose only response is 204 sends nothing of its handler. */
export function routesOf(app: HttpServer, tag: string): Routes {
  const add =
    (method: string): AddRoute =>
    (url, options, schema, handler) => {
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
    delete: (url, options, schema, handler) => {
      const preValidation = [schema.body === undefined ? refuseFields : [], options.preValidation ?? []].flat();
      add('DELETE')(url, { ...options, preValidation }, schema, handler);
    },
  };
}

function withoutBody(handler: AnyHandler): AnyHandler {
  return async (request, reply) => {
    await handler(request, reply);
    return reply.code(204).send();
  };
}
