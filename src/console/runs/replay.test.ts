import { expect, it } from 'vitest';
import { replayOf } from './routes.ts';

const streamOf = (...chunks: readonly object[]) =>
  chunks.map((chunk, index) => `id: ${index}\ndata: ${JSON.stringify(chunk)}\n\n`).join('');

it('a stream shows each text once, also if the pieces of two calls alternate', () => {
  const piece = (toolCallId: string, inputTextDelta: string) => ({
    type: 'tool-input-delta',
    toolCallId,
    inputTextDelta,
  });
  const { events, isCut } = replayOf(
    streamOf(
      { type: 'start', messageId: 'm' },
      { type: 'text-start', id: 't' },
      { type: 'text-delta', id: 't', delta: 'Hello, ' },
      piece('a', '{"prompt":'),
      piece('b', '{"query":'),
      piece('a', '"a fox"}'),
      { type: 'text-delta', id: 't', delta: 'you.' },
      piece('b', '"foxes"}'),
      { type: 'text-end', id: 't' },
      { type: 'finish', finishReason: 'stop' },
    ),
  );
  expect(events.map(({ type, text, pieces }) => [type, text, pieces])).toEqual([
    ['start', '', 1],
    ['text-delta', 'Hello, you.', 2],
    ['tool-input-delta', '{"prompt":"a fox"}', 2],
    ['tool-input-delta', '{"query":"foxes"}', 2],
    ['finish', '{"finishReason":"stop"}', 1],
  ]);
  expect(isCut).toBe(false);
});

it('a stream is shown up to 1,000 events, with texts of up to 20,000 characters', () => {
  const step = { type: 'start-step' };
  const long = { type: 'text-delta', id: 't', delta: 'x'.repeat(20_001) };
  const { events, isCut } = replayOf(streamOf(long, ...Array.from({ length: 1000 }, () => step)));
  expect([events.length, isCut]).toEqual([1000, true]);
  expect(events[0]?.text).toBe(`${'x'.repeat(20_000)} …`);
});
