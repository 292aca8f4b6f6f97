/** An edge in a process of its own, which tests kill. Its argument is the place of the bytes, as JSON. Prints a line when it listens. */
import { createEdge } from '#edge/service.ts';
import { systemClock } from '#platform/clock.ts';
import { createLog } from '#platform/log.ts';
import { openTarget, type Target } from '../platform/objects/writing.child.ts';
import { resizingKeys } from './edge.fixture.ts';

export interface EdgePlace {
  readonly target: Target;
  readonly port: number;
}

async function listen({ target, port }: EdgePlace): Promise<void> {
  const { objects, close } = openTarget(target);
  const app = createEdge({
    server: { log: createLog({ level: 'silent' }), readiness: {} },
    clock: systemClock,
    resizing: resizingKeys,
    settings: { maxStagedBytes: 32 * 1024 ** 3 },
    originals: objects,
    publicObjects: objects,
    variants: { serve: () => Promise.reject(new Error('This edge resizes nothing.')) },
  });
  await app.listen({ port, host: '127.0.0.1' });
  process.once('SIGTERM', () => void app.close().then(close));
  process.stdout.write('listening\n');
}

if (import.meta.main) await listen(JSON.parse(process.argv[2] ?? ''));
