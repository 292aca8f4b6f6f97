import type { Access } from '#platform/access/access.ts';
import { actorOf } from '#platform/audit/http.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import type { AgentContext } from '../context.ts';
import { budgetChange, budgetList, budgetPath } from './api.ts';
import { changeBudget, listBudgets } from './budgetstore.ts';

export function addBudgetRoutes(app: HttpServer, access: Access, { db, budgets }: AgentContext): void {
  const routes = routesOf(app, 'agent');

  routes.get('/usage/budgets', access.internalOnly, {
    id: 'listBudgets',
    summary: 'List the budgets of the current day and month, and what is spent of them',
    description:
      'Returns the budgets of the current day and month (UTC), and what is spent of them, for operators. A budget does not limit spending.',
    response: { 200: budgetList },
    handler: async () => ({ budgets: await listBudgets(db, budgets) }),
  });

  routes.put('/usage/budgets/:period', access.internalOnly, {
    id: 'changeBudget',
    summary: 'Set or remove the budget of a day or a month',
    description:
      'Replaces the budget of the settings, in all processes, within 5 s. The audit log records the change, with the budget before.',
    example: { budgetUsd: 25 },
    client: { repeatable: true },
    params: budgetPath,
    body: budgetChange,
    response: { 200: budgetList },
    handler: async ({ params, body, headers }) => {
      await changeBudget(db, budgets, { ...params, ...body, actor: actorOf(headers) });
      return { budgets: await listBudgets(db, budgets) };
    },
  });
}
