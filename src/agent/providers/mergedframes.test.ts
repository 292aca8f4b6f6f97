import { describe, expect, it } from 'vitest';
import { mergeDeltas, withMergedDeltas } from './mergedframes.ts';

const encoder = new TextEncoder();

const chunk = (choice: object, rest: object = {}) =>
  `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', choices: [{ index: 0, ...choice }], ...rest })}\n\n`;
const text = (content: string, rest: object = {}) => chunk({ delta: { content }, finish_reason: null }, rest);

/** A body that the test writes to. */
function openBody() {
  const canceled: unknown[] = [];
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  const body = new ReadableStream<Uint8Array>({
    start: (given) => {
      controller = given;
    },
    cancel: (reason) => void canceled.push(reason),
  });
  const send = (piece: string | Uint8Array) =>
    controller.enqueue(typeof piece === 'string' ? encoder.encode(piece) : piece);
  return { body, canceled, send, close: () => controller.close(), fail: (error: unknown) => controller.error(error) };
}

function streamOf(...pieces: (string | Uint8Array)[]): ReadableStream<Uint8Array> {
  const { body, send, close } = openBody();
  for (const piece of pieces) send(piece);
  close();
  return body;
}

const read = (body: ReadableStream<Uint8Array>) => new Response(body).text();
const merged = (...pieces: (string | Uint8Array)[]) => read(mergeDeltas(streamOf(...pieces), () => 0));

/** The data of each frame; texts that follow one another as one. */
function flatten(stream: string): unknown[] {
  const flat: unknown[] = [];
  for (const frame of stream.split('\n\n').filter((frame) => frame !== '')) {
    if (!frame.startsWith('data: {')) flat.push(frame);
    else {
      const data = JSON.parse(frame.slice('data: '.length));
      const delta = data.choices[0]?.delta?.content;
      const last = flat.at(-1);
      if (typeof delta !== 'string') flat.push(data);
      else if (Array.isArray(last)) last[0] += delta;
      else flat.push([delta]);
    }
  }
  return flat;
}

describe('frames that arrive together', () => {
  it('become one if they continue one text', async () => {
    const answer = await merged(
      text('One') + text(' two') + text(' "three"\n') + text('😀'.slice(0, 1)),
      text('😀'.slice(1)),
    );
    expect(flatten(answer)).toEqual([['One two "three"\n😀']]);
    expect(answer.match(/data:/g)?.length).toBeLessThan(3);
  });

  it('become one even if their other fields differ', async () => {
    const answer = await merged(
      chunk({ delta: { role: 'assistant', content: '' } }, { created: 1 }) +
        text('One', { created: 1, obfuscation: 'x1', usage: null }) +
        text(' two', { created: 2, obfuscation: 'x2y' }),
    );
    expect(flatten(answer)).toEqual([['One two']]);
    expect(answer.match(/data:/g)).toHaveLength(1);
  });

  it.each(['reasoning_content', 'reasoning'])('become one if they continue one %s', async (member) => {
    const thought = (words: string) => chunk({ delta: { [member]: words, content: null } });
    expect(await merged(thought('One') + thought(' two') + text('Three'))).toBe(thought('One two') + text('Three'));
  });

  it.each([
    ['of two answers', text('a') + text('b', { id: 'c2' })],
    ['of a thought and a text', chunk({ delta: { reasoning: 'a' } }) + text('b')],
    ['with both in one', chunk({ delta: { reasoning: 'a', content: 'b' } }).repeat(2)],
    ['with usage', text('a', { usage: { total_tokens: 1 } }) + text('b', { usage: { total_tokens: 2 } })],
    ['that end the answer', text('a') + chunk({ delta: { content: 'b' }, finish_reason: 'stop' })],
    ['of a tool call', chunk({ delta: { tool_calls: [{ index: 0, function: { arguments: '{' } }] } }).repeat(2)],
    ['of two choices', text('a', { choices: [{ delta: { content: 'a' } }, { delta: { content: 'b' } }] }).repeat(2)],
    ['with an error', text('a') + text('b', { error: { message: 'lost' } })],
    ['with content in parts', chunk({ delta: { content: [{ type: 'text', text: 'a' }] } }).repeat(2)],
    ['that are no JSON', 'data: {"id":\n\n'.repeat(2)],
    ['without choices', 'data: {"choices":[],"usage":{"total_tokens":3}}\n\n'.repeat(2)],
    ['with comments, events and an end', ': wait\n\nevent: message\ndata: {}\n\ndata: [DONE]\n\n'],
    ['without a last line end', `${text('a')}data: [DONE]`],
  ])('pass unchanged if they are frames %s', async (_title, stream) => {
    expect(await merged(stream)).toBe(stream);
  });

  it('are the same for any split of the bytes', async () => {
    const stream = `${text('Grüße ')}${text('日本語')}: wait\n\n${text(' a')}${text('b')}${chunk({ delta: {}, finish_reason: 'stop' })}data: [DONE]\n\n`;
    const expected = flatten(stream);
    for (const lines of [stream, stream.replaceAll('\n', '\r\n')]) {
      const bytes = encoder.encode(lines);
      for (let size = 1; size < 40; size++) {
        const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
          bytes.slice(index * size, (index + 1) * size),
        );
        expect(flatten(await merged(...pieces))).toEqual(expected);
      }
    }
  });
});

it('passes a frame of any length', async () => {
  const long = text('a'.repeat(3 * 1024 * 1024));
  expect((await merged(long.slice(0, 2_000_000), long.slice(2_000_000), text('b'))).length).toBe(
    long.length + text('b').length,
  );
});

it('passes the first frame immediately, and merges the frames of the window', async () => {
  const { body, send, close } = openBody();
  const reader = mergeDeltas(body, () => 50).getReader();
  const next = async () => new TextDecoder().decode((await reader.read()).value);
  send(text('a'));
  expect(await next()).toBe(text('a'));
  send(text('b'));
  send(text('c'));
  expect(await next()).toBe(text('bc'));
  close();
  expect((await reader.read()).done).toBe(true);
});

it('reports a connection error after the frames that arrived before it', async () => {
  const { body, send, fail } = openBody();
  const reader = mergeDeltas(body, () => 0).getReader();
  send(text('a'));
  expect(new TextDecoder().decode((await reader.read()).value)).toBe(text('a'));
  const lost = new Error('lost');
  fail(lost);
  await expect(reader.read()).rejects.toBe(lost);
});

it('ends the connection with its reader', async () => {
  const { body, send, canceled } = openBody();
  const reader = mergeDeltas(body, () => 10_000).getReader();
  send(text('a'));
  await reader.read();
  await reader.cancel('enough');
  expect(canceled).toEqual(['enough']);
});

describe('of responses', () => {
  const sendBody = (body: string, status: number, type: string) =>
    withMergedDeltas(async () => new Response(body, { status, headers: { 'content-type': type } }));

  it('merges streams', async () => {
    const response = await sendBody(text('a') + text('b'), 200, 'text/event-stream; charset=utf-8')('http://provider');
    expect(await response.text()).toBe(text('ab'));
  });

  it.each([
    ['errors', 500, 'text/event-stream'],
    ['documents', 200, 'application/json'],
  ])('does not change %s', async (_title, status, type) => {
    const response = await sendBody(text('a') + text('b'), status, type)('http://provider');
    expect(response.status).toBe(status);
    expect(await response.text()).toBe(text('a') + text('b'));
  });
});
