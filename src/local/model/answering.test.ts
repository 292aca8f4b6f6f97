import { expect, it } from 'vitest';
import { answerTo } from './answering.ts';

it('lists each memory once, and ends with one full stop', () => {
  const output = { status: 'completed', memories: ['I like boats', 'I like warm light.', 'I like boats.'] };
  const answer = answerTo('What do you know?', [{ toolName: 'recallMemory', output }], '');
  expect(answer).toBe('[offline demo model] I remember: I like boats; I like warm light.');
});
