import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answerTo } from '#local/model/model.ts';
import type { ScriptedAnswer, ToolCall } from '../../../test/agent/provider.fixture.ts';
import { type Chatter, newThread } from '../../../test/agent/rig.fixture.ts';
import { calling, imageAnswer, type ScriptedRig, startScripted } from '../../../test/agent/scripted.fixture.ts';
import { messagesOf } from '../../../test/agent/wire.fixture.ts';
import { makeImage } from '../../../test/media/images.fixture.ts';

let rig: ScriptedRig;
let user: Chatter;
beforeAll(async () => {
  rig = await startScripted();
  user = await rig.user('pro', 10_000);
  rig.provider.on('a bee', imageAnswer(await makeImage('png', { seed: 1 })));
  rig.provider.on('a cow', imageAnswer(await makeImage('png', { seed: 2 })));
  rig.provider.on('an elk', imageAnswer(await makeImage('png', { seed: 3 })));
});
afterAll(() => rig.close());

const draw = (prompt: string, id = 'call_0'): ToolCall => ({ id, name: 'generateImage', args: { prompt } });
const done: ScriptedAnswer = { text: 'There.' };
const assetsOf = (tools: readonly object[]) =>
  tools.map((part) => Reflect.get(Object(Reflect.get(part, 'output')), 'assetId'));

describe('a model that restarts the numbers of its calls at each step', () => {
  it.each([
    ['step after step', [{ calls: [draw('a bee')] }, { calls: [draw('a cow')] }, { calls: [draw('an elk')] }, done]],
    ['in one step', [{ calls: [draw('a bee'), draw('a cow')] }, { calls: [draw('an elk')] }, done]],
    ['in a name of ours', [{ calls: [draw('a bee'), draw('a cow', 'call_0-2')] }, { calls: [draw('an elk')] }, done]],
  ] satisfies readonly (readonly [string, readonly ScriptedAnswer[]])[])(
    '%s: each image is its own, and is paid',
    async (_title, script) => {
      const before = await rig.credits(user);
      const { status, tools, taskId, threadId } = await rig.runScript(user, script);
      expect([status, before - (await rig.credits(user))]).toEqual(['completed', 7]);
      expect(tools.map(({ input }) => (input as { prompt: string }).prompt)).toEqual(['a bee', 'a cow', 'an elk']);
      const assets = assetsOf(tools);
      expect(new Set(assets).size).toBe(3);
      expect(assets.every((assetId) => typeof assetId === 'string')).toBe(true);
      expect(new Set(tools.map(({ toolCallId }) => toolCallId)).size).toBe(3);
      // The stream contains the same.
      const { events } = await user.stream(taskId);
      const shown = events.flatMap(({ data }) => (data.type === 'tool-output-available' ? [data] : []));
      expect(new Set(assetsOf(shown))).toEqual(new Set(assets));
      // The next request to the provider names results like their calls.
      const request = JSON.stringify(rig.provider.requests.at(-1)?.body);
      for (const { toolCallId } of tools) expect(request.split(`"${toolCallId}"`).length).toBe(3);
      expect((await rig.runScript(user, [done], threadId)).status).toBe('completed');
    },
  );
});

