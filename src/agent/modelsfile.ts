/** `MODELS_FILE`: several models of several providers (docs/specification/agent.md#models). */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { plan } from '#accounts/api.ts';
import { StartFault } from '#platform/lifecycle.ts';
import { ratio } from './providers/generators.ts';
import { findMissingPackage, providerNames } from './sdkpackages.ts';

export const reasoningEfforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

const address = z.url({ protocol: /^https?$/ });
const texts = z.record(z.string(), z.string());

const sharedFields = {
  id: z.string().min(1).max(128),
  label: z.string().min(1).max(200).optional(),
  provider: z.enum(providerNames).optional(),
  apiKeyEnv: z.string().min(1).optional(),
  model: z.string().min(1),
  plans: z.array(plan).optional(),
  credits: z.int().min(0).max(1_000_000).optional(),
  fallback: z.string().min(1).optional(),
  headers: texts.optional(),
  query: texts.optional(),
};

const modelEntry = z
  .strictObject({
    ...sharedFields,
    kind: z.literal('chat').default('chat'),
    baseUrl: address.optional(),
    vision: z.boolean().optional(),
    tools: z.boolean().optional(),
    contextTokens: z.int().min(1000).optional(),
    /** What the operator pays, in US dollars per million tokens. */
    costUsd: z.object({ input: z.number().min(0), output: z.number().min(0) }).optional(),
    temperature: z.number().min(0).max(2).optional(),
    maxOutputTokens: z.int().min(1).optional(),
    reasoningEffort: z.enum(reasoningEfforts).optional(),
  })
  .readonly();
export type ModelEntry = Omit<z.output<typeof modelEntry>, 'kind'> & { readonly kind?: 'chat' };

const mediaEntry = {
  ...sharedFields,
  /** `offline`: the offline renderer, to try a catalog without providers. */
  baseUrl: z
    .string()
    .refine((text) => text === 'offline' || address.safeParse(text).success, 'must be an HTTP URL, or offline')
    .optional(),
  ratios: z.array(ratio).min(1).optional(),
  maxReferences: z.int().min(0).max(16).optional(),
  /** What the operator pays for one, in US dollars. */
  costUsd: z.number().min(0).optional(),
};
const imageEntry = z
  .strictObject({
    kind: z.literal('image'),
    ...mediaEntry,
    editModel: z.string().min(1).optional(),
    maxCount: z.int().min(1).max(16).optional(),
  })
  .readonly();
export type ImageEntry = z.output<typeof imageEntry>;
const videoEntry = z
  .strictObject({
    kind: z.literal('video'),
    ...mediaEntry,
    durations: z.array(z.int().min(1).max(600)).min(1).optional(),
  })
  .readonly();
export type VideoEntry = z.output<typeof videoEntry>;
export type FileEntry = ModelEntry | ImageEntry | VideoEntry;

/** Entries without `kind` are language models. */
const anyEntry = z.preprocess(
  (entry) => (typeof entry === 'object' && entry !== null && !('kind' in entry) ? { kind: 'chat', ...entry } : entry),
  z.discriminatedUnion('kind', [modelEntry.unwrap(), imageEntry.unwrap(), videoEntry.unwrap()]),
);

const modelsFile = z
  .array(anyEntry)
  .min(1)
  .superRefine((entries, context) => {
    const ids = entries.map(({ id }) => id);
    for (const [index, { id, kind, fallback, provider = 'openai-compatible', baseUrl }] of entries.entries()) {
      if (provider === 'openai-compatible' && baseUrl === undefined)
        context.addIssue({ code: 'custom', path: [index, 'baseUrl'], message: 'is required without a provider' });
      if (provider !== 'openai-compatible' && baseUrl === 'offline')
        context.addIssue({
          code: 'custom',
          path: [index, 'baseUrl'],
          message: 'is offline, so provider must be absent',
        });
      const missing = findMissingPackage(provider);
      if (missing !== undefined) context.addIssue({ code: 'custom', path: [index, 'provider'], message: missing });
      if (ids.indexOf(id) !== index)
        context.addIssue({ code: 'custom', path: [index, 'id'], message: 'is not unique' });
      if (fallback !== undefined && (fallback === id || entries.find((other) => other.id === fallback)?.kind !== kind))
        context.addIssue({ code: 'custom', path: [index, 'fallback'], message: 'must be the id of another model' });
    }
  });

/** The first model is the default. Throws an Error that names every field at fault and, with it, the keys that are not set. */
export function readModelsFile(path: string): readonly FileEntry[] {
  const content = readJson(path);
  const parsed = modelsFile.safeParse(content);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path: field, message }) => `${field.join('.') || 'the file'}: ${message}`);
  const entries = (Array.isArray(content) ? content : []).flatMap((entry) => keyed.safeParse(entry).data ?? []);
  throw new Error(`(${path}): ${[...faults, ...missingKeysOf(entries, readVariable)].join('; ')}`);
}

/** The first, its fallback, the fallback's fallback and so on, each once. */
export function chainOf<Link extends { readonly id: string; readonly fallback?: string | undefined }>(
  all: readonly Link[],
  first: Link,
): readonly Link[] {
  const chain = new Set<Link>();
  for (let next: Link | undefined = first; next !== undefined && !chain.has(next); ) {
    chain.add(next);
    const { fallback }: Link = next;
    next = all.find(({ id }) => id === fallback);
  }
  return [...chain];
}

/** The key of a model. Throws StartFault if it is not set. */
export function keyOf(
  { id, apiKeyEnv }: Pick<FileEntry, 'id' | 'apiKeyEnv'>,
  readKey: (variable: string) => string | undefined = readVariable,
): string | undefined {
  const key = apiKeyEnv === undefined ? undefined : readKey(apiKeyEnv);
  if (apiKeyEnv !== undefined && !key)
    throw new StartFault(`MODELS_FILE: the model ${id} needs ${apiKeyEnv}, which is not set.`);
  return key;
}

const keyed = z.object({ id: z.string(), apiKeyEnv: z.string() });
const readVariable = (variable: string) => process.env[variable];

function missingKeysOf(
  entries: readonly Pick<FileEntry, 'id' | 'apiKeyEnv'>[],
  readKey: (variable: string) => string | undefined,
): readonly string[] {
  return entries.flatMap(({ id, apiKeyEnv }) =>
    apiKeyEnv === undefined || readKey(apiKeyEnv) ? [] : [`the model ${id} needs ${apiKeyEnv}, which is not set`],
  );
}

/** Throws one StartFault that names every key that is not set. */
export function assertKeys(file: readonly FileEntry[] = [], readKey = readVariable): void {
  const missing = missingKeysOf(file, readKey);
  if (missing.length > 0) throw new StartFault(`MODELS_FILE: ${missing.join('; ')}.`);
}

function readJson(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    throw new Error(`refers to the file ${path}, which cannot be read`);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`(${path}) is not valid JSON`);
  }
}
