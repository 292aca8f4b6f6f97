/** Asks each model with its key. No question orders a picture or a film. */

import type { Config } from '#app/config.ts';
import { openEmbedder } from '#memory/embedding/open.ts';
import { ask, bearer, isSuccess, placeOf, reasonOf } from './asking.ts';

/** A model may have to be loaded first. */
const modelTimeoutMs = 30_000;

export async function checkModel({ model: { url, apiKey, names } }: Config): Promise<string> {
  if (url === 'offline') return 'the offline model';
  await Promise.all(names.map((name) => askModel(url, apiKey, name)));
  return `${names.join(', ')} at ${placeOf(url)}`;
}

async function askModel(url: string, apiKey: string | undefined, model: string): Promise<void> {
  const messages = [{ role: 'user', content: 'Answer with one word: ready?' }];
  const settings = 'MODEL_BASE_URL and MODEL_NAME';
  const question = { method: 'POST', headers: bearer(apiKey), settings, keySetting: 'MODEL_API_KEY' } as const;
  const answerTo = (json: object) =>
    ask({ ...question, url: `${url}/chat/completions`, json: { model, messages, ...json }, timeoutMs: modelTimeoutMs });
  let { status } = await answerTo({ stream: true, max_tokens: 16 });
  // Some models have another name for the limit.
  if (status === 400 || status === 422) ({ status } = await answerTo({ stream: true }));
  if (!isSuccess(status)) throw new Error(`${placeOf(url)} answers ${status} for the model ${model}; see ${settings}`);
}

export async function checkImageModel({ imageModel: { url, apiKey, name } }: Config): Promise<string> {
  if (url === 'offline') return 'the offline renderer';
  const settings = 'IMAGE_MODEL_BASE_URL and IMAGE_MODEL_NAME';
  const { status } = await ask({
    url: `${url}/images/generations`,
    method: 'POST',
    headers: bearer(apiKey),
    // Without a description the order is refused, but only after the key was accepted.
    json: { model: name, prompt: '' },
    settings,
    keySetting: 'IMAGE_MODEL_API_KEY',
    timeoutMs: modelTimeoutMs,
  });
  if (!isSuccess(status) && status !== 400 && status !== 422)
    throw new Error(`${placeOf(url)} answers ${status}; see ${settings}`);
  return `${name} at ${placeOf(url)}`;
}

export async function checkVideoModel({ videoModel: { url, apiKey, name } }: Config): Promise<string> {
  if (url === 'offline') return 'the offline renderer';
  const settings = 'VIDEO_MODEL_BASE_URL';
  // Asks for a video that does not exist.
  const { status } = await ask({
    url: `${url}/videos/video_0`,
    headers: bearer(apiKey),
    settings,
    keySetting: 'VIDEO_MODEL_API_KEY',
    timeoutMs: modelTimeoutMs,
  });
  if (!isSuccess(status) && ![400, 404, 422].includes(status))
    throw new Error(`${placeOf(url)} answers ${status}; see ${settings}`);
  return `${name} at ${placeOf(url)}`;
}

export async function checkEmbeddings({ embedding }: Config): Promise<string> {
  const embedder = openEmbedder(embedding);
  try {
    await embedder.embed(['ready?']);
  } catch (error) {
    throw new Error(
      `the embedding server does not answer as expected (${reasonOf(error as Error)}); see EMBEDDING_BASE_URL, EMBEDDING_API_KEY, EMBEDDING_MODEL and EMBEDDING_DIMENSIONS`,
    );
  } finally {
    await embedder.close();
  }
  return embedding.baseUrl === 'builtin' ? 'the built-in embedder' : `${embedder.name} answers`;
}
