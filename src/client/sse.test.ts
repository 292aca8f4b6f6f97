import { describe, expect, it } from 'vitest';
import { readEvents, type ServerSentEvent } from './connection.ts';

async function read(chunks: Iterable<Uint8Array>): Promise<readonly ServerSentEvent[]> {
  const events: ServerSentEvent[] = [];
  for await (const event of readEvents(ReadableStream.from(chunks), () => undefined)) events.push(event);
  return events;
}

function* cut(bytes: Uint8Array, size: number): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

describe('events of a stream', () => {
  const text = ': hello\n\nid: 1\r\ndata: äöü\r\ndata:\u{1f642}\r\n\r\nid: 2\n\ndata: two\ndata:  2\n\ndata: not whole';
  const events = [
    { id: '1', data: 'äöü\n\u{1f642}' },
    { id: '2', data: '' },
    { id: undefined, data: 'two\n 2' },
  ];

  it.each([1, 2, 3, 7, 1000])('are the same in pieces of %i bytes', async (size) => {
    expect(await read(cut(Buffer.from(text), size))).toEqual(events);
  });

  // Reading the whole line for each piece would take minutes.
  it('may be of 16 MB, in 65,536 pieces', async () => {
    const data = 'x'.repeat(16 * 1024 * 1024);
    const [event] = await read(cut(Buffer.from(`id: 1\ndata: ${data}\n\n`), 256));
    expect(event?.id).toBe('1');
    expect(event?.data === data).toBe(true);
  });
});
