/** A provider on OpenAI's wire, in a process of its own: the arguments are the tokens of an answer, and how many a second. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { serve } from './peers/serving.mjs';

const [count, perSecond] = process.argv.slice(2).map(Number) as [number, number | undefined];
const frame = (choice: object) =>
  `data: ${JSON.stringify({ id: '1', object: 'chat.completion.chunk', created: 1, model: 'bench', choices: [{ index: 0, ...choice }] })}\n\n`;

/** When each token was sent, in milliseconds of the machine's clock: readers compare with it. */
const now = () => performance.timeOrigin + performance.now();

const server = createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray()).toString();
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  if (body.includes('Write a title for a conversation')) send(response, 'Some words');
  else if (perSecond === undefined) for (let index = 0; index < count; index++) send(response, ' word');
  else await sendPaced(response, perSecond);
  response.write(frame({ delta: {}, finish_reason: 'stop' }));
  response.end('data: [DONE]\n\n');
});

const send = (response: ServerResponse, content: string) =>
  response.write(frame({ delta: { content }, finish_reason: null }));

async function sendPaced(response: ServerResponse, rate: number): Promise<void> {
  const startedAtMs = now();
  for (let index = 0; index < count; index++) {
    const waitMs = startedAtMs + (index * 1000) / rate - now();
    if (waitMs > 0) await sleep(waitMs);
    send(response, ` ${now().toFixed(1)}`);
  }
}

server.listen(0, '127.0.0.1', () =>
  serve({
    open: async () => ({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` }),
    say: async () => undefined,
    close: async () => server.close(),
  }),
);
