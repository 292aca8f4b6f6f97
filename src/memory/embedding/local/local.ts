/**
 * The `local` embedder: a sentence model in a thread of this process, with onnxruntime-node. Concurrent texts share a
 * batch. If the thread ends, waiting texts fail with `embedder_unavailable`, and the next ones start another thread.
 */
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { StartFault } from '#platform/lifecycle.ts';
import { withDeadline } from '#platform/resilience.ts';
import { asUnavailable, createBatches, unavailable } from '../batches.ts';
import { type Embedder, traitsOf } from '../embedder.ts';
import { findModel, type LocalModel } from './models.ts';

export interface LocalEmbedderOptions {
  /** The name of a model that `npm run embedder` downloaded, or a folder. */
  readonly model: string;
  readonly dataDir: string;
  /** The file of onnxruntime-node, if it is not among the packages of the project. */
  readonly runtime?: string;
  /** How long texts fail at once after the model could not be loaded. */
  readonly reloadAfterMs?: number;
}

export interface WorkerData {
  readonly model: LocalModel;
  /** A URL. */
  readonly runtime: string;
  readonly threads: number;
}
/** One order at a time: texts, then their vectors. */
export type WorkerAnswer = { readonly vectors: readonly Float32Array[] } | { readonly fault: string };

export const runtimePackage = 'onnxruntime-node@1.30.0';
const batching = { largest: 32, atOnce: 1, mostWaiting: 2_000 };
const timeoutMs = 30_000;
/** A shorter limit for searches, which can fall back to text. */
const queryTimeoutMs = 3_000;

/** Throws a `StartFault` if the package or files of the model are missing. */
export function createLocalEmbedder(options: LocalEmbedderOptions): Embedder {
  const model = findModel(options.model, options.dataDir);
  const runtime = options.runtime ?? findRuntime();
  const { query, passage, suffix, searchWeight, centering } = traitsOf(model.name);
  const data = { model, runtime: pathToFileURL(runtime).href, threads: Math.max(1, availableParallelism() - 1) };
  const thread = createThread(data, options.reloadAfterMs ?? 10_000);
  const batches = createBatches((texts) => thread.embed(texts), batching);
  const embedOne = (limitMs: number, text: string, isUrgent: boolean) =>
    withDeadline(limitMs, async () => {
      const vector = await batches.add(text, isUrgent);
      if (!isDirected(vector)) throw unavailable('a vector has no direction');
      return vector;
    }).catch(asUnavailable);

  return {
    name: `local:${model.name}${suffix}`,
    searchWeight,
    centering,
    embed: (texts) => Promise.all(texts.map((text) => embedOne(timeoutMs, passage + text, false))),
    embedQuery: (text) => embedOne(queryTimeoutMs, query + text, true),
    close: () => {
      batches.close();
      return thread.close();
    },
  };
}

function findRuntime(): string {
  try {
    return createRequire(import.meta.url).resolve('onnxruntime-node');
  } catch {
    throw new StartFault(
      `EMBEDDING_BASE_URL is \`local\`, which needs a package that is not installed. Run \`npm install --no-save ${runtimePackage}\`.`,
    );
  }
}

const isDirected = (vector: Float32Array) => Math.abs(vector.reduce((sum, value) => sum + value * value, 0) - 1) < 0.01;

interface Thread {
  embed(texts: readonly string[]): Promise<readonly Float32Array[]>;
  close(): Promise<void>;
}

/** Starts the thread when it is first needed, and another one after it has ended. */
function createThread(data: WorkerData, reloadAfterMs: number): Thread {
  let worker: Worker | undefined;
  let loadFailure: { readonly error: Error; readonly untilMs: number } | undefined;
  let pending: PromiseWithResolvers<readonly Float32Array[]> | undefined;
  const start = () => {
    const started = new Worker(new URL('worker.ts', import.meta.url), { workerData: data });
    let hasAnswered = false;
    const end = (error: Error) => {
      if (worker !== started) return;
      worker = undefined;
      if (!hasAnswered) loadFailure = { error, untilMs: performance.now() + reloadAfterMs };
      pending?.reject(error);
    };
    started.on('message', (answer: WorkerAnswer) => {
      hasAnswered = true;
      // An idle thread keeps no program running.
      started.unref();
      if ('fault' in answer) pending?.reject(new Error(answer.fault));
      else pending?.resolve(answer.vectors);
    });
    started.on('error', end);
    started.on('exit', () => end(new Error('the thread of the model ended')));
    return started;
  };
  return {
    embed: async (texts) => {
      if (loadFailure !== undefined && performance.now() < loadFailure.untilMs) throw loadFailure.error;
      worker ??= start();
      worker.ref();
      pending = Promise.withResolvers();
      worker.postMessage(texts);
      return pending.promise;
    },
    close: async () => {
      const last = worker;
      if (last === undefined) return;
      // A thread that is terminated while the runtime works would end the process.
      const ended = once(last, 'exit');
      last.ref();
      last.postMessage('close');
      await ended;
    },
  };
}
