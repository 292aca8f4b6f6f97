/** Memories that are extracted after runs, with a real memory service whose language model a test scripts. */
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Memory } from '#memory/api.ts';
import { transaction } from '#platform/db/db.ts';
import { type ActingClient, createClient, type HttpClient } from '#platform/http/client.ts';
import type { JobTables } from '#platform/jobs/jobs.ts';
import { reviveDead } from '#platform/jobs/operatorstore.ts';
import { type Chatter, newThread, testSettings } from '../../../test/agent/rig.fixture.ts';
import { type ScriptedRig, startScripted } from '../../../test/agent/scripted.fixture.ts';
import { refusal } from '../../../test/agent/wire.fixture.ts';
import { laneEngines } from '../../../test/database.fixture.ts';
import { type ModelServer, startModelServer } from '../../../test/memory/modelserver.fixture.ts';
import { languageModelAt, type MemoryRig, startMemory, testInternalKey } from '../../../test/memory/rig.fixture.ts';
import { extractionQueue } from './extracting.ts';

let rig: ScriptedRig;
let memory: MemoryRig;
let model: ModelServer;
let client: HttpClient;
/** Called before each extraction. */
let onExtraction: () => Promise<void>;
beforeAll(async () => {
  const [engine] = laneEngines;
  if (engine === undefined) throw new Error('there is no database engine');
  model = await startModelServer();
  memory = await startMemory(engine, { languageModel: await languageModelAt(model.url) });
  client = createClient({
    name: 'memory',
    baseUrl: memory.url,
    isInternal: true,
    internalKey: testInternalKey,
    timeoutMs: 10_000,
  });
  const watched: ActingClient = {
    send: async (call) => {
      if (call.route === '/memory/extract') await onExtraction();
      return client.send(call);
    },
  };
  rig = await startScripted({
    changes: { memory: watched },
    settings: { extractMemories: true },
    // The model of memories is one of the agent's, as by default.
    file: (baseUrl) => [
      { id: 'a-model', baseUrl, model: 'a-model' },
      { id: 'a-judge', baseUrl, model: 'a-judge', costUsd: { input: 2, output: 10 } },
    ],
  });
});
afterAll(async () => {
  await rig.close();
  await client.close();
  await memory.close();
  model.close();
});
beforeEach(() => {
  onExtraction = async () => undefined;
  model.handle(({ purpose, messages }) => {
    if (purpose === 'judge') return { json: { verdicts: [] } };
    const content = `I said ${messages[0]?.content}`;
    return { json: { memories: [{ content, type: 'episodic' }] } };
  });
});

const memoriesOf = async ({ userId }: Chatter) => {
  const query = new URLSearchParams({ entity_id: userId, entity_type: 'user' });
  return (await memory.server.send<{ memories: Memory[] }>('GET', `/memories?${query}`)).body.memories;
};
const requestsWith = (text: string) =>
  model.requests.filter(({ messages }) => messages.some(({ content }) => content.includes(text)));

