import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPostgresDatabase, laneEngines } from '../../../test/database.fixture.ts';
import { everyNth } from '../../../test/lane.fixture.ts';
import type { KillOrders } from '../../../test/platform/jobs.child.ts';

const program = join(import.meta.dirname, '../../../test/platform/jobs.child.ts');
const embedded = async () => ({ url: 'embedded', drop: async () => undefined });

for (const { name, missing } of laneEngines) {
  describe.skipIf(missing)(`the job of a killed worker on ${name}`, () => {
    let dataDir: string;
    let server: Awaited<ReturnType<typeof createPostgresDatabase>>;
    const children: ChildProcess[] = [];
    beforeEach(async () => {
      dataDir = await mkdtemp(join(tmpdir(), 'atelier-jobs-'));
      server = await (name === 'postgres' ? createPostgresDatabase() : embedded());
    });
    afterEach(async () => {
      for (const child of children.splice(0)) child.kill('SIGKILL');
      await server.drop();
      await rm(dataDir, { recursive: true, force: true });
    });

    function start(orders: Pick<KillOrders, 'enqueue' | 'hang'>) {
      const all: KillOrders = { databaseUrl: server.url, dataDir, ...orders };
      const child = spawn(process.execPath, [program, JSON.stringify(all)], { stdio: ['ignore', 'pipe', 'inherit'] });
      children.push(child);
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
      const says = async (start: string): Promise<string> => {
        for (;;) {
          const { value, done } = await lines.next();
          if (done) throw new Error(`it ended without printing ${start}`);
          if (value.startsWith(start)) return value;
        }
      };
      return { child, says };
    }

    const states: readonly [string, KillOrders['enqueue']][] = [
      ['held from its insertion', 'start'],
      ['claimed', true],
    ];
    it.each(everyNth(states, 2))(
      'that it %s is taken over, immediately on the embedded database',
      { timeout: 90_000 },
      async (_, enqueue) => {
        const killed = start({ enqueue, hang: true });
        await killed.says('attempt 1');
        // With a server, the other process is already running. The embedded data folder becomes free only when the first process dies.
        const early = name === 'postgres' ? start({ enqueue: false, hang: false }) : undefined;
        await early?.says('working');
        const killedAtMs = performance.now();
        killed.child.kill('SIGKILL');
        await once(killed.child, 'exit');
        const next = early ?? start({ enqueue: false, hang: false });
        let workingAtMs = killedAtMs;
        if (early === undefined) {
          await next.says('working');
          workingAtMs = performance.now();
        }
        await next.says('attempt 2');
        // A lease lasts 20 s, so a faster takeover did not wait for it to expire.
        expect(performance.now() - workingAtMs).toBeLessThan(name === 'postgres' ? 60_000 : 15_000);
        expect(await next.says('depths')).toBe('depths []');
      },
    );
  });
}
