import type { Access } from '#platform/access/access.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import type { AgentContext } from '../context.ts';
import { budgetList } from './api.ts';
import { listBudgets } from './budgetstore.ts';

export function addBudgetRoutes(app: HttpServer, access: Access, { db, budgets }: AgentContext): void {
  routesOf(app, 'agent').get('/usage/budgets', access.internalOnly, {
    id: 'listBudgets',
    summary: 'List the budgets of the current day and month, and what is spent of them',
    description:
      'Returns the budgets of the current day and month (UTC), and what is spent of them, for operators. A budget does not limit spending.',
    client: { answer: 'BudgetList' },
    response: { 200: budgetList },
    handler: async () => ({ budgets: await listBudgets(db, budgets) }),
  });
}
