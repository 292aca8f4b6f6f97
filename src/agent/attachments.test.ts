import { expect, it } from 'vitest';
import { madeImagesOf } from './attachments.ts';

const tool = (output: unknown) =>
  ({ type: 'tool-x', toolCallId: 'c', state: 'output-available', input: {}, output }) as const;

it.each([
  ['one', tool({ kind: 'image', assetId: 'a' }), ['a']],
  ['several, of a tool of an MCP server', tool({ kind: 'image', assetId: 'a', assetIds: ['a', 'b'] }), ['a', 'b']],
  ['none, of a tool that failed', tool({ kind: 'image', assetId: null }), []],
  ['none, of a tool that makes a video', tool({ kind: 'video', assetId: 'a' }), []],
  ['none, of a tool that returns no object', tool('image'), []],
  ['none, of a text', { type: 'text', text: 'image' } as const, []],
])('a part has made images: %s', (_title, part, images) => {
  expect(madeImagesOf(part)).toEqual(images);
});
