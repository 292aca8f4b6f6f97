/**
 * The agent service in a process of its own, with a run of several steps that calls tools. With the argument `journal`, only what such
 * a run writes to be continued by another process, again and again.
 */
import { randomUUID } from 'node:crypto';
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { unknownUsage } from '../src/agent/billing/usage.ts';
import { openJournal } from '../src/agent/steps/journal.ts';
import type { StepTables } from '../src/agent/steps/stepstore.ts';
import { findRun } from '../src/agent/store/runstore.ts';
import { migrations } from '../src/app/migrations.ts';
import { newThread, startAgent, testSettings } from '../test/agent/rig.fixture.ts';
import { databaseEngines } from '../test/database.fixture.ts';
import { embedded } from '../test/media/rig.fixture.ts';
import { chunksOf, finish, modelOf } from './models.ts';
import { serve } from './peers/serving.mjs';

const isJournalAlone = process.argv[2] === 'journal';
const steps = 6;
const wordsPerStep = 300;
let step = 0;

/** Each step but the last ends with a call. */
async function* speak(): AsyncGenerator<LanguageModelV4StreamPart> {
  step += 1;
  for await (const part of chunksOf(wordsPerStep)) {
    if (part.type !== 'finish' || step % steps === 0) yield part;
  }
  if (step % steps === 0) return;
  const input = JSON.stringify({ query: `what step ${step} needs` });
  yield { type: 'tool-call', toolCallId: `call_${step}`, toolName: 'recallMemory', input };
  yield { ...finish, finishReason: { unified: 'tool-calls', raw: undefined } } as LanguageModelV4StreamPart;
}

const postgres = databaseEngines.find(({ name }) => name === 'postgres');
if (postgres === undefined || postgres.missing) throw new Error('PostgreSQL is missing');
const rig = await startAgent(
  { ...embedded, openDatabase: () => postgres.open(migrations) },
  { offlineModel: modelOf(speak), settings: { ...testSettings, maxRunsPerUser: 1000 } },
);
const user = await rig.user('pro', 1_000_000);

async function runOnce(): Promise<void> {
  step = 0;
  const taskId = await user.ask(newThread(), 'Hello?');
  await user.stream(taskId);
  const { status, error } = await user.ended(taskId);
  if (status !== 'completed' || step !== steps) throw new Error(`a run of the benchmark is ${status}: ${error}`);
}

const db = rig.media.database.queries<StepTables>();
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

async function writeOnce(): Promise<void> {
  const journal = openJournal(db, await openRow());
  for (let at = 1; at <= steps; at++) {
    const toolCallId = `call_${at}`;
    if (at < steps) {
      await journal.callStarted({ toolCallId, name: 'recallMemory' });
      await journal.callFinished(toolCallId, { output: { memories: [] } });
    }
    await journal.stepFinished({ step: at, parts: shown, usage, answeredBy: null });
  }
}

serve({
  open: async () => ({ url: rig.url, headers: user.credential }),
  say: () => (isJournalAlone ? writeOnce() : runOnce()),
  close: () => rig.close(),
});
