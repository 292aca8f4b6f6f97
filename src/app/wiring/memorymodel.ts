/** The language model of memories: its own settings, or the agent's model (docs/memory.md#language-model). */
import { openModels } from '#agent/providers/models.ts';
import { offlineModel } from '#local/model/model.ts';
import type { LanguageModelOptions } from '#memory/service.ts';
import { StartFault } from '#platform/lifecycle.ts';
import type { Log } from '#platform/log.ts';
import type { Telemetry } from '#platform/telemetry/trace.ts';
import type { Config } from '../config.ts';

interface Wired {
  readonly config: Pick<Config, 'model' | 'memoryModel'>;
  readonly log: Log;
  readonly telemetry: Telemetry | undefined;
}

/** Whether memories have a language model. The offline model judges nothing. */
export function hasMemoryModel({ model, memoryModel }: Wired['config']): boolean {
  const { baseUrl, name } = memoryModel;
  if (baseUrl === 'off' || name === 'off') return false;
  return baseUrl !== undefined || model.file !== undefined || model.url !== 'offline';
}

/** Throws StartFault for a URL without a model, and for a model that `MODELS_FILE` does not name. */
export async function openMemoryModel({ config, log, telemetry }: Wired): Promise<LanguageModelOptions | undefined> {
  if (!hasMemoryModel(config)) return undefined;
  const { baseUrl, dailyCalls, timeoutS } = config.memoryModel;
  const settings = settingsOf(config);
  const models = await openModels({
    settings,
    offline: offlineModel,
    log,
    telemetry,
    readKey: (variable) => process.env[variable],
  });
  const isOfFile = settings.file !== undefined;
  const { id, model } = pick(models, isOfFile && baseUrl === undefined ? config.memoryModel.name : undefined);
  return { id, model, dailyCalls, timeoutMs: timeoutS * 1000 };
}

function pick(models: Awaited<ReturnType<typeof openModels>>, name: string | undefined) {
  try {
    return models.pick(name);
  } catch {
    throw new StartFault(`MEMORY_MODEL_NAME: MODELS_FILE has no model ${name}.`);
  }
}

/** The key of the agent goes to the agent's URL only. */
function settingsOf({ model, memoryModel }: Wired['config']): Wired['config']['model'] {
  const { baseUrl, apiKey, name } = memoryModel;
  if (baseUrl === undefined) {
    if (model.file !== undefined) return model;
    return { ...model, apiKey: apiKey ?? model.apiKey, names: name === undefined ? model.names : [name] };
  }
  const names = name === undefined ? model.names.slice(0, 1) : [name];
  if (names.length === 0) throw new StartFault('MEMORY_MODEL_BASE_URL needs MEMORY_MODEL_NAME.');
  return {
    ...model,
    url: baseUrl,
    apiKey,
    names,
    file: undefined,
    temperature: undefined,
    maxOutputTokens: undefined,
    reasoningEffort: undefined,
    headers: {},
    query: {},
  };
}
