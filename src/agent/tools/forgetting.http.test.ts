/** "Forget that …" and "What do you know about me?", with a real memory service. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Memory } from '#memory/api.ts';
import { createClient, type HttpClient } from '#platform/http/client.ts';
import { type Provider, startProvider } from '../../../test/agent/provider.fixture.ts';
import { type AgentRig, type Chatter, modelsOf, newThread, startAgent } from '../../../test/agent/rig.fixture.ts';
import { laneEngines } from '../../../test/database.fixture.ts';
import { embedded } from '../../../test/media/rig.fixture.ts';
import { type MemoryRig, startMemory, testInternalKey } from '../../../test/memory/rig.fixture.ts';
import type { ThreadBranches } from '../api.ts';
import { clearMatch } from './memories.ts';

let rig: AgentRig;
let memory: MemoryRig;
let client: HttpClient;
let provider: Provider;
let scriptedUrl: string;
beforeAll(async () => {
  const [engine] = laneEngines;
  if (engine === undefined) throw new Error('there is no database engine');
  memory = await startMemory(engine);
  const options = { name: 'memory', baseUrl: memory.url, isInternal: true, internalKey: testInternalKey };
  client = createClient({ ...options, timeoutMs: 10_000 });
  provider = await startProvider();
  rig = await startAgent(embedded, { memory: client });
  const scripted = await rig.another({
    model: modelsOf({ url: provider.url, names: ['a-model'] }),
    pace: { leaseMs: 60_000 },
  });
  scriptedUrl = scripted.url;
});
afterAll(async () => {
  await rig.close();
  await client.close();
  await memory.close();
  provider.close();
});

const say = async (user: Chatter, text: string) => {
  const threadId = newThread();
  const taskId = await user.ask(threadId, text);
  expect((await user.ended(taskId)).status).toBe('completed');
  const answer = (await user.messages(threadId)).find(({ role }) => role === 'assistant');
  return {
    text: answer?.parts.map((part) => part.text ?? '').join('') ?? '',
    output: answer?.parts.find(({ type }) => type.startsWith('tool-'))?.output as Record<string, unknown> | undefined,
  };
};
const memoriesOf = async ({ userId }: Chatter) => {
  const query = new URLSearchParams({ entity_id: userId, entity_type: 'user' });
  const { body } = await memory.server.send<{ memories: Memory[] }>('GET', `/memories?${query}`);
  return body.memories;
};
const add = async ({ userId }: Chatter, content: string) => {
  const body = { entity_id: userId, entity_type: 'user', content, type: 'preference' };
  return (await memory.server.send<{ id: string }>('POST', '/memory/add', body)).body.id;
};

it('answers "What do you know about me?" from the memory', async () => {
  const user = await rig.user();
  await say(user, 'remember that my favourite lens is the 35mm Summilux');
  expect((await say(user, 'What do you know about me?')).text).toContain('35mm Summilux');
});

it('"Forget that …" deletes the memory', async () => {
  const user = await rig.user();
  await say(user, 'remember that my favourite lens is the 35mm Summilux');
  await add(user, 'I keep bees');
  const { text, output } = await say(user, 'Forget that my favourite lens is the 35mm Summilux.');
  expect(output).toMatchObject({ status: 'completed', forgotten: 'my favourite lens is the 35mm Summilux' });
  expect(text).toContain('I forgot');
  expect((await memoriesOf(user)).map(({ content }) => content)).toEqual(['I keep bees']);
});

it('a fact stays in the memory when an edit moves its message to another version', async () => {
  const user = await rig.user();
  const threadId = newThread();
  const tell = async (id: string, text: string, rewindTo?: string) => {
    const message = { id, role: 'user', parts: [{ type: 'text', text }] };
    const { body } = await user.call('POST', '/task', { threadId, message, rewindTo });
    expect((await user.ended(String(body.taskId))).status).toBe('completed');
  };
  await tell('earlier', 'hello');
  await tell('later', 'remember that I like warm colors');
  const before = await user.messages(threadId);
  await tell('earlier', 'hello again', 'earlier');
  expect((await user.messages(threadId)).map(({ id }) => id)).not.toContain('later');
  expect((await memoriesOf(user)).map(({ content }) => content)).toEqual(['I like warm colors']);
  const { body } = await user.call<ThreadBranches>('GET', `/threads/${threadId}/branches`);
  await user.call('POST', `/threads/${threadId}/branches/${body.forks[0]?.branches[0]?.branchId}`);
  expect(await user.messages(threadId)).toEqual(before);
});

describe('the tool of a language model', () => {
  let runs = 0;
  const call = async (user: Chatter, args: object) => {
    runs += 1;
    const word = `<forgetting ${runs}>`;
    provider.on(word, { calls: [{ id: 'call_0', name: 'forgetMemory', args }] }, { text: 'Done.' });
    return (await say(rig.at(scriptedUrl, user), word)).output;
  };

  it('deletes nothing if several match, and then the memory with the id', async () => {
    const user = await rig.user();
    const green = await add(user, 'I like green tea in the morning');
    const black = await add(user, 'I like black tea after lunch');
    const output = await call(user, { query: 'tea' });
    expect(output).toMatchObject({ candidates: expect.arrayContaining([expect.objectContaining({ id: green })]) });
    expect(await memoriesOf(user)).toHaveLength(2);
    expect(await call(user, { query: 'tea', memoryId: black })).toMatchObject({ memoryId: black });
    expect(await memoriesOf(user)).toMatchObject([{ id: green }]);
  });

  it('deletes no memory of another user', async () => {
    const [user, other] = [await rig.user(), await rig.user()];
    const foreign = await add(other, 'I keep bees');
    const output = await call(user, { query: 'I keep bees', memoryId: foreign });
    expect(output).toEqual({ status: 'completed', candidates: [] });
    expect(await memoriesOf(other)).toMatchObject([{ id: foreign }]);
  });
});

it.each([
  ['tea', ['I like tea', 'I keep bees'], 'I like tea'],
  ['I like tea', ['I like tea', 'I like tea in the morning'], 'I like tea'],
  ['That I like TEA!', ['I like tea', 'I keep bees'], 'I like tea'],
  ['tea', ['I like tea', 'Tea is bitter'], undefined],
  ['me', ['Call me Tom'], undefined],
  ['my address', ['I like tea'], undefined],
  ['我喜欢茶', ['我喜欢茶', '我喜欢咖啡'], '我喜欢茶'],
  ['', ['I like tea'], undefined],
])('%j of %j clearly means %j', (query, contents, match) => {
  const candidates = contents.map((content, place) => ({ id: String(place), content }));
  expect(clearMatch(query, candidates)?.content).toBe(match);
});

it('a run without memory neither reads nor saves any, and says so in its answer', async () => {
  const user = await rig.user();
  await add(user, 'I like warm colors');
  provider.on('which colors', { text: 'I do not know.' });
  const ask = async (memory?: boolean) => {
    const chatter = rig.at(scriptedUrl, user);
    const body = { threadId: newThread(), text: 'which colors do I like?', memory };
    const { body: started } = await chatter.call('POST', '/task', body);
    await chatter.ended(String(started.taskId));
    const [, answer] = await chatter.messages(body.threadId);
    return { sent: JSON.stringify(provider.requests.at(-1)?.body), metadata: answer?.metadata };
  };
  const usual = await ask();
  expect(usual.sent).toContain('I like warm colors');
  expect(usual.sent).toContain('saveMemory');
  expect(usual.metadata).not.toHaveProperty('memory');
  const without = await ask(false);
  expect(without.sent).not.toMatch(/warm colors|saveMemory|recallMemory|forgetMemory/);
  expect(without.metadata).toMatchObject({ memory: false });
  expect((await memoriesOf(user)).map(({ content }) => content)).toEqual(['I like warm colors']);
});
