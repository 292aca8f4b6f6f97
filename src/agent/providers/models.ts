/** The language models of the agent: who may use which, at what price, and with what capabilities. */
import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { Plan } from '#accounts/api.ts';
import type { Values } from '#platform/config.ts';
import { StartFault } from '#platform/lifecycle.ts';
import type { Log } from '#platform/log.ts';
import { invalid } from '#platform/problem.ts';
import { noTelemetry, type Telemetry } from '#platform/telemetry/trace.ts';
import type { ModelInfo } from '../api.ts';
import type { modelSettings } from '../config.ts';
import { chainOf, keyOf, type ModelEntry } from '../modelsfile.ts';
import type { ConfiguredModel } from '../operatorapi.ts';
import { mergingProvider } from './mergedframes.ts';
import { type Candidate, createResilientModel } from './resilientmodel.ts';

export interface ChosenModel {
  readonly id: string;
  /** Retried, bounded in time, with its fallbacks. */
  readonly model: LanguageModelV4;
  /** For the metadata of the answer. */
  readonly label: { readonly model: string; readonly simulated?: true };
  readonly vision: boolean;
  readonly tools: boolean;
  /** What a run costs. */
  readonly credits: number;
  readonly contextTokens: number;
  /** `undefined`: every plan may use it. */
  readonly plans: readonly Plan[] | undefined;
  /** What the operator pays per million tokens. */
  readonly costUsd?: { readonly input: number; readonly output: number } | undefined;
  /** What the provider calls it. */
  readonly providerModel?: string | undefined;
  /** The id of the model that answers in its place when it fails. */
  readonly fallback?: string | undefined;
}

export interface Models {
  /** Throws 400 for an unknown name. Without a name: the default. */
  pick(name: string | undefined): ChosenModel;
  /** As a user of this plan sees them. */
  list(plan: Plan): readonly ModelInfo[];
  /** As operators see them. */
  all(): readonly ConfiguredModel[];
}

/** The model of an earlier run. `undefined`: it is no longer configured. */
export function modelOf(models: Models, id: string): ChosenModel | undefined {
  try {
    return models.pick(id);
  } catch {
    return undefined;
  }
}

export interface ModelsOptions {
  readonly settings: Values<typeof modelSettings>;
  /** Used when no provider is configured. */
  readonly offline: LanguageModelV4;
  readonly log: Log;
  readonly telemetry?: Telemetry | undefined;
  /** For tests: in place of the time limits of the settings. */
  readonly idleMs?: number;
  /** For tests: reads the variable that `apiKeyEnv` names. */
  readonly readKey?: ((variable: string) => string | undefined) | undefined;
}

/** The offline model takes any name, and its answers are labeled as simulated. */
export async function openModels(deps: ModelsOptions): Promise<Models> {
  const { settings, offline } = deps;
  if (fileEntriesOf(settings).length === 0 && settings.url === 'offline') {
    const label = { model: offline.modelId, simulated: true } as const;
    const limits = { credits: settings.runCredits, contextTokens: settings.contextTokens, plans: undefined };
    const model = resilient(deps, [{ id: offline.modelId, providerName: offline.provider, model: offline }]);
    const chosen: ChosenModel = { id: offline.modelId, model, label, vision: false, tools: true, ...limits };
    return createModels([chosen], new Map([[chosen.id, 'Offline model']]), () => chosen);
  }
  const opened = await openEntries(deps);
  const entries = [...opened.keys()];
  const chosen = entries.map((entry): ChosenModel => {
    const { id, vision = true, tools = true, credits = settings.runCredits, plans } = entry;
    const contextTokens = entry.contextTokens ?? settings.contextTokens;
    const model = resilient(deps, candidatesOf(entry, opened));
    const { fallback, costUsd, model: providerModel } = entry;
    const offer = { credits, plans, fallback, costUsd, providerModel };
    return { id, model, label: { model: id }, vision, tools, contextTokens, ...offer };
  });
  const labels = new Map(entries.map(({ id, label }) => [id, label ?? id]));
  return createModels(chosen, labels, (name) => chosen.find(({ id }) => id === name));
}

