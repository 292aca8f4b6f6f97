import { z } from 'zod';
import { actionSearch } from '#accounts/people/api.ts';
import { budgetChange, budgetPath } from '#agent/budgets/api.ts';
import { type ConfiguredModels, spenderListing, usageTotalsRange } from '#agent/operatorapi.ts';
import { type Routes, routesOf, unguarded } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { problems } from '#platform/problem.ts';
import { version } from '#platform/version.ts';
import { pageSize } from '#platform/wholenumber.ts';
import { type DeliveryRow, findDeliveries } from '#webhooks/deliverystore.ts';
import { webhookEventTypes } from '#webhooks/events.ts';
import { typeOfEvent } from '#webhooks/publishing.ts';
import * as api from './api.ts';
import { addContentRoutes } from './content.ts';
import type { ConsoleContext } from './context.ts';
import { addHistoryRoutes } from './history/routes.ts';
import { addIncidentRoutes } from './incidents/routes.ts';
import { addJobRoutes } from './jobs/routes.ts';
import { listMails, mailPolicy, readMail, readMailHtml } from './mails.ts';
import { addMemoryRoutes } from './memories.ts';
import { findOperator, guardOperators, type OperatorGuard } from './operators/guard.ts';
import { addSessionRoutes } from './operators/routes.ts';
import { collectOverview, readEndpoint, readJson } from './overview.ts';
import { addPeopleRoutes } from './people/routes.ts';
import { consoleProblems } from './problems.ts';
import { addRunRoutes } from './runs/routes.ts';
import { addSentMailRoutes } from './sentmails/routes.ts';
import { addForwards, readFrom } from './services.ts';
import { addSettingsRoutes } from './settings/routes.ts';

export function addRoutes(app: HttpServer, deps: ConsoleContext): void {
  const routes = routesOf(app, 'console');
  const guard = guardOperators(deps);
  // Only the files of the pages may be cached. They set their own header.
  app.addHook('onSend', async (_request, reply) => {
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store');
  });

  routes.get('/api/console', unguarded, {
    summary: 'Read the configuration of the pages',
    handler: async (request): Promise<api.ConsoleInfo> => {
      const operator = await findOperator(deps, request);
      return {
        version,
        isOperator: operator !== undefined,
        operator: operator === undefined ? null : { name: operator.name, role: operator.role },
        hasOperatorAccounts: deps.identity !== undefined,
        hasPeople: deps.clients !== undefined,
        addresses: deps.addresses,
        pictureHosts: deps.pictureHosts,
        hasOutbox: deps.outbox !== undefined,
        hasMemory: deps.memory !== undefined,
        hasWebhooks: deps.deliveries !== undefined,
        hasDatabase: deps.db !== undefined,
        hasDemoUsers: deps.hasDemoUsers,
        hasUserSession: /(?:^|; *)ka_session=./.test(request.headers.cookie ?? ''),
      };
    },
  });

  routes.get('/api/endpoints', unguarded, {
    summary: 'The endpoints of all services',
    handler: async (): Promise<api.EndpointList> => {
      const endpoints: api.Endpoint[] = [];
      // One after the other: a service makes its document on the first request, and all of them can share a processor.
      for (const [service, url] of Object.entries(deps.services))
        endpoints.push(...(await listEndpoints(service, url)));
      if (endpoints.length === 0) throw problems.engine_unavailable();
      return { endpoints };
    },
  });

  let prices: { readonly read: Promise<api.FirstPrices>; readonly readAt: number } | undefined;
  routes.get('/api/price', unguarded, {
    summary: 'The prices of the first image and video, for the landing page',
    handler: async () => {
      const now = deps.clock.now();
      if (prices === undefined || now - prices.readAt > pricesAreFreshMs)
        prices = { read: readPrices(deps).catch(() => unknownPrices), readAt: now };
      return prices.read;
    },
  });

  addSessionRoutes(routes, deps);

  routes.get('/api/overview', guard, {
    summary: 'Read the state of every service',
    handler: async () => collectOverview(deps),
  });

  addMailRoutes(routes, guard, deps.outbox);
  if (deps.memory !== undefined) addMemoryRoutes(routes, guard, deps.memory);
  if (deps.deliveries !== undefined) addDeliveryRoutes(routes, guard, deps.deliveries);
  addContentRoutes(routes, guard, deps);
  addHistoryRoutes(routes, guard, deps);
  const { db, clients } = deps;
  if (db !== undefined) addJobRoutes(routes, guard, { ...deps, db });
  addSettingsRoutes(routes, guard, deps.settings);
  if (clients === undefined) return;
  addPeopleRoutes(routes, guard, clients);
  const actions = { querystring: actionSearch.extend({ limit: pageSize(500, 100) }) };
  addForwards(routes, guard, clients.auth, [
    ['get', '/api/actions', '/v1/actions', 'Search the actions of operators, newest first', actions],
  ]);
  addIncidentRoutes(routes, guard, clients);
  addSentMailRoutes(routes, guard, deps, clients);
  addRunRoutes(routes, guard, deps, clients);
  // The Models page: models, prices and usage.
  const [usageRange, spenders] = [{ querystring: usageTotalsRange.required() }, { querystring: spenderListing }];
  const budget = { params: budgetPath, body: budgetChange };
  addForwards(routes, guard, clients.agent, [
    ['get', '/api/models', '/models/all', 'Models, plans and prices'],
    ['get', '/api/usage/totals', '/usage/totals', 'Usage by day, model and plan', usageRange],
    ['get', '/api/usage/budgets', '/usage/budgets', 'Budgets, and what is spent of them'],
    ['get', '/api/usage/users', '/usage/users', 'Users by credits spent in a month', spenders],
    ['put', '/api/usage/budgets/:period', '/usage/budgets/:period', 'Set or remove a budget', budget],
  ]);
}