describe('after a completed run', () => {
  it('the question and the answer are extracted for the user', async () => {
    const user = await rig.user();
    const threadId = newThread();
    rig.provider.on('<bees>', { text: 'How nice.' });
    await rig.runText(user, threadId, 'I keep <bees>');
    await expect.poll(async () => (await memoriesOf(user)).length).toBe(1);
    expect(await memoriesOf(user)).toMatchObject([
      { content: 'I said I keep <bees>', entity_id: user.userId, added_by: 'model', thread_id: threadId },
    ]);
    expect(requestsWith('<bees>').map(({ messages }) => messages)).toEqual([
      [
        { role: 'user', content: 'I keep <bees>' },
        { role: 'assistant', content: 'How nice.' },
      ],
    ]);
  });

  it('counts the tokens and what they cost the operator, but no run and no credits', async () => {
    const user = await rig.user('pro', 10);
    rig.provider.on('<goats>', { text: 'How nice.' });
    await rig.runText(user, newThread(), 'I keep <goats>');
    const usageOf = async () =>
      (await user.call<{ days: { model: string }[] }>('GET', '/usage')).body.days.find(
        (day) => day.model === 'a-judge',
      );
    await expect.poll(usageOf).toMatchObject({ runs: 0, inputTokens: 40, outputTokens: 8, credits: 0 });
    expect(await rig.credits(user)).toBe(9);
    const { body } = await rig.server.call<{ users: { userId: string; costUsd: number }[] }>('GET', '/usage/users');
    const cost = body.users.find(({ userId }) => userId === user.userId)?.costUsd;
    expect(cost).toBeCloseTo((40 * 2 + 8 * 10) / 1_000_000, 9);
  });

  it('nothing is extracted or told while the user has paused the memory', async () => {
    const user = await rig.user();
    rig.provider.on('<hens>', { text: 'How nice.' });
    await rig.runText(user, newThread(), 'I keep <hens>');
    await expect.poll(async () => (await memoriesOf(user)).length).toBe(1);
    const pause = (paused: boolean) => memory.server.send('PATCH', `/entities/user/${user.userId}`, { paused });
    await pause(true);
    rig.provider.on('<bats>', { text: 'How nice.' });
    await rig.runText(user, newThread(), 'I keep <bats>');
    // Extractions come in their order.
    rig.provider.on('<ends>', { text: 'How nice.' });
    await rig.runText(await rig.user(), newThread(), 'The <ends>');
    await expect.poll(() => requestsWith('<ends>').length).toBe(1);
    expect(requestsWith('<bats>')).toEqual([]);
    const asked = rig.provider.requests.find((request) => JSON.stringify(request).includes('<bats>'));
    expect([asked === undefined, JSON.stringify(asked).includes('<hens>')]).toEqual([false, false]);
    const days = async () =>
      (await user.call<{ days: { model: string; inputTokens: number }[] }>('GET', '/usage')).body;
    expect((await days()).days.find(({ model }) => model === 'a-judge')?.inputTokens).toBe(40);
    await pause(false);
    expect((await memoriesOf(user)).length).toBe(1);
  });

  it('a temporary thread leaves no memory, and its model gets none', async () => {
    const user = await rig.user();
    rig.provider.on('<swans>', { text: 'How nice.' });
    await rig.runText(user, newThread(), 'I keep <swans>');
    await expect.poll(async () => (await memoriesOf(user)).length).toBe(1);
    const threadId = newThread();
    rig.provider.on('<crabs>', { text: 'How nice.' });
    const started = await user.call('POST', '/task', {
      threadId,
      text: 'I keep <crabs>',
      temporary: true,
      memory: true,
    });
    await user.ended(String(started.body.taskId));
    // It stays without memory, whatever later requests have.
    rig.provider.on('<moles>', { text: 'How nice.' });
    await rig.runText(user, threadId, 'I keep <moles>');
    rig.provider.on('<last>', { text: 'How nice.' });
    await rig.runText(await rig.user(), newThread(), 'The <last>');
    await expect.poll(() => requestsWith('<last>').length).toBe(1);
    expect([...requestsWith('<crabs>'), ...requestsWith('<moles>')]).toEqual([]);
    const asked = rig.provider.requests.filter((request) => /<crabs>|<moles>/.test(JSON.stringify(request)));
    expect(asked).toHaveLength(2);
    expect(JSON.stringify(asked)).not.toMatch(/<swans>|saveMemory|recallMemory/);
    expect((await user.messages(threadId)).map(({ metadata }) => metadata.memory)).toEqual([
      undefined,
      false,
      undefined,
      false,
    ]);
  });

  it('the end of the run does not wait for it, and it is retried after a failure', async () => {
    const user = await rig.user();
    rig.provider.on('<ducks>', { text: 'How nice.' });
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    let attempts = 0;
    onExtraction = async () => {
      attempts += 1;
      if (attempts > 1) return;
      await gate;
      throw new Error('the memory service is away');
    };
    expect((await rig.runText(user, newThread(), 'I keep <ducks>')).status).toBe('completed');
    expect(await memoriesOf(user)).toEqual([]);
    open();
    await expect.poll(async () => (await memoriesOf(user)).length, { timeout: 30_000 }).toBe(1);
  });

  it('that fails in each attempt ends as a dead job, and not as if it had succeeded', { timeout: 90_000 }, async () => {
    const user = await rig.user();
    rig.provider.on('<mice>', { text: 'How nice.' });
    onExtraction = async () => {
      throw new Error('the memory service is away');
    };
    await rig.runText(user, newThread(), 'I keep <mice>');
    const jobs = rig.media.database.queries<JobTables>();
    const ofUser = async () => {
      // The next attempt need not wait.
      await sql`update jobs set run_at = now() where lane = ${user.userId} and status = 'waiting'`.execute(jobs);
      const found = jobs.selectFrom('jobs').select(['status', 'attempt']).where('lane', '=', user.userId);
      return found.where('queue', '=', extractionQueue.name).execute();
    };
    await expect.poll(ofUser, { timeout: 50_000 }).toEqual([{ status: 'dead', attempt: 5 }]);
    expect(await memoriesOf(user)).toEqual([]);
    // The retry of an operator.
    onExtraction = async () => undefined;
    expect(await transaction(jobs, (tx) => reviveDead(tx, extractionQueue.name, 1))).toBe(1);
    await expect.poll(async () => (await memoriesOf(user)).length, { timeout: 20_000 }).toBe(1);
  });

  it('extracts nothing from a thread deleted in the meantime', async () => {
    const user = await rig.user();
    const threadId = newThread();
    rig.provider.on('<geese>', { text: 'How nice.' });
    const { promise: deleted, resolve: onDeleted } = Promise.withResolvers<void>();
    onExtraction = async () => {
      onExtraction = async () => undefined;
      await user.call('DELETE', `/threads/${threadId}`);
      onDeleted();
      throw new Error('the memory service is away');
    };
    await rig.runText(user, threadId, 'I keep <geese>');
    await deleted;
    const jobs = rig.media.database.queries<{ jobs: { queue: string; status: string } }>();
    const unfinished = async () =>
      (
        await jobs
          .selectFrom('jobs')
          .select('status')
          .where('queue', '=', 'agent/extract-memories')
          .where('status', '<>', 'done')
          .execute()
      ).length;
    await expect.poll(unfinished, { timeout: 30_000 }).toBe(0);
    expect(requestsWith('<geese>')).toEqual([]);
  });
});

