/** What every service answers beside its own routes: `/`, `/health`, `/ready` (CONTRACT §3). */
import { version } from '../version.ts';
import type { HttpServer, ServerOptions } from './server.ts';

export type Readiness = Readonly<Record<string, () => Promise<void>>>;

export function addOperations(app: HttpServer, options: ServerOptions): void {
  app.get('/', async () => ({ service: options.service, version }));
  app.get('/health', async (_request, reply) =>
    options.plainHealth
      ? reply.type('text/plain; charset=utf-8').send('ok')
      : { status: 'ok', service: options.service },
  );
  app.get('/ready', async (_request, reply) => {
    const engines = await Promise.all(
      Object.entries(options.readiness).map(async ([name, check]) => {
        try {
          await check();
          return [name, 'ok'] as const;
        } catch (error) {
          reply.request.log.warn({ err: error, engine: name }, 'engine does not answer');
          return [name, 'unavailable'] as const;
        }
      }),
    );
    const ready = engines.every(([, state]) => state === 'ok');
    return reply
      .code(ready ? 200 : 503)
      .send({ status: ready ? 'ok' : 'unavailable', engines: Object.fromEntries(engines) });
  });
}
