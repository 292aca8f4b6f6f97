import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Access } from '#platform/access/access.ts';
import { idempotencyHeaders } from '#platform/http/idempotency.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { invalid, type Problem, problems } from '#platform/problem.ts';
import { findUnstorable } from '#platform/storable.ts';
import {
  type NotifyRequest,
  notifyAnswer,
  notifyRequest,
  preview,
  previewRequest,
  suppressedAddress,
  suppressionListing,
  suppressionPage,
  typeList,
  typeName,
} from './api.ts';
import { providerEvent } from './emailapi.ts';
import { addEmailRoutes, keyOf } from './emailroutes.ts';
import { type Notification, type NotifyingDeps, notify, previewType } from './notifying.ts';
import { notifyProblems } from './problems.ts';
import { takeProviderEvent } from './providerevents.ts';
import { lift, listPage } from './suppressions.ts';

export interface RouteDeps extends NotifyingDeps {
  /** Whether INTERNAL_KEY is set. Without it, every response is 500 (docs/specification/notify.md#notify-endpoints). */
  readonly isKeyConfigured: boolean;
}

export function addRoutes(app: HttpServer, access: Access, deps: RouteDeps): void {
  const routes = routesOf(app, 'notify');
  const configured = refuseUnconfigured(deps.isKeyConfigured);
  const guard = {
    ...access.internalOnly,
    onRequest: [configured, access.internalOnly.onRequest],
    preValidation: refuseUnstorable,
  };
  // The provider's library sends its key as a bearer token, and reads `name` and `statusCode` of an error.
  const providerGuard = {
    ...access.internalOrBearer,
    onRequest: [configured, access.internalOrBearer.onRequest],
    preValidation: refuseUnstorable,
    config: {
      ...access.internalOrBearer.config,
      errorFields: ({ code, status }: Problem) => ({ name: code, statusCode: status }),
    },
  };

  routes.post(
    '/notify',
    guard,
    {
      summary: 'Send a notification to a user',
      headers: idempotencyHeaders,
      body: notifyRequest,
      response: { 200: notifyAnswer },
    },
    async (request) => notify(deps, named(request.body), { key: keyOf(request), body: request.body }),
  );

  addEmailRoutes(app, providerGuard, deps);

  routes.post(
    '/emails/events',
    guard,
    { summary: 'Record a verified event of the mail provider', body: providerEvent, response: { 204: z.null() } },
    async (request, reply) => {
      await takeProviderEvent(deps, request.body);
      return reply.code(204).send(null);
    },
  );

  routes.get(
    '/types',
    guard,
    { summary: 'List the types of notifications', response: { 200: typeList } },
    async () => ({
      types: deps.types.list().map(({ name, audience, locales }) => ({ type: name, audience, locales: [...locales] })),
    }),
  );

  routes.post(
    '/types/:type/preview',
    guard,
    {
      summary: 'Render a notification without sending it',
      params: typeName,
      body: previewRequest,
      response: { 200: preview },
    },
    async (request) => previewType(deps, request.params.type, request.body),
  );

  routes.get(
    '/suppressions',
    guard,
    { summary: 'List suppressed addresses', querystring: suppressionListing, response: { 200: suppressionPage } },
    async (request) => listPage(deps, request.query),
  );

  routes.delete(
    '/suppressions/:address',
    guard,
    { summary: 'Remove an address from the suppression list', params: suppressedAddress, response: { 204: z.null() } },
    async (request, reply) => {
      await lift(deps, request.params.address);
      return reply.code(204).send(null);
    },
  );
}

function refuseUnconfigured(isConfigured: boolean) {
  return async () => {
    if (!isConfigured) throw notifyProblems.internal_key_not_configured();
  };
}

/** A path contains the names of the caller's fields. */
const maxPathLength = 200;

/** Checked before the schema, which reports errors by field and ignores unknown fields. */
async function refuseUnstorable(request: FastifyRequest): Promise<void> {
  const found = findUnstorable(request.body, 'body');
  if (found !== undefined) throw invalid(found.path.slice(0, maxPathLength), found.message);
}

/** The message is fixed (docs/specification/notify.md#notify). */
function named({ type, userId, data, contact }: NotifyRequest): Notification {
  if (!type || !userId) {
    const missing = [...(type ? [] : ['body.type']), ...(userId ? [] : ['body.userId'])];
    const issues = missing.map((path) => ({ path, message: 'is required' }));
    throw problems.invalid_request({ message: 'type and userId are required', issues });
  }
  return { type, userId: userId.toLowerCase(), data, contact };
}
