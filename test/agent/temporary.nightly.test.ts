/** A temporary thread and a paused memory, in the program: killed in the midst, and started again. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newLanePlace, type Place } from '../acceptance/running.fixture.ts';
import { startTestIssuer, type TestIssuer } from '../platform/tokenissuer.fixture.ts';
import { type Instance, startInstance, userAt } from './instances.fixture.ts';
import { newThread } from './rig.fixture.ts';

let place: Place;
let issuer: TestIssuer;
let instance: Instance | undefined;

beforeAll(async () => {
  [place, issuer] = await Promise.all([newLanePlace(), startTestIssuer()]);
});
afterAll(async () => {
  await instance?.kill();
  await issuer.close();
  await place.remove();
});

it('a temporary thread stays temporary and a paused memory stays paused after kill -9', {
  timeout: 180_000,
}, async () => {
  const userId = randomUUID();
  const entity = { entity_id: userId, entity_type: 'user' };
  const start = async () => {
    instance = await startInstance(place.portBase, { ...place.env, JWKS_URL: issuer.jwksUrl }, ['agent', 'memory']);
    const memory = `http://127.0.0.1:${place.portBase + 5}`;
    return { agent: await userAt(issuer, instance.url, userId), memory: await userAt(issuer, memory, userId) };
  };
  let { agent, memory } = await start();
  const threadId = newThread();
  const ask = (text: string, more: object) => agent.call('POST', '/task', { threadId, text, ...more });
  const known = async () =>
    (await memory.call<{ memories: { content: string }[] }>('GET', '/memories')).body.memories.map(
      ({ content }) => content,
    );
  const fact = { ...entity, content: 'I like tea', type: 'preference', thread_id: threadId };
  expect((await memory.call('POST', '/memory/add', fact)).status).toBe(201);
  const begun = await ask('/slow 40', { temporary: true });
  expect(begun.status).toBe(201);
  const paused = await memory.call('PATCH', `/entities/user/${userId}`, { paused: true });
  expect(paused.status).toBe(200);
  await instance?.kill();

  ({ agent, memory } = await start());
  expect((await agent.ended(String(begun.body.taskId))).status).toBe('completed');
  const thread = (await agent.call('GET', `/threads/${threadId}`)).body;
  expect(thread).toMatchObject({ temporary: true, messageCount: 2 });
  expect((await agent.call<{ threads: unknown[] }>('GET', '/threads')).body.threads).toEqual([]);
  expect((await ask('hi', { temporary: false })).status).toBe(400);
  expect((await memory.call('GET', `/entities/user/${userId}`)).body).toEqual(paused.body);
  const added = await memory.call('POST', '/memory/add', { ...fact, content: 'I like jazz' });
  expect([added.status, added.body.error]).toEqual([409, 'memory_paused']);

  // The offline model saves what it is asked to remember, where it has the tool.
  const saving = await ask('remember that I keep bees', {});
  await agent.ended(String(saving.body.taskId));
  await memory.call('PATCH', `/entities/user/${userId}`, { paused: false });
  const again = await ask('remember that I keep owls', {});
  await agent.ended(String(again.body.taskId));
  expect(await known()).toEqual(['I like tea']);
  const other = await agent.ask(newThread(), 'remember that I keep hens');
  await agent.ended(other);
  expect((await known()).toSorted()).toEqual(['I keep hens', 'I like tea']);
});