function createModels(
  chosen: readonly ChosenModel[],
  labels: ReadonlyMap<string, string>,
  find: (name: string) => ChosenModel | undefined,
): Models {
  const [first] = chosen;
  if (first === undefined) throw new StartFault('MODEL_NAME contains no model.');
  return {
    pick(name) {
      const found = name === undefined ? first : find(name);
      if (found === undefined) throw invalid('body.model', `must be one of ${chosen.map(({ id }) => id).join(', ')}`);
      return found;
    },
    list: (plan) =>
      chosen.map(({ id, vision, tools, credits, plans }) => ({
        kind: 'chat',
        id,
        label: labels.get(id) ?? id,
        vision,
        tools,
        credits,
        allowed: plans?.includes(plan) ?? true,
        default: id === first.id,
      })),
    all: () =>
      chosen.map(
        ({ id, vision, tools, credits, contextTokens, plans = null, fallback = null, costUsd = null, label }) => ({
          id,
          label: labels.get(id) ?? id,
          vision,
          tools,
          credits,
          contextTokens,
          plans: plans === null ? null : [...plans],
          fallback,
          costUsd,
          simulated: label.simulated === true,
          default: id === first.id,
        }),
      ),
  };
}

/** Opens the models of providers, each without retries, time limits and fallbacks. Throws StartFault. */
export async function openEntries(
  deps: Pick<ModelsOptions, 'settings' | 'readKey'>,
): Promise<ReadonlyMap<ModelEntry, LanguageModelV4>> {
  const opened = new Map<ModelEntry, LanguageModelV4>();
  for (const entry of chatEntriesOf(deps.settings)) opened.set(entry, await openModel(deps, entry));
  return opened;
}

/** A file without language models leaves `MODEL_*` in place. */
function chatEntriesOf(settings: ModelsOptions['settings']): readonly ModelEntry[] {
  const entries = fileEntriesOf(settings);
  return entries.length > 0 ? entries : entriesOf(settings);
}

const fileEntriesOf = ({ file = [] }: ModelsOptions['settings']): readonly ModelEntry[] =>
  file.filter((entry) => entry.kind !== 'image' && entry.kind !== 'video');

/** `MODEL_*` as entries: one provider, and a model for each name. */
function entriesOf({ url, names }: ModelsOptions['settings']): readonly ModelEntry[] {
  return names.map((name) => ({ id: name, baseUrl: url, model: name }));
}

async function openModel(
  { settings, readKey }: Pick<ModelsOptions, 'settings' | 'readKey'>,
  entry: ModelEntry,
): Promise<LanguageModelV4> {
  const { temperature = settings.temperature, maxOutputTokens = settings.maxOutputTokens } = entry;
  const { reasoningEffort = settings.reasoningEffort, headers = settings.headers, query = settings.query } = entry;
  const apiKey = fileEntriesOf(settings).length === 0 ? settings.apiKey : keyOf(entry, readKey);
  // The offline model needs none of this code.
  const { defaultSettingsMiddleware, wrapLanguageModel } = await import('ai');
  const { openLanguageModel } = await import('./languagemodels.ts');
  return wrapLanguageModel({
    model: await openLanguageModel({ ...entry, apiKey, headers, query }),
    middleware: defaultSettingsMiddleware({
      settings: {
        ...(temperature !== undefined && { temperature }),
        ...(maxOutputTokens !== undefined && { maxOutputTokens }),
        ...(reasoningEffort !== undefined && { reasoning: reasoningEffort }),
        // The conversation is stored here, so OpenAI does not have to keep it.
        providerOptions: { openai: { store: false }, azure: { store: false } },
      },
    }),
  });
}

const candidatesOf = (entry: ModelEntry, opened: ReadonlyMap<ModelEntry, LanguageModelV4>): readonly Candidate[] =>
  chainOf([...opened.keys()], entry).flatMap((link) => {
    const { id, provider = mergingProvider } = link;
    const model = opened.get(link);
    return model === undefined ? [] : [{ id, providerName: provider, model }];
  });

function resilient(deps: ModelsOptions, candidates: readonly Candidate[]): LanguageModelV4 {
  const { settings, log, idleMs, telemetry = noTelemetry } = deps;
  const [first, ...fallbacks] = candidates;
  if (first === undefined) throw new StartFault('No model is configured.');
  return createResilientModel([first, ...fallbacks], {
    firstTokenMs: idleMs ?? settings.firstTokenTimeoutS * 1000,
    idleMs: idleMs ?? settings.idleTimeoutS * 1000,
    log,
    telemetry,
  });
}
