/** What every service answers beside its own routes: `/`, `/health`, `/ready` (docs/specification/http.md#service-endpoints). */
import { withDeadline } from '../resilience/deadline.ts';
import { version } from '../version.ts';
import type { HttpServer, Readiness, ServerOptions } from './httpserver.ts';

const checkTimeoutMs = 2000;
/** However often it is asked, the engines are asked once in this time. */
const readyForMs = 1000;

export function addOperations(app: HttpServer, options: ServerOptions): void {
  const { service } = options;
  const schema = (summary: string) => ({ schema: { tags: ['operations'], summary } });
  if (!options.answersRoot) app.get('/', schema('What this is'), async () => ({ service, version }));
  app.get('/health', schema('Does the service run?'), async (_request, reply) =>
    options.plainHealth ? reply.type('text/plain; charset=utf-8').send('ok') : { status: 'ok', service },
  );

  let asked: { readonly atMs: number; readonly engines: Promise<Record<string, EngineState>> } | undefined;
  app.get('/ready', schema('Do the engines that it needs answer?'), async (_request, reply) => {
    if (asked === undefined || performance.now() - asked.atMs > readyForMs)
      asked = { atMs: performance.now(), engines: askEngines(app, withTenure(options)) };
    const engines = await asked.engines;
    const ready = Object.values(engines).every((state) => state === 'ok');
    reply.code(ready ? 200 : 503).header('cache-control', 'no-store');
    return { status: ready ? 'ok' : 'unavailable', engines };
  });
}

/** A process that may not serve is not ready either. */
function withTenure({ readiness, mayServe }: ServerOptions): Readiness {
  if (mayServe === undefined) return readiness;
  const lease = async () => {
    if (!mayServe()) throw new Error('the lease of this service is lost');
  };
  return { ...readiness, lease };
}

type EngineState = 'ok' | 'unavailable';

async function askEngines(app: HttpServer, readiness: Readiness): Promise<Record<string, EngineState>> {
  const states = await Promise.all(
    Object.entries(readiness).map(async ([engine, check]): Promise<[string, EngineState]> => {
      try {
        await withDeadline(checkTimeoutMs, () => check());
        return [engine, 'ok'];
      } catch (error) {
        app.log.warn({ err: error, engine }, 'an engine does not answer');
        return [engine, 'unavailable'];
      }
    }),
  );
  return Object.fromEntries(states);
}
