/** A separate process for start.ts: only the embedded database and the given number of bare listeners. */
import type { AddressInfo } from 'node:net';
import { createPglite } from '../src/platform/db/pglite-engine.ts';

const [dataDir = '', listeners = '0'] = process.argv.slice(2);
await (await createPglite({ dataDir })).query('SELECT 1');
const ports: number[] = [];
if (Number(listeners) > 0) {
  const { default: fastify } = await import('fastify');
  for (let count = 0; count < Number(listeners); count++) {
    const app = fastify();
    app.get('/health', async () => ({ status: 'ok' }));
    await app.listen({ port: 0, host: '127.0.0.1' });
    ports.push((app.server.address() as AddressInfo).port);
  }
}
// Nothing else would happen here that makes the engine collect what the opening left.
globalThis.gc?.();
process.send?.(ports);
process.on('disconnect', () => process.exit());
