/** The Runs page: how runs and generations of all users went, from the agent service. */
import { z } from 'zod';
import { generationRecordListing, type RunPage, type RunRecord, runListing } from '#agent/records/api.ts';
import { auditOf, hashedTarget, recordAction } from '#platform/audit/audit.ts';
import { bodyOf } from '#platform/http/bodyof.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import type { ConsoleContext } from '../context.ts';
import { passOn } from '../forwarding.ts';
import { type OperatorGuard, operatorName } from '../operators/guard.ts';
import { consoleProblems } from '../problems.ts';
import type { ServiceClients } from '../services.ts';
import type { Replay, ShownRun, ShownRunPage } from './api.ts';
import { replayOf } from './replaying.ts';

const params = z.object({ taskId: z.guid().toLowerCase() });

export function addRunRoutes(
  app: HttpServer,
  guard: OperatorGuard,
  { db, traceLink }: ConsoleContext,
  { agent }: ServiceClients,
): void {
  const audit = db && auditOf(db);
  const routes = routesOf(app, 'console');
  const show = (run: RunRecord): ShownRun => ({ ...run, traceUrl: traceLink(run.traceId) });
  const read = async (taskId: string) =>
    bodyOf<RunRecord>(await agent.send({ method: 'GET', route: '/runs/:taskId', params: { taskId } }));

  routes.get(
    '/api/runs',
    guard,
    { summary: 'Runs of all users', querystring: runListing },
    async ({ query }): Promise<ShownRunPage> => {
      const { runs, next_cursor } = bodyOf<RunPage>(await agent.send({ method: 'GET', route: '/runs', query }));
      return { runs: runs.map(show), next_cursor };
    },
  );

  routes.get('/api/runs/:taskId', guard, { summary: 'One run', params }, async (request) =>
    show(await read(request.params.taskId)),
  );

  routes.get(
    '/api/runs/:taskId/events',
    guard,
    { summary: 'The stream of a run that has ended', params },
    async (request): Promise<Replay> => {
      const { taskId } = request.params;
      const { status, userId } = await read(taskId);
      // The stream of a run in progress does not end.
      if (status === 'queued' || status === 'running') throw consoleProblems.run_not_ended();
      const response = await agent.send({ method: 'GET', route: '/stream/:taskId', params: { taskId } });
      if (response.status !== 200) bodyOf(response);
      // A stream has content of the user, so each view is recorded.
      if (audit !== undefined)
        await recordAction(audit, {
          actor: operatorName(request),
          action: 'read stream',
          target: hashedTarget(userId),
          outcome: 'done',
        });
      return replayOf(response.body.toString());
    },
  );

  routes.get(
    '/api/generations',
    guard,
    { summary: 'Generations of all users', querystring: generationRecordListing },
    async ({ query }, reply) =>
      passOn(reply, await agent.send({ method: 'GET', route: '/generations/all', query }), 'agent'),
  );
}