describe('failed calls are reported to the model and shown as errors; the run continues', () => {
  const noPrompt = { type: 'tool-generateImage', errorText: 'The arguments do not match the schema of generateImage.' };
  it.each([
    ['no arguments', 'generateImage', {}, noPrompt],
    ['arguments of a wrong type', 'generateImage', { prompt: 5 }, noPrompt],
    ['an empty prompt', 'generateImage', { prompt: '' }, noPrompt],
    ['a prompt that is too long', 'generateImage', { prompt: 'a'.repeat(4001) }, noPrompt],
    ['a ratio that there is not', 'generateImage', { prompt: 'a bee', ratio: '7:1' }, noPrompt],
    ['what is no JSON', 'generateImage', '{"prompt": "a b', noPrompt],
    ['a list', 'generateImage', [], noPrompt],
    ['an assetId that is none', 'editImage', { prompt: 'x', assetId: '../1' }, { type: 'tool-editImage' }],
    ['a wrong ratio', 'generateVideo', { prompt: 'x', ratio: 'wide' }, { type: 'tool-generateVideo' }],
    ['nothing to remember', 'saveMemory', { content: '' }, { type: 'tool-saveMemory' }],
    ['a kind that there is not', 'saveMemory', { content: 'x', type: 'secret' }, { type: 'tool-saveMemory' }],
    ['no question', 'recallMemory', { question: 'x' }, { type: 'tool-recallMemory' }],
    ['a tool that there is not', 'dropTables', { all: true }, { errorText: 'There is no tool named dropTables.' }],
  ] as const)('%s', async (_title, name, args, expected) => {
    const before = await rig.credits(user);
    const { status, tools, answer, threadId } = await rig.runScript(user, calling(name, args));
    expect([status, before - (await rig.credits(user))]).toEqual(['completed', 1]);
    expect(tools).toEqual([expect.objectContaining({ state: 'output-error', ...expected })]);
    expect(String(tools[0]?.errorText)).toMatch(
      /^(The arguments do not match the schema of|There is no tool named) \w+\.$/,
    );
    expect(answer?.parts.at(-1)).toMatchObject({ type: 'text', text: 'So be it.' });
    // The next turn can refer to it.
    expect((await rig.runScript(user, [done], threadId)).status).toBe('completed');
  });

  it('does not delay the other calls', async () => {
    const calls = [draw('a bee', 'c1'), { id: 'c2', name: 'saveMemory', args: {} }];
    const { status, tools } = await rig.runScript(user, [{ calls }, done]);
    expect(status).toBe('completed');
    expect(tools.map(({ type, state }) => [type, state])).toEqual([
      ['tool-generateImage', 'output-available'],
      ['tool-saveMemory', 'output-error'],
    ]);
  });

  it('NUL and lone surrogates in arguments and names are left out', async () => {
    const args = '{"content":"tea\\u0000 at \\ud83d five"}';
    const { status, tools } = await rig.runScript(user, [{ calls: [{ id: 'a\0b', name: 'saveMemory', args }] }, done]);
    expect(status).toBe('completed');
    expect(tools[0]).toMatchObject({
      toolCallId: 'ab',
      output: { status: 'completed', content: 'tea at \ufffd five' },
    });
    expect(rig.memories.at(-1)).toBe('tea at \ufffd five');
  });
});

describe('a model that keeps calling tools', () => {
  it('stops after 8 steps: the run is completed, and its results are stored and charged', async () => {
    const before = await rig.credits(user);
    const { status, answer, tools } = await rig.runScript(user, [{ calls: [draw('a bee')] }]);
    expect([status, answer?.metadata.finishReason]).toEqual(['completed', 'max-steps']);
    expect(tools).toHaveLength(8);
    expect(new Set(assetsOf(tools)).size).toBe(8);
    expect(before - (await rig.credits(user))).toBe(17);
  });
});

describe('the memory tools', () => {
  it('save and recall memories of the memory service, which every turn receives', async () => {
    const saved = await rig.runScript(user, calling('saveMemory', { content: 'I live in Ghent', type: 'episodic' }));
    expect(saved.tools[0]?.output).toEqual({
      status: 'completed',
      memoryId: expect.any(String),
      deduplicated: false,
      content: 'I live in Ghent',
    });
    const recalled = await rig.runScript(user, calling('recallMemory', { query: 'home' }), newThread());
    expect(recalled.tools[0]?.output).toMatchObject({ status: 'completed' });
    expect(Reflect.get(Object(recalled.tools[0]?.output), 'memories')).toContain('I live in Ghent');
    const [instructions] = rig.provider.requests.slice(-1).flatMap(messagesOf);
    expect(answerTo('', [], String(instructions?.content))).toMatch(/I was reminded of: .*I live in Ghent\./);
  });
});
