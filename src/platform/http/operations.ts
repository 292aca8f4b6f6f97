/** The endpoints that every service has: `/`, `/health`, `/ready` (docs/specification/http.md#service-endpoints). */
import { Problem } from '../problem.ts';
import { withDeadline } from '../resilience/deadline.ts';
import { commit, version } from '../version.ts';
import type { HttpServer, Readiness, ServerOptions } from './httpserver.ts';

const checkTimeoutMs = 2000;
/** The engines are checked at most once in this time, regardless of the number of requests. */
const readyForMs = 1000;

export function addOperations(app: HttpServer, options: ServerOptions): void {
  const { service } = options;
  const schema = (summary: string) => ({ schema: { tags: ['operations'], summary } });
  if (!options.servesRoot)
    app.get('/', schema('Read the name, version and commit of the service'), async () => ({
      service,
      version,
      commit,
    }));
  app.get('/health', schema('Check that the service runs'), async (_request, reply) =>
    options.plainHealth ? reply.type('text/plain; charset=utf-8').send('ok') : { status: 'ok', service },
  );

  let checked: { readonly atMs: number; readonly engines: Promise<Record<string, EngineState>> } | undefined;
  app.get('/ready', schema('Check that the engines of the service respond'), async (_request, reply) => {
    if (checked === undefined || performance.now() - checked.atMs > readyForMs)
      checked = { atMs: performance.now(), engines: checkEngines(app, withLease(options)) };
    const engines = await checked.engines;
    const ready = Object.values(engines).every((state) => state === 'ok');
    reply.code(ready ? 200 : 503).header('cache-control', 'no-store');
    return { status: ready ? 'ok' : 'unavailable', engines };
  });
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
