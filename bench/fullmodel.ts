/**
 * A model to compare the built-in embedder with: in this process, from the folder RECALL_LOCAL_MODEL with the
 * onnxruntime-node of RECALL_ONNX_RUNTIME, or an OpenAI-compatible API at RECALL_EMBEDDINGS_URL by the name
 * RECALL_EMBEDDINGS_MODEL.
 */
import type { Embedder } from '../src/memory/embedding/embedder.ts';
import { createLocalEmbedder } from '../src/memory/embedding/local/local.ts';
import { createRemoteEmbedder } from '../src/memory/embedding/remote.ts';

export const fullModelHint = 'No full model: set RECALL_LOCAL_MODEL or RECALL_EMBEDDINGS_URL (docs/memory.md)';

export function openFullModel(): Embedder | undefined {
  const {
    RECALL_LOCAL_MODEL: folder,
    RECALL_ONNX_RUNTIME: runtime,
    RECALL_EMBEDDINGS_URL: baseUrl,
    RECALL_EMBEDDINGS_MODEL: model = 'model',
  } = process.env;
  if (folder !== undefined)
    return createLocalEmbedder({ model: folder, dataDir: '.', ...(runtime === undefined ? {} : { runtime }) });
  if (baseUrl !== undefined) return createRemoteEmbedder({ baseUrl, apiKey: undefined, model, dimensions: 0 });
  return undefined;
}