it('a failed run extracts nothing', async () => {
  const user = await rig.user();
  rig.provider.on('<owls>', refusal(401));
  expect((await rig.runText(user, newThread(), 'I keep <owls>')).status).toBe('failed');
  rig.provider.on('<crows>', { text: 'How nice.' });
  await rig.runText(user, newThread(), 'I keep <crows>');
  await expect.poll(() => requestsWith('<crows>').length).toBe(1);
  expect(requestsWith('<owls>')).toEqual([]);
});

describe('AGENT_EXTRACT_MEMORIES', () => {
  it.each([
    [undefined, true, 1],
    [undefined, false, 0],
    [false, true, 0],
  ] as const)('%s, with a memory model: %s', async (extractMemories, hasMemoryModel, count) => {
    const word = `<${extractMemories} ${hasMemoryModel}>`;
    rig.provider.on(word, { text: 'How nice.' });
    const settings = { ...testSettings, extractMemories };
    const other = await rig.another({ settings, hasMemoryModel, pace: { leaseMs: 60_000 } });
    const user = rig.at(other.url, await rig.user());
    await rig.runText(user, newThread(), word);
    rig.provider.on('<end>', { text: 'How nice.' });
    await rig.runText(await rig.user(), newThread(), `the <end> of ${word}`);
    await expect.poll(() => requestsWith(`the <end> of ${word}`).length).toBe(1);
    expect(requestsWith(word).length - 1).toBe(count);
  });
});
