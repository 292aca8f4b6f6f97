/**
 * A provider on OpenAI's wire, in a process of its own: the arguments are the tokens of an answer, how many a second (0: no pause), and
 * how many tool calls come before the last answer, each after a text of its own.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { serve } from './peers/serving.mjs';

const [count = 0, perSecond = 0, calls = 0] = process.argv.slice(2).map(Number);
const frame = (choice: object) =>
  `data: ${JSON.stringify({ id: '1', object: 'chat.completion.chunk', created: 1, model: 'bench', choices: [{ index: 0, ...choice }] })}\n\n`;

/** When each token was sent, in milliseconds of the machine's clock: readers compare with it. */
const now = () => performance.timeOrigin + performance.now();

const server = createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray()).toString();
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  if (body.includes('Write a title for a conversation')) send(response, 'Some words');
  else if (perSecond === 0) for (let index = 0; index < count; index++) send(response, ' word');
  else await sendPaced(response, perSecond);
  const made = body.split('"role":"tool"').length - 1;
  if (made < calls) response.write(frame({ delta: { tool_calls: [callOf(made)] }, finish_reason: null }));
  response.write(frame({ delta: {}, finish_reason: made < calls ? 'tool_calls' : 'stop' }));
  response.end('data: [DONE]\n\n');
});

const callOf = (made: number) => ({
  index: 0,
  id: `call_${made}`,
  type: 'function',
  function: { name: 'recallMemory', arguments: JSON.stringify({ query: `what call ${made} needs` }) },
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