const operation = z.object({
  summary: z.string(),
  security: z.array(z.record(z.string(), z.unknown())).default([]),
  requestBody: z.object({ content: z.record(z.string(), z.object({ example: z.unknown().optional() })) }).optional(),
});
const openApi = z.object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) });
const methods: ReadonlySet<string> = new Set(['get', 'post', 'put', 'patch', 'delete']);
const credential = z.enum(['accessToken', 'internalKey', 'adminToken', 'none']).catch('none');

/** From the OpenAPI document of the service. A service that does not respond has none. */
async function listEndpoints(service: string, url: string): Promise<readonly api.Endpoint[]> {
  const document = await readJson(`${url}/openapi.json`, openApi);
  return Object.entries(document?.body.paths ?? {}).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, given]) => {
      const { data } = operation.safeParse(given);
      if (!methods.has(method) || data === undefined) return [];
      const { summary, security, requestBody } = data;
      const accepted = credential.parse(Object.keys(security[0] ?? {})[0]);
      const example = requestBody?.content['application/json']?.example;
      return [{ service, method: method.toUpperCase(), path, summary, credential: accepted, example }];
    }),
  );
}

function addMailRoutes(routes: Routes, guard: OperatorGuard, outbox: string | undefined): void {
  const folder = () => {
    if (outbox === undefined) throw consoleProblems.outbox_unused();
    return outbox;
  };

  routes.get('/api/mails', guard, {
    summary: 'The outbox',
    handler: async () => listMails(folder()),
  });

  routes.get('/api/mails/:name', guard, {
    summary: 'Read an email of the outbox',
    params: api.mailPath,
    handler: async (request) => readMail(folder(), request.params.name),
  });

  routes.get('/api/mails/:name/html', guard, {
    summary: 'Show an email as a page, in a sandbox',
    params: api.mailPath,
    handler: async (request, reply) => {
      const html = await readMailHtml(folder(), request.params.name);
      return reply.header('content-security-policy', mailPolicy).type('text/html; charset=utf-8').send(html);
    },
  });
}

const pricesAreFreshMs = 10_000;

const unknownPrices: api.FirstPrices = { image: null, video: null };

/** Prices of the models that a new user gets, or may get with another plan. */
async function readPrices({ clients }: ConsoleContext): Promise<api.FirstPrices> {
  if (clients === undefined) return unknownPrices;
  const { media } = await readFrom<ConfiguredModels>(clients.agent, '/models/all', {});
  const priceOf = (wanted: string) => {
    const models = media.filter(({ kind }) => kind === wanted);
    return (models.find(({ plans }) => plans.includes('free')) ?? models[0])?.credits ?? null;
  };
  return { image: priceOf('image'), video: priceOf('video') };
}

// The Webhooks page: deliveries. The routes of jobs send them again (docs/specification/webhooks.md#delivery).

const longestList = 100;

function addDeliveryRoutes(
  routes: Routes,
  guard: OperatorGuard,
  deliveries: NonNullable<ConsoleContext['deliveries']>,
): void {
  routes.get('/api/webhooks', guard, {
    summary: 'The newest webhook deliveries',
    querystring: api.deliveryQuery,
    handler: async ({ query }): Promise<api.DeliveryList> => {
      const rows = await findDeliveries(deliveries.db, query, longestList);
      return { ...(await readEndpoint(deliveries)), types: webhookEventTypes, deliveries: rows.map(describe) };
    },
  });
}

function describe({ jobId, fence, payload, state, attempt, reason, ...at }: DeliveryRow): api.Delivery {
  return {
    id: jobId,
    fence,
    webhookId: payload.id,
    type: typeOfEvent(payload.body),
    state,
    attempts: attempt,
    // Of the last attempt that failed, which a later one may have made good.
    reason: state === 'done' ? null : reason,
    createdAt: at.createdAt.toISOString(),
    endedAt: at.finishedAt?.toISOString() ?? null,
    lastAttemptAt: at.claimedAt?.toISOString() ?? null,
    nextAttemptAt: at.finishedAt === null ? at.runAt.toISOString() : null,
    body: payload.body,
  };
}
