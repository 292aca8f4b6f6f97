/** Checks each model of texts, and the embedding server, with its key. */
import { APICallError, type LanguageModelV4 } from '@ai-sdk/provider';
import { FirstTokenTimeout } from '#agent/problems.ts';
import { openEntries } from '#agent/providers/models.ts';
import { createResilientModel } from '#agent/providers/resilientmodel.ts';
import type { Config } from '#app/config.ts';
import { openEmbedder } from '#memory/embedding/open.ts';
import { createLog } from '#platform/log.ts';
import { noTelemetry } from '#platform/telemetry/trace.ts';
import { isKeyRefusal, type Outcome, ofParts, type Part, placeOf, reasonOf, Warning } from './probing.ts';

/** The provider may have to load a model first. */
const firstTokenMs = 30_000;
const log = createLog({ level: 'silent' });
const readKey = (variable: string) => process.env[variable];

export async function checkModel({ model: settings }: Pick<Config, 'model'>): Promise<Outcome> {
  const entries = settings.file?.filter(({ kind = 'chat' }) => kind === 'chat') ?? [];
  if (entries.length === 0 && settings.url === 'offline') return 'the offline model';
  const opened = [...(await openEntries({ settings, readKey }))];
  const ofFile = (entry: string, key: string | undefined) => ({
    settings: `the entry ${entry} of MODELS_FILE`,
    keySetting: key ?? `the entry ${entry} of MODELS_FILE`,
  });
  const ofSettings = { settings: 'MODEL_BASE_URL and MODEL_NAME', keySetting: 'MODEL_API_KEY' };
  return ofParts(
    opened.map(([{ id, model: name, baseUrl, provider = 'openai-compatible', apiKeyEnv }, model]): Part => {
      const names = entries.length === 0 ? ofSettings : ofFile(id, apiKeyEnv);
      const place = baseUrl === undefined ? provider : placeOf(baseUrl);
      const checked = requestWord(id, provider, model).then(
        () => `${entries.length === 0 ? name : id} at ${place}`,
        (error: unknown) => {
          throw explain(error, { ...names, place, name });
        },
      );
      return [id, checked];
    }),
  );
}

/** Calls the model as a run does, and ends the request at the first word. */
async function requestWord(id: string, providerName: string, model: LanguageModelV4): Promise<void> {
  const limits = { firstTokenMs, idleMs: firstTokenMs, log, telemetry: noTelemetry };
  const ending = new AbortController();
  const content = [{ type: 'text' as const, text: 'Answer with one word: ready?' }];
  const call = { prompt: [{ role: 'user' as const, content }], abortSignal: ending.signal };
  const { stream } = await createResilientModel([{ id, providerName, model }], limits).doStream(call);
  ending.abort();
  await stream.cancel().catch(() => undefined);
}

interface Names {
  readonly place: string;
  readonly name: string;
  readonly settings: string;
  readonly keySetting: string;
}

function explain(error: unknown, { place, name, settings, keySetting }: Names): Error {
  if (error instanceof FirstTokenTimeout)
    return new Error(`${place} sent no answer within ${firstTokenMs / 1000} s; check ${settings}`);
  if (APICallError.isInstance(error) && error.statusCode !== undefined) {
    const { statusCode: status, responseBody = '' } = error;
    if (status === 401 || status === 403 || isKeyRefusal(responseBody))
      return new Error(`${place} rejects the key (${status}); check ${keySetting}`);
    if (status === 429) return new Warning(`${place} returns 429: too many requests, or the quota is used up`);
    if (status >= 300) return new Error(`${place} returns ${status} for the model ${name}; check ${settings}`);
  }
  const reason = reasonOf(Object(error));
  return error instanceof TypeError || (APICallError.isInstance(error) && error.statusCode === undefined)
    ? new Error(`${place} is not responding (${reason}); check ${settings}`)
    : new Error(`${place} does not answer as a model does (${reason}); check ${settings}`);
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
