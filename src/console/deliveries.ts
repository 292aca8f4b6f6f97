/** The Webhooks page: deliveries, and sending dead ones again (docs/specification/webhooks.md#delivery). */
import { auditOf, recordAction } from '#platform/audit/audit.ts';
import { transaction } from '#platform/db/db.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { largestDepth } from '#platform/jobs/jobs.ts';
import { problems } from '#platform/problem.ts';
import { countDead, type DeliveryRow, findDeliveries, isDelivery, reviveDelivery } from '#webhooks/deliverystore.ts';
import { deliveryQueue } from '#webhooks/publishing.ts';
import { type Delivery, deliveryList, deliveryParams, deliveryQuery } from './api.ts';
import type { ConsoleContext } from './context.ts';
import { type OperatorGuard, operatorName } from './operators/guard.ts';
import { consoleProblems } from './problems.ts';

const longestList = 100;

export function addDeliveryRoutes(
  app: HttpServer,
  guard: OperatorGuard,
  { clock }: ConsoleContext,
  { db, receiver }: NonNullable<ConsoleContext['deliveries']>,
): void {
  const routes = routesOf(app, 'console');

  routes.get(
    '/api/webhooks',
    guard,
    { summary: 'The newest webhook deliveries', querystring: deliveryQuery, response: { 200: deliveryList } },
    async ({ query }) => {
      const rows = await findDeliveries(db, query.status, longestList);
      const dead = await countDead(db, largestDepth + 1);
      return { receiver, queue: deliveryQueue.name, dead, largestCount: largestDepth, deliveries: rows.map(describe) };
    },
  );

  routes.post(
    '/api/webhooks/:id/send',
    guard,
    { summary: 'Send a dead delivery again', params: deliveryParams },
    async (request, reply) => {
      const { id } = request.params;
      const action = {
        actor: operatorName(request),
        action: 'send webhook again',
        target: `delivery ${id}`,
        outcome: 'done',
      };
      await transaction(db, async (tx) => {
        if (!(await reviveDelivery(tx, id, clock.now())))
          throw (await isDelivery(tx, id)) ? consoleProblems.delivery_not_dead() : problems.not_found();
        await recordAction(auditOf(tx), action);
      });
      return reply.code(204).send();
    },
  );
}

function describe({ jobId, payload, status, attempt, reason, runAt, createdAt }: DeliveryRow): Delivery {
  return {
    id: jobId,
    webhookId: payload.id,
    type: typeOf(payload.body),
    status,
    attempts: attempt,
    // Of the last attempt that failed, which a later one may have made good.
    reason: status === 'done' ? null : reason,
    createdAt: createdAt.toISOString(),
    nextAttemptAt: status === 'waiting' ? runAt.toISOString() : null,
    body: payload.body,
  };
}

function typeOf(body: string): string {
  const event: unknown = JSON.parse(body);
  const type: unknown = typeof event === 'object' && event !== null ? Reflect.get(event, 'type') : undefined;
  return typeof type === 'string' ? type : 'unknown';
}
