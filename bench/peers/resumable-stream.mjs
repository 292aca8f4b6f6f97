// resumable-stream 2 as a server of its own process, on the Redis that the first argument names; the others: how many
// events, and the text of each. GET reads the stream of which there is a new one after each POST, which produces it.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { createClient } from 'redis';
import { createResumableStreamContext } from 'resumable-stream/generic';

const [url, count, text] = process.argv.slice(2);
const [publisher, subscriber] = [createClient({ url }), createClient({ url })];
await Promise.all([publisher.connect(), subscriber.connect()]);
const keyPrefix = `bench-${randomUUID()}`;
const context = createResumableStreamContext({ waitUntil: null, keyPrefix, publisher, subscriber });

let streamId;
let produce;
async function open() {
  streamId = randomUUID();
  const id = streamId;
  const begun = new Promise((resolve) => {
    produce = resolve;
  });
  const stream = await context.createNewResumableStream(id, () => {
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
  return { id, done: stream.pipeTo(new WritableStream()) };
}

let current = await open();
const server = createServer(async (request, response) => {
  if (request.method === 'POST') {
    const { id, done } = current;
    produce();
    await done;
    current = await open();
    await publisher.del(`${keyPrefix}:rs:sentinel:${id}`);
    response.end('{}');
    return;
  }
  const stream = await context.resumeExistingStream(streamId);
  response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
  Readable.fromWeb(stream).pipe(response);
});
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
process.on('disconnect', async () => {
  await publisher.del(`${keyPrefix}:rs:sentinel:${streamId}`);
  process.exit();
});
