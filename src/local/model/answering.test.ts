import { expect, it } from 'vitest';
import { noteOf, unseenNoteOf } from '#agent/turn/history.ts';
import { answerTo, offlineModel } from './model.ts';

it('lists each memory once, and ends with one full stop', () => {
  const output = { status: 'completed', memories: ['I like boats', 'I like warm light.', 'I like boats.'] };
  const answer = answerTo('What do you know?', [{ toolName: 'recallMemory', output }], '');
  expect(answer).toBe('[offline demo model] I remember: I like boats; I like warm light.');
});

it('takes the notes of attached images for no request', async () => {
  const photo = {
    type: 'file',
    mediaType: 'image/png',
    filename: 'image.png',
    url: 'https://images.example/a',
  } as const;
  const content = [unseenNoteOf(photo), noteOf(photo), { type: 'text', text: 'What is in it?' } as const];
  const answer = await offlineModel.doGenerate({ prompt: [{ role: 'user', content }] });
  expect(answer.content).toMatchObject([{ text: expect.stringContaining('I understood: “What is in it?”') }]);
});

it('calls only the tools that the request offers', async () => {
  const content = [{ type: 'text', text: 'Remember that I like boats and draw an image of a boat' } as const];
  const prompt = [{ role: 'user' as const, content }];
  const offer = (name: string) => ({ type: 'function' as const, name, inputSchema: {} });
  const callsWith = async (...names: readonly string[]) => {
    const { stream } = await offlineModel.doStream({ prompt, tools: names.map(offer) });
    const calls: [string, unknown][] = [];
    for await (const part of stream) if (part.type === 'tool-call') calls.push([part.toolName, JSON.parse(part.input)]);
    return calls;
  };
  expect(await callsWith('saveMemory', 'generateImage')).toEqual([
    ['saveMemory', { content: 'I like boats' }],
    ['generateImage', { prompt: content[0]?.text }],
  ]);
  expect((await callsWith('generateImage')).map(([name]) => name)).toEqual(['generateImage']);
  expect(await callsWith()).toEqual([]);
});

it('names no tool, and counts the images', () => {
  const failed = { status: 'failed', failure: { code: 'memory_unavailable', message: 'The memory is not responding' } };
  const made = { status: 'completed', assetIds: ['a', 'b', 'c', 'd'] };
  expect(
    answerTo(
      '',
      [
        { toolName: 'saveMemory', output: failed },
        { toolName: 'generateImage', output: made },
        { toolName: 'get_weather', output: {} },
      ],
      '',
    ),
  ).toBe(
    '[offline demo model] The memory is not responding. Here are your 4 images, drawn by the offline renderer. The tool has answered.',
  );
});

it('does not claim to remember what was not saved', () => {
  expect(answerTo('', [{ toolName: 'saveMemory', output: { status: 'failed' } }], '')).not.toContain('undefined');
});
