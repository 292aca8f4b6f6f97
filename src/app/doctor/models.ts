/** Checks each model with its key. No request generates an image or a video. */

import type { Config } from '#app/config.ts';
import { openEmbedder } from '#memory/embedding/open.ts';
import { bearer, isSuccess, placeOf, probe, reasonOf } from './probing.ts';
import { checkSdkModel, describeImagePackage, describeVideoPackage } from './sdkmodels.ts';

/** The provider may have to load a model first. */
const modelTimeoutMs = 30_000;

export async function checkModel({ model: settings }: Pick<Config, 'model'>): Promise<string> {
  const { url, apiKey, names, file, headers, query } = settings;
  if (file !== undefined) return checkModels(file, settings);
  if (url === 'offline') return 'the offline model';
  await Promise.all(names.map((model) => probeModel({ url, apiKey, model, headers, query })));
  return `${names.join(', ')} at ${placeOf(url)}`;
}

/** The models of MODELS_FILE, each with its own key. */
async function checkModels(
  models: NonNullable<Config['model']['file']>,
  settings: Pick<Config['model'], 'headers' | 'query'>,
): Promise<string> {
  await Promise.all(
    models.map((entry) => {
      const { baseUrl: url, apiKeyEnv, model, provider = 'openai-compatible' } = entry;
      const { headers = settings.headers, query = settings.query } = entry;
      const apiKey = apiKeyEnv === undefined ? undefined : process.env[apiKeyEnv];
      if (provider !== 'openai-compatible' || url === undefined)
        return checkSdkModel({ ...entry, apiKey, headers, query }, modelTimeoutMs);
      const named = { settings: 'MODELS_FILE', keySetting: apiKeyEnv ?? 'MODELS_FILE' };
      return probeModel({ url, apiKey, model, headers, query }, named);
    }),
  );
  return models.map(({ id, baseUrl, provider }) => `${id} at ${baseUrl ? placeOf(baseUrl) : provider}`).join(', ');
}

const modelNames = { settings: 'MODEL_BASE_URL and MODEL_NAME', keySetting: 'MODEL_API_KEY' };

interface Probed extends Pick<Config['model'], 'url' | 'apiKey' | 'headers' | 'query'> {
  readonly model: string;
}

async function probeModel({ url, apiKey, model, headers, query }: Probed, named = modelNames): Promise<void> {
  const messages = [{ role: 'user', content: 'Answer with one word: ready?' }];
  const { settings } = named;
  const request = { method: 'POST', headers: { ...bearer(apiKey), ...headers }, ...named } as const;
  const endpoint = new URL(`${url}/chat/completions`);
  for (const [name, value] of Object.entries(query)) endpoint.searchParams.set(name, value);
  const statusFor = (json: object) =>
    probe({
      ...request,
      url: endpoint.href,
      json: { model, messages, ...json },
      timeoutMs: modelTimeoutMs,
    });
  let { status } = await statusFor({ stream: true, max_tokens: 16 });
  // Some models have another name for the limit.
  if (status === 400 || status === 422) ({ status } = await statusFor({ stream: true }));
  if (!isSuccess(status))
    throw new Error(`${placeOf(url)} returns ${status} for the model ${model}; check ${settings}`);
}

export async function checkImageModel({ imageModel }: Config): Promise<string> {
  const { provider, url, apiKey, name } = imageModel;
  if (provider !== 'openai-compatible') return describeImagePackage({ ...imageModel, provider });
  if (url === 'offline') return 'the offline renderer';
  const settings = 'IMAGE_MODEL_BASE_URL and IMAGE_MODEL_NAME';
  const { status } = await probe({
    url: `${url}/images/generations`,
    method: 'POST',
    headers: bearer(apiKey),
    // The provider rejects a request without a description, but only after it has accepted the key.
    json: { model: name, prompt: '' },
    settings,
    keySetting: 'IMAGE_MODEL_API_KEY',
    timeoutMs: modelTimeoutMs,
  });
  if (!isSuccess(status) && status !== 400 && status !== 422)
    throw new Error(`${placeOf(url)} returns ${status}; check ${settings}`);
  return `${name} at ${placeOf(url)}`;
}

export async function checkVideoModel({ videoModel }: Config): Promise<string> {
  const { provider, url, apiKey, name } = videoModel;
  if (provider !== 'openai-compatible') return describeVideoPackage({ ...videoModel, provider });
  if (url === 'offline') return 'the offline renderer';
  const settings = 'VIDEO_MODEL_BASE_URL';
  // Requests a video that does not exist.
  const { status } = await probe({
    url: `${url}/videos/video_0`,
    headers: bearer(apiKey),
    settings,
    keySetting: 'VIDEO_MODEL_API_KEY',
    timeoutMs: modelTimeoutMs,
  });
  if (!isSuccess(status) && ![400, 404, 422].includes(status))
    throw new Error(`${placeOf(url)} returns ${status}; check ${settings}`);
  return `${name} at ${placeOf(url)}`;
}

export async function checkEmbeddings({ embedding, process: { dataDir } }: Config): Promise<string> {
  const embedder = openEmbedder(embedding, { dataDir });
  try {
    await embedder.embed(['ready?']);
  } catch (error) {
    throw new Error(
      embedding.baseUrl === 'local'
        ? `the local model does not respond (${reasonOf(error as Error)})`
        : `the embedding server does not respond as expected (${reasonOf(error as Error)}); check EMBEDDING_BASE_URL, EMBEDDING_API_KEY, EMBEDDING_MODEL and EMBEDDING_DIMENSIONS`,
    );
  } finally {
    await embedder.close();
  }
  return embedding.baseUrl === 'builtin' ? 'the built-in embedder' : `${embedder.name} responds`;
}
