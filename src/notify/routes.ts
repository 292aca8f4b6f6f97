import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Access } from '#platform/access/access.ts';
import { transaction } from '#platform/db/db.ts';
import { idempotencyHeaders } from '#platform/http/idempotency.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { invalid, type Problem, problems } from '#platform/problem.ts';
import { findUnstorable, toStorableLine } from '#platform/storable.ts';
import * as api from './api.ts';
import type { NotifyContext } from './context.ts';
import { type EmailEvent, type EventType, emailEvent } from './emailapi.ts';
import { addEmailRoutes, keyOf } from './emailroutes.ts';
import { addForeignEvent } from './eventstore.ts';
import { addressOf } from './mail.ts';
import { type Notification, notify, previewType } from './notifying.ts';
import { notifyProblems } from './problems.ts';
import { lift, listPage, suppress } from './suppressionstore.ts';

const userId = '5b1c1f0e-8a4d-4f0f-8f57-0f4c0b9b8a21';
const sending = ['idempotency_conflict', 'email_failed', 'send_in_progress'] as const;

export function addRoutes(app: HttpServer, access: Access, deps: NotifyContext): void {
  const routes = routesOf(app, 'notify');
  const configured = refuseUnconfigured(deps.isKeyConfigured);
  const codes = ['internal_key_not_configured'];
  const guard = {
    ...access.internalOnly,
    onRequest: [configured, access.internalOnly.onRequest],
    preValidation: refuseUnstorable,
    config: { ...access.internalOnly.config, problems: codes },
  };
  // The provider's library sends its key as a bearer token, and reads `name` and `statusCode` of an error.
  const providerGuard = {
    ...access.internalOrBearer,
    onRequest: [configured, access.internalOrBearer.onRequest],
    preValidation: refuseUnstorable,
    config: {
      ...access.internalOrBearer.config,
      problems: codes,
      errorFields: ({ code, status }: Problem) => ({ name: code, statusCode: status }),
    },
  };

  routes.post('/notify', guard, {
    id: 'notify',
    summary: 'Send a notification to a user',
    description:
      'Sends a notification in the language of the user. If the user or the plan does not allow it, or the address is suppressed, the response is 200 with `skipped` and the reason. An `Idempotency-Key` prevents a second email for 24 hours.',
    problems: ['unknown_notification_type', ...sending],
    example: { type: 'daily_digest', userId },
    headers: idempotencyHeaders,
    body: api.notifyRequest,
    response: { 200: api.notifyAnswer },
    handler: async (request) => notify(deps, named(request.body), { key: keyOf(request), body: request.body }),
  });

  addEmailRoutes(app, providerGuard, deps);

  routes.post('/emails/events', guard, {
    id: 'reportEmailEvent',
    summary: 'Record a verified event of the mail provider',
    description:
      'Records an event of the mail provider. The content service calls it after it has verified the signature.',
    example: {
      id: 'msg_2Lh9KRb0pzN4LePd3XiA4v12Axj',
      type: 'email.delivered',
      email_id: '4ef9a417-02e9-4d39-ad75-9611e0fcc33c',
      to: ['ada@example.com'],
    },
    client: { repeatable: true },
    body: emailEvent,
    response: { 204: z.null() },
    handler: async (request) => takeProviderEvent(deps, request.body),
  });

  routes.get('/types', guard, {
    id: 'listTypes',
    summary: 'List the types of notifications',
    description: 'Returns the types of notifications, with their audiences and languages.',
    response: { 200: api.notificationTypes },
    handler: async () => ({
      types: deps.types.list().map(({ name, audience, locales }) => ({ type: name, audience, locales: [...locales] })),
    }),
  });

  routes.post('/types/:type/preview', guard, {
    id: 'previewType',
    summary: 'Render a notification without sending it',
    description: 'Returns the subject, the HTML and the text of a notification with sample data.',
    problems: ['not_found'],
    example: { locale: 'en' },
    client: { repeatable: true },
    params: api.typeName,
    body: api.previewRequest,
    response: { 200: api.preview },
    handler: async (request) => previewType(deps, request.params.type, request.body),
  });

  routes.get('/suppressions', guard, {
    id: 'listSuppressions',
    summary: 'List suppressed addresses',
    description: 'Returns a page of addresses that receive no email, because of a bounce or a complaint.',
    querystring: api.suppressionListing,
    response: { 200: api.suppressionPage },
    handler: async (request) => listPage(deps, request.query),
  });

  routes.delete('/suppressions/:address', guard, {
    id: 'liftSuppression',
    summary: 'Remove an address from the suppression list',
    description: 'Removes an address from the suppression list.',
    problems: ['not_found'],
    params: api.suppressedAddress,
    response: { 204: z.null() },
    handler: async (request) => lift(deps, request.params.address),
  });
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
function named({ type, userId, data, contact }: api.NotifyRequest): Notification {
  if (!type || !userId) {
    const missing = [...(type ? [] : ['body.type']), ...(userId ? [] : ['body.userId'])];
    const issues = missing.map((path) => ({ path, message: 'is required' }));
    throw problems.invalid_request({ message: 'type and userId are required', issues });
  }
  return { type, userId: userId.toLowerCase(), data, contact };
}

// Events that the provider reports about mails. Bounces and complaints suppress their addresses
// (docs/specification/notify.md#provider-events).

const maxReasonLength = 500;

/** By the provider's name of the event. Other events are ignored. */
const known: ReadonlyMap<string, EventType> = new Map([
  ['email.delivered', 'delivered'],
  ['email.delivery_delayed', 'delivery_delayed'],
  ['email.bounced', 'bounced'],
  ['email.complained', 'complained'],
  ['email.failed', 'failed'],
  ['email.suppressed', 'suppressed'],
]);

async function takeProviderEvent({ db, log, webhooks }: NotifyContext, event: EmailEvent): Promise<void> {
  const type = known.get(event.type);
  if (type === undefined) return;
  // An empty reason is no information.
  const reason = event.reason ? toStorableLine(event.reason, maxReasonLength) : undefined;
  const addresses = suppressedBy(type, event);
  await transaction(db, async (tx) => {
    if (!(await addForeignEvent(tx, { sourceId: event.id, providerId: event.email_id, type, reason }))) return;
    const why = reason === undefined ? type : `${type}: ${reason}`;
    await suppress(
      tx,
      // After a complaint, mails about the account itself are still sent.
      addresses.map((address) => ({ address, reason: why, blocks: type === 'complained' ? 'product' : 'all' })),
    );
    if (type !== 'bounced' && type !== 'complained') return;
    const { email_id: emailId } = event;
    const to = event.to.flatMap((text) => addressOf(text) ?? []);
    await webhooks?.publish(tx, `mail.${type}`, { emailId, to, reason: reason ?? null, suppressed: addresses });
  });
  if (addresses.length === 0 && (type === 'bounced' || type === 'complained'))
    log.warn(
      { event: type },
      'no address is suppressed after a bounce or complaint, because it is temporary or does not name its recipient',
    );
}

/**
 * An event names all recipients of its mail. If there are several, one of them counts only if the reason names it. A
 * temporary bounce, such as a full mailbox, suppresses no address.
 */
function suppressedBy(type: EventType, { to, bounce_type: bounceType, reason = '' }: EmailEvent): readonly string[] {
  if (type !== 'bounced' && type !== 'complained') return [];
  if (type === 'bounced' && bounceType?.toLowerCase() === 'transient') return [];
  const addresses = [...new Set(to.flatMap((text) => addressOf(text) ?? []))];
  if (addresses.length === 1) return addresses;
  const named = reason.split(/[\s<>()[\],;:"']+/).map(addressOf);
  return addresses.filter((address) => named.includes(address));
}
