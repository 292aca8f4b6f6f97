/** The whole agent service in a process of its own, for the cost of one run; the argument names the base URL of its model. */
import { once } from 'node:events';
import { get } from 'node:http';
import { modelsOf, newThread, startAgent } from '../test/agent/rig.fixture.ts';
import { embedded } from '../test/media/rig.fixture.ts';
import { chunksOf, modelOf } from './models.ts';
import { serve } from './peers/serving.mjs';

const [url] = process.argv.slice(2);
const model =
  url === undefined ? { offlineModel: modelOf(() => chunksOf(2000)) } : { model: modelsOf({ url, names: ['bench'] }) };
const rig = await startAgent(embedded, model);
const user = await rig.user('pro', 100_000);

/** One run with one reader, from the request to the last byte. */
async function run(): Promise<number> {
  const taskId = await user.ask(newThread(), 'Hello?');
  const call = get(`${rig.url}/stream/${taskId}`, { headers: { ...user.credential } });
  const [response] = await once(call, 'response');
  let bytes = 0;
  response.on('data', (piece: Buffer) => (bytes += piece.length));
  await once(response, 'end');
  const { status } = await user.ended(taskId);
  if (status !== 'completed') throw new Error(status);
  return bytes;
}
serve({ open: async () => ({ url: rig.url }), say: run, close: () => rig.close() });
if (process.send === undefined) {
  for (let i = 0; i < 30; i++) {
    const before = process.cpuUsage();
    const startedAtMs = performance.now();
    const bytes = await run();
    const { user: u, system } = process.cpuUsage(before);
    if (i % 3 === 0 || i > 24)
      console.log(
        i,
        'cpu ms',
        ((u + system) / 1000).toFixed(1),
        'wall',
        (performance.now() - startedAtMs).toFixed(0),
        bytes,
      );
  }
  await rig.close();
  process.exit();
}
