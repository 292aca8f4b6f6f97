/** The whole agent service in a process of its own, on embedded engines that write to disk, with a model that waits to speak. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { migrations } from '../src/app/migrations.ts';
import { openDatabase } from '../src/platform/db/open.ts';
import { createLog } from '../src/platform/log.ts';
import { newThread, startAgent } from '../test/agent/rig.fixture.ts';
import { embedded } from '../test/media/rig.fixture.ts';
import { eventsPerRun, textOfEvent } from './fanout.ts';
import { finish, modelOf } from './models.ts';
import { serve } from './peers/serving.mjs';

let started = Promise.withResolvers<void>();

async function* speak(): AsyncGenerator<LanguageModelV4StreamPart> {
  yield { type: 'stream-start', warnings: [] };
  yield { type: 'text-start', id: 't' };
  await started.promise;
  for (let index = 0; index < eventsPerRun; index++) {
    // What bears metadata is not put together with its neighbours: it is an event of its own.
    yield { type: 'text-delta', id: 't', delta: textOfEvent, providerMetadata: { bench: { index } } };
  }
  yield { type: 'text-end', id: 't' };
  yield finish;
}

const dataDir = await mkdtemp(join(tmpdir(), 'atelier-bench-'));
const log = createLog({ level: 'silent' });
const onDisk = { ...embedded, openDatabase: () => openDatabase({ url: 'embedded', dataDir, migrations, log }) };
const rig = await startAgent(onDisk, {
  offlineModel: modelOf(speak),
  pace: { maxStreamsPerUser: Number.POSITIVE_INFINITY },
});
const user = await rig.user('pro', 1000);
let taskId: string;

serve({
  async open() {
    started = Promise.withResolvers();
    taskId = await user.ask(newThread(), 'Hello?');
    return { url: `${rig.url}/stream/${taskId}`, headers: user.credential };
  },
  async say() {
    started.resolve();
    const { status, error } = await user.ended(taskId);
    if (status !== 'completed') throw new Error(`a run of the benchmark is ${status}: ${error}`);
  },
  async close() {
    await rig.close();
    await rm(dataDir, { recursive: true, force: true });
  },
});
