/** What the agent has of a user, for operators (docs/specification/agent.md#people). */

import { z } from 'zod';
import type { Access } from '#platform/access/access.ts';
import { auditOperators, userTarget } from '#platform/audit/http.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { deleteThreads } from '../deletion/deletion.ts';
import { cancelGenerationsOf } from '../generation/generations.ts';
import { agentProblems } from '../problems.ts';
import type { ServingContext } from '../servingcontext.ts';
import { countAllThreads, countThreads, deleteOwned } from './peoplestore.ts';

const params = z.object({ userId: z.guid().toLowerCase() });
export const threadCounts = z.object({
  threads: z.int(),
  messages: z.int(),
  running: z.int().describe('Runs in progress.'),
});
export const erasedThreads = z.object({
  removed: z.record(z.string(), z.int()).describe('The number of removed records of each kind.'),
});
const path = '/people/:userId';

export function addPeopleRoutes(app: HttpServer, access: Access, deps: ServingContext): void {
  auditOperators(app, {
    ...deps,
    isOperators: (url, method) => url === path && method === 'DELETE',
    targetOf: (request) => userTarget(params, request.params),
  });
  const routes = routesOf(app, 'people');

  routes.get('/people/:userId', access.internalOnly, {
    id: 'countThreads',
    summary: 'Count the threads and messages of a user',
    description: 'Returns the numbers of threads, messages and runs in progress of a user, for operators.',
    params,
    response: { 200: threadCounts },
    handler: async (request) => countThreads(deps.db, request.params.userId),
  });

  routes.delete('/people/:userId', access.internalOnly, {
    id: 'eraseThreads',
    summary: 'Erase the threads of a user',
    description:
      'Erases the threads of a user with their assets, events and usage, and cancels their generations. After 503, you can repeat the request.',
    problems: ['still_deleting'],
    params,
    response: { 200: erasedThreads },
    handler: async (request) => erase(deps, request.params.userId),
  });
}

/** Throws 503 while threads remain: they are hidden, a job removes them, and a repeated call finishes. */
async function erase(deps: ServingContext, userId: string): Promise<z.output<typeof erasedThreads>> {
  const threads = await countAllThreads(deps.db, userId);
  await deleteThreads(deps, userId, true);
  const left = await countAllThreads(deps.db, userId);
  if (left > 0) throw agentProblems.still_deleting();
  // Those of threads ended with their threads.
  await cancelGenerationsOf(deps, userId);
  const removed = await deleteOwned(deps.db, userId);
  return { removed: { threads, ...removed } };
}
