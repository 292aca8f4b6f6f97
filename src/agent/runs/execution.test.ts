import { expect, it } from 'vitest';
import { createLog } from '#platform/log.ts';
import { openTestDatabase } from '../../../test/database.fixture.ts';
import type { AgentContext } from '../context.ts';
import type { Batch, EventLog } from '../eventlog/eventlog.ts';
import { RunEventBuffers } from '../stream/runbuffer.ts';
import { Execution } from './execution.ts';
import type { Run } from './runstore.ts';

const run = { taskId: 'task', status: 'running', epochMs: 1, fence: 1 } as Run;
const chosen = { label: {} };

/** An execution whose event log answers appends with `appended`. Without `db`, its database does not respond. */
function prepare(appended: Awaited<ReturnType<EventLog['append']>>, db: object = {}) {
  const lines: string[] = [];
  const log = createLog({ level: 'warn', destination: { write: (line) => void lines.push(JSON.parse(line).msg) } });
  let follower: ((batch: Batch) => void) | undefined;
  const eventLog: Partial<EventLog> = {
    append: async () => appended,
    read: async () => [],
    follow: (_run, _afterSeq, onBatch) => {
      follower = onBatch;
      return () => {
        follower = undefined;
      };
    },
  };
  const buffers = new RunEventBuffers({ log, eventLog, db: {} } as ConstructorParameters<typeof RunEventBuffers>[0]);
  const lease = { holder: 'h', leaseMs: -1 };
  const deps = { log, eventLog, buffers, lease, db, continueRuns: true } as unknown as AgentContext;
  const execute = (model: object) => new Execution(deps, run, model as ConstructorParameters<typeof Execution>[2]).over;
  return { lines, buffers, execute, append: (batch: Batch) => follower?.(batch) };
}

it('warns about a run whose events could not be stored', async () => {
  const { lines, buffers, execute } = prepare('vanished');
  await execute(chosen);
  expect(lines).toContain('a run failed, because its events could not be stored');
  buffers.close();
});

it('leaves a run to a later try if the database admits no more work', async () => {
  const database = await openTestDatabase();
  const db = database.queries();
  await database.close();
  const { lines, buffers, execute } = prepare('appended', db);
  await execute(chosen);
  expect(lines).toEqual(['a run could not continue, because an engine did not respond']);
  buffers.close();
});

it('leaves the readers of a run to the event log if it fails unexpectedly', async () => {
  const { lines, buffers, execute, append } = prepare('appended');
  const { buffer, leave } = await buffers.open(run, undefined);
  await execute({
    get label() {
      throw new Error('unexpected');
    },
  });
  expect(lines).toContain('the execution of a run failed unexpectedly');
  append({ firstSeq: 1, lastSeq: 1, events: ['{}'], isLast: true });
  expect(buffer.isEnded).toBe(true);
  leave();
  buffers.close();
});
