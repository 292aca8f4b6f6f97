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
