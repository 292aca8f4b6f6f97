// resumable-stream 2 as a server of its own process, on the Redis that the first argument names; the others: how many
// events, and the text of each.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { createClient } from 'redis';
import { createResumableStreamContext } from 'resumable-stream/generic';
import { serve } from './serving.mjs';

const [url, count, text] = process.argv.slice(2);
const [publisher, subscriber] = [createClient({ url }), createClient({ url })];
await Promise.all([publisher.connect(), subscriber.connect()]);
const keyPrefix = `bench-${randomUUID()}`;
const context = createResumableStreamContext({ waitUntil: null, keyPrefix, publisher, subscriber });

let streamId;
let produce;
let done;
async function open() {
  streamId = randomUUID();
  const begun = new Promise((resolve) => {
    produce = resolve;
  });
  const stream = await context.createNewResumableStream(streamId, () => {
    let index = 0;
    return new ReadableStream({
      async pull(controller) {
        await begun;
        if (index === Number(count)) return controller.close();
        const event = { type: 'data-said', id: String(index), data: text };
        controller.enqueue(`id: ${++index}\ndata: ${JSON.stringify(event)}\n\n`);
      },
    });
  });
  // Its first reader is the one that started it.
  done = stream.pipeTo(new WritableStream());
}
const forget = () => publisher.del(`${keyPrefix}:rs:sentinel:${streamId}`);

const server = createServer(async (_request, response) => {
  const stream = await context.resumeExistingStream(streamId);
  response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
  Readable.fromWeb(stream).pipe(response);
});
server.listen(0, '127.0.0.1', () =>
  serve({
    async open() {
      await open();
      return { url: `http://127.0.0.1:${server.address().port}` };
    },
    async say() {
      produce();
      await done;
      await forget();
    },
    close: forget,
  }),
);
