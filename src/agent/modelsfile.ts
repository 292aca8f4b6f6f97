/** `MODELS_FILE`: several models of several providers (docs/specification/agent.md#models). */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { plan } from '#accounts/api.ts';
import { ratio } from './providers/generators.ts';
import { findMissingPackage, providerNames } from './sdkpackages.ts';

export const reasoningEfforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

const address = z.url({ protocol: /^https?$/ });
const texts = z.record(z.string(), z.string());

const modelEntry = z
  .strictObject({
    kind: z.literal('chat').default('chat'),
    id: z.string().min(1).max(128),
    label: z.string().min(1).max(200).optional(),
    provider: z.enum(providerNames).optional(),
    baseUrl: address.optional(),
    apiKeyEnv: z.string().min(1).optional(),
    model: z.string().min(1),
    vision: z.boolean().optional(),
    tools: z.boolean().optional(),
    plans: z.array(plan).optional(),
    credits: z.int().min(0).max(1_000_000).optional(),
    contextTokens: z.int().min(1000).optional(),
    fallback: z.string().min(1).optional(),
    /** What the operator pays, in US dollars per million tokens. */
    costUsd: z.object({ input: z.number().min(0), output: z.number().min(0) }).optional(),
    temperature: z.number().min(0).max(2).optional(),
    maxOutputTokens: z.int().min(1).optional(),
    reasoningEffort: z.enum(reasoningEfforts).optional(),
    headers: texts.optional(),
    query: texts.optional(),
  })
  .readonly();
export type ModelEntry = Omit<z.output<typeof modelEntry>, 'kind'> & { readonly kind?: 'chat' };

const mediaEntry = {
  id: z.string().min(1).max(128),
  label: z.string().min(1).max(200).optional(),
  provider: z.enum(providerNames).optional(),
  /** `offline`: the offline renderer, to try a catalog without providers. */
  baseUrl: z
    .string()
    .refine((text) => text === 'offline' || address.safeParse(text).success, 'must be an HTTP URL, or offline')
    .optional(),
  apiKeyEnv: z.string().min(1).optional(),
  model: z.string().min(1),
  plans: z.array(plan).optional(),
  credits: z.int().min(0).max(1_000_000).optional(),
  fallback: z.string().min(1).optional(),
  headers: texts.optional(),
  query: texts.optional(),
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

/** The first model is the default. Throws an Error that names the field at fault. */
export function readModelsFile(path: string): readonly FileEntry[] {
  const parsed = modelsFile.safeParse(readJson(path));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Error(`(${path}): ${issue?.path.join('.') || 'the file'}: ${issue?.message}`);
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
