import { expect, it } from 'vitest';
import { answerTo } from './answering.ts';

it('ends a list of memories with one full stop', () => {
  const output = { status: 'completed', memories: ['I like boats', 'I like warm light.'] };
  const answer = answerTo('What do you know?', [{ toolName: 'recallMemory', output }], '');
  expect(answer).toBe('[offline demo model] I remember: I like boats; I like warm light.');
});
