/**
 * The agent service in a process of its own, with runs of several steps, whose model is at the URL that the argument names. Without
 * one, only what such a run writes so that another process can continue it.
 */
import { randomUUID } from 'node:crypto';
import { unknownUsage } from '../src/agent/billing/usage.ts';
import { findRun } from '../src/agent/runs/runstore.ts';
import { openJournal } from '../src/agent/steps/stepstore.ts';
import type { AgentTables } from '../src/agent/tables.ts';
import { migrations } from '../src/app/migrations.ts';
import { modelsOf, newThread, startAgent, testSettings } from '../test/agent/rig.fixture.ts';
import { databaseEngines } from '../test/database.fixture.ts';
import { embedded } from '../test/media/rig.fixture.ts';
import { callsPerRun, wordsPerStep } from './models.ts';
import { serve } from './peers/serving.mjs';

const [url] = process.argv.slice(2);
const maxRounds = 100;

const postgres = databaseEngines.find(({ name }) => name === 'postgres');
if (postgres === undefined || postgres.missing) throw new Error('PostgreSQL is missing');
const rig = await startAgent(
  { ...embedded, openDatabase: () => postgres.open(migrations) },
  {
    ...(url !== undefined && { model: modelsOf({ url, names: ['bench'], file: undefined }) }),
    settings: { ...testSettings, maxRunsPerUser: 1000 },
  },
);
const user = await rig.user('pro', 1_000_000);

async function runOnce(): Promise<void> {
  const taskId = await user.ask(newThread(), 'Hello?');
  await user.stream(taskId);
  const { status, error } = await user.ended(taskId);
  if (status !== 'completed') throw new Error(`a run of the benchmark is ${status}: ${error}`);
}

const db = rig.media.database.queries<AgentTables>();
const usage = { ...unknownUsage, inputTokens: 10, outputTokens: 10 };
const shown = [
  { type: 'step-start' as const },
  { type: 'text' as const, text: ' word'.repeat(wordsPerStep), state: 'done' as const },
];

/** The row stays in progress, so that it can be written to. */
async function openRow() {
  const taskId = randomUUID();
  await db
    .insertInto('agent_runs')
    .values({
      ...{ task_id: taskId, thread_id: newThread(), owner_id: user.userId, message_id: randomUUID(), model: 'bench' },
      ...{ credits: 1, status: 'running', holder: randomUUID(), epoch_ms: 1 },
      lease_expires_at: new Date(Date.now() + 3_600_000),
    })
    .execute();
  const run = await findRun(db, taskId, 3600);
  if (run === undefined) throw new Error('the run of the benchmark is missing');
  return run;
}

/** Opened before they are measured: a run has its row anyway. */
const rows: Awaited<ReturnType<typeof openRow>>[] = [];

async function writeOnce(): Promise<void> {
  const row = rows.pop();
  if (row === undefined) throw new Error('the benchmark has too few rows');
  const journal = openJournal(db, row);
  // The last step ends with the run, and has no row.
  for (let at = 1; at <= callsPerRun; at++) {
    const toolCallId = `call_${at}`;
    await journal.callStarted({ toolCallId, name: 'recallMemory' });
    await journal.callFinished(toolCallId, { output: { memories: [] } });
    await journal.stepFinished({ step: at, parts: shown, usage, answeredBy: null });
  }
}

serve({
  async open() {
    for (let count = 0; count < maxRounds; count++) rows.push(await openRow());
    return { url: rig.url, headers: user.credential };
  },
  say: () => (url === undefined ? writeOnce() : runOnce()),
  close: () => rig.close(),
});
