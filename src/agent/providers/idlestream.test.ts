import { setTimeout as sleep } from 'node:timers/promises';
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { expect, it } from 'vitest';
import { DeadlineExceeded } from '#platform/resilience.ts';
import { limitPauses } from './resilientmodel.ts';

type Part = LanguageModelV4StreamPart;

const delta = (text: string, id = 't'): Part => ({ type: 'text-delta', id, delta: text });
const start: Part = { type: 'text-start', id: 't' };
const end: Part = { type: 'text-end', id: 't' };

/** A stream whose source the test writes to. */
function open(options: { readonly idleMs?: number } = {}, opening: readonly Part[] = []) {
  const { readable, writable } = new TransformStream<Part, Part>({}, { highWaterMark: 1000 });
  const writer = writable.getWriter();
  const broken: unknown[] = [];
  const stream = limitPauses(opening, readable.getReader(), {
    idleMs: 60_000,
    onBroken: (reason) => broken.push(reason),
    ...options,
  });
  return { writer, broken, reader: stream.getReader() };
}

async function readAll(reader: ReadableStreamDefaultReader<Part>): Promise<Part[]> {
  const parts: Part[] = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return parts;
    parts.push(value);
  }
}

it('passes on every part as it is, in order', async () => {
  const parts = [
    start,
    delta('a'),
    delta('b'),
    { ...delta('c'), providerMetadata: { maker: { index: 1 } } } as Part,
    end,
  ];
  const { writer, reader } = open({}, parts.slice(0, 2));
  for (const part of parts.slice(2)) void writer.write(part);
  void writer.close();
  expect(await readAll(reader)).toEqual(parts);
});

it('delivers everything before a failure of the provider, then the failure', async () => {
  const { writer, reader, broken } = open({}, [start, delta('a')]);
  const failure = new TypeError('terminated');
  void writer.write(delta('b'));
  await sleep(5);
  void writer.abort(failure);
  const parts = await readAll(reader);
  expect(parts).toEqual([start, delta('a'), delta('b'), { type: 'error', error: failure }]);
  expect(broken).toEqual([failure]);
});

it('fails when the provider pauses for too long, and ends its work', async () => {
  const { writer, reader, broken } = open({ idleMs: 40 });
  void writer.write(delta('a'));
  expect((await reader.read()).value).toEqual(delta('a'));
  expect(await readAll(reader)).toEqual([{ type: 'error', error: expect.any(DeadlineExceeded) }]);
  expect(broken).toEqual([expect.any(DeadlineExceeded)]);
});

it('stops reading while the reader is behind, and does not count that time as a pause', async () => {
  let produced = 0;
  const endless = new ReadableStream<Part>(
    {
      pull(controller) {
        produced += 1;
        if (produced > 100) return controller.close();
        controller.enqueue(delta('x'.repeat(10_000)));
      },
    },
    { highWaterMark: 0 },
  );
  const broken: unknown[] = [];
  const options = { idleMs: 30, onBroken: (reason: unknown) => broken.push(reason) };
  const reader = limitPauses([], endless.getReader(), options).getReader();
  await sleep(90);
  expect(produced).toBeLessThan(10);
  const parts = await readAll(reader);
  expect(parts.reduce((sum, part) => sum + (part.type === 'text-delta' ? part.delta.length : 0), 0)).toBe(1_000_000);
  expect(broken).toEqual([]);
});

it('gives way to timers while the provider sends without a pause', async () => {
  let isOver = false;
  const tireless = new ReadableStream<Part>({
    pull: (controller) => (isOver ? controller.close() : controller.enqueue(delta('x'))),
  });
  const timer = sleep(30).then(() => {
    isOver = true;
  });
  await readAll(limitPauses([], tireless.getReader(), { idleMs: 60_000, onBroken: () => undefined }).getReader());
  await timer;
});

it('ends the work of the provider when the reader cancels', async () => {
  const canceled: unknown[] = [];
  const source = new ReadableStream<Part>({ cancel: (reason) => void canceled.push(reason) });
  const broken: unknown[] = [];
  const options = { idleMs: 60_000, onBroken: (reason: unknown) => broken.push(reason) };
  await limitPauses([], source.getReader(), options).cancel('enough');
  expect([canceled, broken]).toEqual([['enough'], ['enough']]);
});
