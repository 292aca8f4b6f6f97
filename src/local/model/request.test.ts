import { describe, expect, it } from 'vitest';
import { readRequest } from './model.ts';

const toolsFor = (message: string) => readRequest(message).toolRequests.map(({ toolName }) => toolName);
const kept = (message: string) =>
  readRequest(message).toolRequests.find(({ toolName }) => toolName === 'saveMemory')?.input.content;

describe('the requests in a message', () => {
  it.each([
    ['Please remember that I like tea.', 'I like tea'],
    ['Remember: my cat is Ada! Thanks', 'my cat is Ada'],
    ['remember\nI paint on Sundays\nand more', 'I paint on Sundays'],
    ['remember   my   studio  is blue   and then draw an image', 'my studio is blue'],
    ['remember edits and makers', 'edits and makers'],
    ['remember', undefined],
    ['remembering is hard', undefined],
  ])('%j: %j is saved', (message, content) => {
    expect(kept(message)).toBe(content);
  });

  it('finds further requests in a sentence, but not within the text to save', () => {
    expect(toolsFor('remember that I like images')).toEqual(['saveMemory']);
    expect(toolsFor('remember that I like tea and make an image of it')).toEqual(['saveMemory', 'generateImage']);
    expect(toolsFor('edit it. And a video')).toEqual(['editImage', 'generateVideo']);
    expect(toolsFor('what do you know about me?')).toEqual(['recallMemory']);
  });

  it('needs linear time for a million spaces, words or line ends', () => {
    for (const filler of [' ', '\n', ' and ', 'remember ', ' :, '])
      expect(toolsFor(`remember a${filler.repeat(1_000_000)}b`).length).toBeLessThan(2);
  });

  it('never cuts a character in half', () => {
    expect(String(kept(`remember ${'a'.repeat(3990)}${'😀'.repeat(20)}`)).isWellFormed()).toBe(true);
  });
});
