import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { version } from '#platform/version.ts';
import type { ScriptedAnswer } from '../../../test/agent/provider.fixture.ts';
import type { Chatter } from '../../../test/agent/rig.fixture.ts';
import { impatient, json, providerKey, type ScriptedRig, startScripted } from '../../../test/agent/scripted.fixture.ts';

let rig: ScriptedRig;
/** For what never comes. */
let hasty: ScriptedRig;
let user: Chatter;
beforeAll(async () => {
  [rig, hasty] = await Promise.all([startScripted(), startScripted(impatient)]);
  user = await rig.user('pro', 10_000);
});
afterAll(() => Promise.all([rig.close(), hasty.close()]));

const textOf = (parts: readonly { readonly type: string }[] = []) =>
  parts.flatMap((part) => (part.type === 'text' ? [String(Reflect.get(part, 'text'))] : [])).join('');
const sse = (body: string): ScriptedAnswer => ({ answer: { type: 'text/event-stream', body } });
const begun = 'data: {"id":"1","choices":[{"index":0,"delta":{"content":"Half a sen"}}]}\n\n';
const brokeOff = 'The model stopped in the middle of its answer.';

describe.concurrent('a failed model provider fails the run with a reason, for free', () => {
  it.each([
    ['401', json({ error: { message: 'bad key sk-123' } }, 401), 'The model provider rejected the credentials (401).'],
    ['403', json({}, 403), 'The model provider rejected the credentials (403).'],
    ['400', json({ error: { message: 'no such model' } }, 400), 'The model provider returned 400.'],
    ['404', { answer: { status: 404, body: 'nginx' } }, 'The model provider returned 404.'],
    ['429, again and again', json({}, 429), 'The model provider is busy (429).'],
    ['500, again and again', json({}, 500), 'The model provider returned 500.'],
    ['a web page', { answer: { type: 'text/html', body: '<html>' } }, /./],
    ['garbage for events', sse('data: {"choi\n\ndata: nonsense\n\ndata: [DONE]\n\n'), /./],
    ['events of another kind', sse('data: {"hello":1}\n\ndata: [DONE]\n\n'), /./],
    ['nothing', sse(''), /./],
    ['only its end', sse('data: [DONE]\n\n'), /./],
  ] satisfies readonly (readonly [string, ScriptedAnswer, string | RegExp])[])(
    '%s',
    async (_title, scripted, reason) => {
      const poor = await rig.user('free', 5);
      const { status, error, taskId } = await rig.runScript(poor, [scripted]);
      expect(status).toBe('failed');
      if (typeof reason === 'string') expect(error).toBe(reason);
      // The public sentence contains no URL, no key and no text of the provider.
      expect(error).toMatch(/^The model (provider )?[a-z][^:/]*\.$/);
      expect(await rig.credits(poor)).toBe(5);
      const { events, done } = await poor.stream(taskId);
      expect([events.at(-1)?.data, done]).toEqual([{ type: 'error', errorText: error }, true]);
    },
  );

  it('stops in the middle of a word: the shown part is stored', async () => {
    const { status, error, answer } = await rig.runScript(user, [{ half: 'Half a sen' }]);
    expect([status, error, textOf(answer?.parts)]).toEqual(['failed', brokeOff, 'Half a sen']);
    expect(answer?.metadata).toMatchObject({ status: 'failed', error: brokeOff });
  });

  it.each([
    ['without a byte', { hang: true }, ''],
    ['after its head', { answer: { type: 'text/event-stream', stall: true } }, ''],
    ['in the middle of a word', { answer: { type: 'text/event-stream', body: begun, stall: true } }, 'Half a sen'],
  ] satisfies readonly (readonly [string, ScriptedAnswer, string])[])('hangs %s', async (_title, scripted, shown) => {
    const waiting = await hasty.user('pro', 5);
    const { status, error, answer } = await hasty.runScript(waiting, [scripted]);
    expect([status, error, textOf(answer?.parts)]).toEqual(['failed', 'The model stopped responding.', shown]);
    expect(await hasty.credits(waiting)).toBe(5);
  });

  it('answers an error in its stream', async () => {
    const { status, error } = await rig.runScript(user, [sse('data: {"error":{"message":"secret sk-1"}}\n\n')]);
    expect([status, error]).toEqual(['failed', 'The model provider failed.']);
  });

  it('fails after a tool was carried out: the tool stays in the message', async () => {
    const call = { id: 'c', name: 'recallMemory', args: { query: 'x' } };
    const { status, tools } = await rig.runScript(user, [{ calls: [call] }, json({}, 400)]);
    expect(status).toBe('failed');
    expect(tools[0]).toMatchObject({ type: 'tool-recallMemory', state: 'output-available' });
  });

  it('is busy once, and answers then', async () => {
    const { status, answer } = await rig.runScript(user, [json({}, 429), json({}, 503), { text: 'Here I am.' }]);
    expect([status, textOf(answer?.parts)]).toEqual(['completed', 'Here I am.']);
  });
});

describe('a model provider that works', () => {
  it('receives its key, the model, the tools and the conversation', async () => {
    const { threadId, answer } = await rig.runScript(user, [{ text: 'One.' }]);
    await rig.runScript(user, [{ text: 'Two.' }], threadId);
    const { authorization, userAgent, path, body } = rig.provider.requests.at(-1) ?? {};
    expect([path, authorization]).toEqual(['/v1/chat/completions', `Bearer ${providerKey}`]);
    expect(userAgent).toBe(`Atelier/${version}`);
    const { model, stream, tools, messages } = body as Record<string, { function: { name: string } }[]>;
    expect([model, stream]).toEqual(['a-model', true]);
    expect(tools?.map((tool) => tool.function.name).sort()).toEqual(
      ['generateImage', 'editImage', 'generateVideo', 'recallMemory', 'saveMemory', 'forgetMemory'].sort(),
    );
    expect((messages as unknown as { role: string }[]).map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'user',
    ]);
    expect(answer?.metadata).toMatchObject({ model: 'a-model', status: 'completed', finishReason: 'stop' });
    expect(answer?.metadata).not.toHaveProperty('simulated');
  });

  it('answers under the names of MODEL_NAME, and no other', async () => {
    const body = { threadId: 'models', text: 'x' };
    const refused = await user.call<{ issues: { path: string }[] }>('POST', '/task', { ...body, model: 'other' });
    expect([refused.status, refused.body.issues[0]?.path]).toEqual([400, 'body.model']);
    const taken = await user.call('POST', '/task', { ...body, model: 'a-model' });
    expect(taken.status).toBe(201);
    await user.ended(String(taken.body.taskId));
  });

  it('returns an answer of a megabyte with all kinds of Unicode characters', async () => {
    const text = 'Ünïcode 🦔 \u2028 "quoted" \\ '.repeat(50_000);
    const { status, answer } = await rig.runScript(user, [{ text: `${text}\0` }]);
    expect(status).toBe('completed');
    expect(textOf(answer?.parts) === text).toBe(true);
  });

  it('exceeds the limit of a stream: the run fails, with the shown part', async () => {
    const { status, error, answer } = await rig.runScript(user, [{ text: 'x'.repeat(17 * 1024 * 1024) }]);
    expect([status, error]).toEqual(['failed', 'The answer is too long.']);
    expect(textOf(answer?.parts).length).toBeGreaterThan(1_000_000);
  });
});
