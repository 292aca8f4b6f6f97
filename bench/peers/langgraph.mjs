// The in-memory server of @langchain/langgraph-api 1.1 in a process of its own. Its graph, which this file is too, waits
// until it may speak, and writes as many events, of this text, as the arguments say.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { startServer } from '@langchain/langgraph-api/server';
import { serve } from './serving.mjs';

const [count, text] = process.argv.slice(2);
const input = { lastSaid: '' };
let begun = Promise.withResolvers();
let told = Promise.withResolvers();

async function say(_state, { writer }) {
  begun.resolve();
  await told.promise;
  for (let index = 0; index < Number(count); index++) writer({ type: 'data-said', id: String(index), data: text });
  return input;
}

export const graph = new StateGraph(Annotation.Root({ lastSaid: Annotation() }))
  .addNode('say', say)
  .addEdge(START, 'say')
  .addEdge('say', END)
  .compile();

// Not awaited here: the server imports this file, which has to be done by then.
start();

async function start() {
  process.env.LOG_LEVEL = 'error';
  const cwd = await mkdtemp(join(tmpdir(), 'atelier-bench-'));
  const graphs = { said: `${fileURLToPath(import.meta.url)}:graph` };
  const { host } = await startServer({ port: 0, host: '127.0.0.1', nWorkers: 10, cwd, graphs });
  const post = async (path, body) => {
    const answer = await fetch(`http://${host}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return answer.json();
  };
  let ended;
  serve({
    async open() {
      [begun, told] = [Promise.withResolvers(), Promise.withResolvers()];
      const { thread_id } = await post('/threads', {});
      const order = { assistant_id: 'said', input, stream_mode: ['custom'], stream_resumable: true };
      const { run_id } = await post(`/threads/${thread_id}/runs`, order);
      await begun.promise;
      const url = `http://${host}/threads/${thread_id}/runs/${run_id}`;
      ended = async () => (await fetch(`${url}/join`)).text();
      // Without an id its readers share the events among them.
      return { url: `${url}/stream`, headers: { 'last-event-id': '-1' } };
    },
    async say() {
      told.resolve();
      await ended();
    },
    close: () => rm(cwd, { recursive: true, force: true }),
  });
}
