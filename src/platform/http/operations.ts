/** The endpoints that every service has: `/`, `/health`, `/ready` (docs/specification/http.md#service-endpoints). */
import { Problem, problems } from '../problem.ts';
import { withDeadline } from '../resilience.ts';
import { commit, version } from '../version.ts';
import { describeOperation } from './apireference.ts';
import type { HttpServer, Readiness, ServerOptions } from './httpserver.ts';

const checkTimeoutMs = 2000;
/** The engines are checked at most once in this time, regardless of the number of requests. */
const readyForMs = 1000;

export function addOperations(app: HttpServer, options: ServerOptions): void {
  const { service } = options;
  if (!options.servesRoot)
    app.get(
      '/',
      {
        schema: describeOperation({
          id: 'ping',
          summary: 'Read the name, version and commit of the service',
          description: 'Returns the name of the service, its version, and the commit that it is built from.',
          otherResponses: { 200: ['The result.', 'application/json'] },
        }),
      },
      async () => ({
        service,
        version,
        commit,
      }),
    );
  app.get(
    '/health',
    {
      schema: describeOperation({
        id: 'checkHealth',
        summary: 'Check that the service runs',
        description:
          'Returns 200 while the process runs, even if an engine fails, and 503 until all services of the process listen and after it ' +
          'began to drain. Use it as a liveness probe.',
        otherResponses: {
          200: ['The process runs.', 'application/json'],
          503: ['The process is starting or draining.', 'application/json'],
        },
      }),
    },
    async (_request, reply) => {
      if (options.isStarting?.()) throw problems.starting({ fields: { status: 'starting' } });
      return options.plainHealth ? reply.type('text/plain; charset=utf-8').send('ok') : { status: 'ok', service };
    },
  );

  let checked: { readonly atMs: number; readonly engines: Promise<Record<string, EngineState>> } | undefined;
  app.get(
    '/ready',
    {
      schema: describeOperation({
        id: 'checkReadiness',
        summary: 'Check that the engines of the service respond',
        description:
          'Checks the engines of the service at most once a second. Returns 503 if one does not respond. Use it as a readiness probe.',
        otherResponses: {
          200: ['All engines respond.', 'application/json'],
          503: ['An engine does not respond.', 'application/json'],
        },
      }),
    },
    async (_request, reply) => {
      if (checked === undefined || performance.now() - checked.atMs > readyForMs)
        checked = { atMs: performance.now(), engines: checkEngines(app, withLease(options)) };
      const engines = await checked.engines;
      const ready = Object.values(engines).every((state) => state === 'ok');
      reply.code(ready ? 200 : 503).header('cache-control', 'no-store');
      return { status: ready ? 'ok' : 'unavailable', engines };
    },
  );
}

/** A process that may not serve is not ready either. */
function withLease({ readiness, mayServe }: ServerOptions): Readiness {
  if (mayServe === undefined) return readiness;
  const lease = async () => {
    if (!mayServe()) throw new Error('the lease of this service is lost');
  };
  return { ...readiness, lease };
}

type EngineState = 'ok' | 'unavailable' | 'storage_full';

async function checkEngines(app: HttpServer, readiness: Readiness): Promise<Record<string, EngineState>> {
  const states = await Promise.all(
    Object.entries(readiness).map(async ([engine, check]): Promise<[string, EngineState]> => {
      try {
        await withDeadline(checkTimeoutMs, () => check());
        return [engine, 'ok'];
      } catch (error) {
        app.log.warn({ err: error, engine }, 'an engine is not responding');
        return [engine, error instanceof Problem && error.code === 'storage_full' ? 'storage_full' : 'unavailable'];
      }
    }),
  );
  return Object.fromEntries(states);
}
