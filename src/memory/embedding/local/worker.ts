/** The thread of the `local` embedder: receives texts, and sends their vectors. */
import { parentPort, workerData } from 'node:worker_threads';
import { openModel, type Runtime } from './inference.ts';
import type { WorkerAnswer, WorkerData } from './local.ts';

const { model, runtime, threads } = workerData as WorkerData;
// If the model cannot be loaded, the error ends the thread. Another one can try again: this one would keep the failed module.
const module: Runtime & { readonly default?: Runtime } = await import(runtime);
const embed = await openModel(model, module.default ?? module, threads);

parentPort?.on('message', async (order: readonly string[] | 'close') => {
  if (order === 'close') {
    parentPort?.close();
    return;
  }
  const send = (answer: WorkerAnswer) => parentPort?.postMessage(answer);
  try {
    send({ vectors: await embed(order) });
  } catch (error) {
    send({ fault: error instanceof Error ? error.message : String(error) });
  }
});
