import { expect, it } from 'vitest';
import { withTableHead } from './markdown.ts';

it.each([
  ['| Sho', '\n| Sho\n|---|'],
  ['| Shot | Lens', '\n| Shot | Lens\n|---|---|'],
  ['Shots:\n\n| Shot | Lens |', 'Shots:\n\n| Shot | Lens |\n|---|---|'],
  ['| Shot | Lens |\n|', '\n| Shot | Lens |\n|---|---|'],
  ['| Shot | Lens |\n| --- | :-', '\n| Shot | Lens |\n|---|---|'],
])('completes the head of a table that is being written: %j', (text, completed) => {
  expect(withTableHead(text)).toBe(completed);
});

it.each([
  ['a table with a row', '| Shot | Lens |\n| --- | --- |\n| dusk'],
  ['text', 'a | b'],
  ['an empty text', ''],
  ['code', '```\na\n\n| Shot'],
])('leaves %s as it is', (_what, text) => {
  expect(withTableHead(text)).toBe(text);
});
