/** Runs against the wires of providers, as their documentation has them (docs/providers.md). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ModelEntry } from '#agent/modelsfile.ts';
import { version } from '#platform/version.ts';
import { compatibleCases } from '../../../test/agent/providers/compatible.fixture.ts';
import { packageCases } from '../../../test/agent/providers/packages.fixture.ts';
import { startWireServer, type WireServer } from '../../../test/agent/providers/wire.fixture.ts';
import { type AgentRig, type Message, modelsOf, newThread, startAgent } from '../../../test/agent/rig.fixture.ts';
import { providerKey } from '../../../test/agent/scripted.fixture.ts';
import { embedded } from '../../../test/media/rig.fixture.ts';

const cases = [...compatibleCases, ...packageCases].map((wire, index) => ({ ...wire, id: `wire-${index}-` }));

let server: WireServer;
let rig: AgentRig;
beforeAll(async () => {
  server = await startWireServer();
  const file = cases.map(
    ({ id, provider, path, entry }): ModelEntry => ({
      ...entry,
      id,
      model: id,
      baseUrl: server.url + path,
      apiKeyEnv: 'KEY',
      ...(provider && { provider }),
    }),
  );
  file.push({ id: 'keyless', provider: 'google', model: 'keyless', baseUrl: server.url });
  rig = await startAgent(embedded, { model: modelsOf({ file }), readKey: () => providerKey });
});
afterAll(async () => {
  await rig.close();
  server.close();
});

const textOf = (message: Message | undefined, type: string) =>
  (message?.parts ?? []).flatMap((part) => (part.type === type ? [String(part.text)] : [])).join('');

describe.concurrent('the wire of', () => {
  it.each(cases)('$title', async ({ id, answers, request, expected, title, question = title, sent = {} }) => {
    server.on(id, ...answers);
    const user = await rig.user('pro', 100);
    const threadId = newThread();
    const { body } = await user.call('POST', '/task', { threadId, text: question, model: id });
    const { status, error } = await user.ended(String(body.taskId));
    const answer = (await user.messages(threadId)).find(({ role }) => role === 'assistant');
    const tool = answer?.parts.find(({ type }) => type === 'tool-recallMemory');
    const requests = server.requests.filter(
      ({ path, body: sent }) => path.includes(id) || Reflect.get(Object(sent), 'model') === id,
    );
    expect({ status, error }).toEqual({ status: expected.status, error: expected.error ?? error });
    expect(textOf(answer, 'text')).toBe(expected.text ?? '');
    if (expected.reasoning !== undefined) expect(textOf(answer, 'reasoning')).toBe(expected.reasoning);
    if (expected.finishReason !== undefined) expect(answer?.metadata.finishReason).toBe(expected.finishReason);
    if (expected.usage !== undefined) expect(answer?.metadata.usage).toEqual(expected.usage);
    if (expected.toolInput !== undefined)
      expect(tool).toMatchObject({ state: 'output-available', input: expected.toolInput });
    if (expected.requests !== undefined) expect(requests).toHaveLength(expected.requests);
    expect(requests[0]?.headers['user-agent']).toBe(`Atelier/${version}`);
    const last = JSON.stringify(requests.at(-1)?.body);
    for (const text of sent.includes ?? []) expect(last).toContain(text);
    for (const text of sent.excludes ?? []) expect(last).not.toContain(text);
    // Error messages of providers are never shown.
    expect(JSON.stringify([error, answer])).not.toContain('secret');
    if (request === undefined) return;
    expect(requests[0]?.path).toContain(request.path);
    expect(requests[0]).toMatchObject({ headers: request.headers ?? {}, body: request.body ?? {} });
  });
});

it('a package without a key fails the run and names the reason', async () => {
  const user = await rig.user('pro', 100);
  const { body } = await user.call('POST', '/task', { threadId: newThread(), text: 'Hello.', model: 'keyless' });
  const { status, error } = await user.ended(String(body.taskId));
  expect([status, error]).toEqual(['failed', 'The model provider needs a key.']);
});

it('sends the reasoning of a call back to DeepSeek in the next run', async () => {
  const { id } = cases.find(({ title }) => title.startsWith('DeepSeek: comments')) ?? { id: '' };
  const answers = cases.find((wire) => wire.id === id)?.answers ?? [];
  server.on(id, ...answers);
  const user = await rig.user('pro', 100);
  const threadId = newThread();
  for (const text of ['What do I like?', 'And what else?']) {
    const { body } = await user.call('POST', '/task', { threadId, text, model: id });
    expect((await user.ended(String(body.taskId))).status).toBe('completed');
  }
  const last = server.requests.findLast(({ body }) => Reflect.get(Object(body), 'model') === id);
  expect(JSON.stringify(last?.body)).toContain('"reasoning_content":"I should look."');
});
