/** The thread of the `local` embedder: receives texts, and sends their vectors. */
import { parentPort, workerData } from 'node:worker_threads';
import { openModel, type Runtime } from './inference.ts';
import type { WorkerAnswer, WorkerData, WorkerOrder } from './local.ts';

const { model, runtime, threads } = workerData as WorkerData;
const loaded = import(runtime).then((module: Runtime & { readonly default?: Runtime }) =>
  openModel(model, module.default ?? module, threads),
);

parentPort?.on('message', async (order: WorkerOrder | 'close') => {
  if (order === 'close') {
    parentPort?.close();
    return;
  }
  const { id, texts } = order;
  const send = (answer: WorkerAnswer) => parentPort?.postMessage(answer);
  try {
    const embed = await loaded;
    send({ id, vectors: await embed(texts) });
  } catch (error) {
    send({ id, fault: error instanceof Error ? error.message : String(error) });
  }
});
loaded.catch(() => undefined);
