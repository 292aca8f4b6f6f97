import { expect, it } from 'vitest';
import { lintCode } from './code.ts';
import { findFaults } from './faults.ts';
import { lintMarkdown } from './markdown.ts';

it.each([
  ['The image is made anew.', 1],
  ['The server gives 409.', 1],
  ['The signed address ends after an hour.', 1],
  ['Its behaviour lies in the file.', 2],
  ['What is left is deleted.', 1],
  ['What happens if the process dies?', 0],
  ['Of nothing but spaces it finds nothing.', 1],
  ['Of course, retries are safe.', 0],
  ['The abbreviation stands for a list.', 0],
  ['A stand-in signs users in, otherwise a provider does.', 0],
  ['The email address is stored.', 0],
  ['Use `anew`.', 1],
])('finds in "%s" %i faults', (text, count) => {
  expect(findFaults(text)).toHaveLength(count);
});

it('finds a sentence of more than 30 words, and where it starts', () => {
  const words = (count: number) => `${Array(count).fill('word').join(' ')}.`;
  expect(findFaults(words(30))).toEqual([]);
  expect(findFaults(`Short. W${words(31)}`)).toEqual([{ index: 7, message: 'a sentence of 31 words: at most 30' }]);
});

it('reads paragraphs, headings, lists and tables of a page, and neither code nor URLs', () => {
  const page = [
    '# Deeds',
    '',
    'See [anew](https://anew.example/anew) and `anew`.',
    '',
    '- First line,',
    '  told on the second.',
    '',
    '| a | b |',
    '|---|---|',
    '| fine | likewise |',
    '',
    '```sh',
    'echo anew',
    '```',
  ].join('\n');
  const found = lintMarkdown(page);
  expect(found.map(({ line, message }) => `${line} ${message.split(':')[0]}`)).toEqual([
    '1 "Deeds"',
    '3 "anew"',
    '6 "told"',
    '10 "likewise"',
  ]);
});

it('reads sentences in code, and neither names nor other literals', () => {
  const code = `
    const anew = 'anew';
    const message = 'Try it anew.';
    const sized = \`Over \${limit} nobody waits.\`;
    const view = <p title="Write anew">Try anew</p>;`;
  expect(lintCode('view.tsx', code).map(({ line }) => line)).toEqual([3, 4, 5, 5]);
});
