/** `MODELS_FILE`: several models of several providers (docs/specification/agent.md#models). */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { plan } from '#accounts/api.ts';
import { findMissingPackage, providerNames } from './sdkpackages.ts';

export const reasoningEfforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

const texts = z.record(z.string(), z.string());

const modelEntry = z
  .strictObject({
    id: z.string().min(1).max(128),
    label: z.string().min(1).max(200).optional(),
    provider: z.enum(providerNames).optional(),
    baseUrl: z.url({ protocol: /^https?$/ }).optional(),
    apiKeyEnv: z.string().min(1).optional(),
    model: z.string().min(1),
    vision: z.boolean().optional(),
    tools: z.boolean().optional(),
    plans: z.array(plan).optional(),
    credits: z.int().min(0).max(1_000_000).optional(),
    contextTokens: z.int().min(1000).optional(),
    fallback: z.string().min(1).optional(),
    temperature: z.number().min(0).max(2).optional(),
    maxOutputTokens: z.int().min(1).optional(),
    reasoningEffort: z.enum(reasoningEfforts).optional(),
    headers: texts.optional(),
    query: texts.optional(),
  })
  .readonly();
export type ModelEntry = z.output<typeof modelEntry>;

const modelsFile = z
  .array(modelEntry)
  .min(1)
  .superRefine((entries, context) => {
    const ids = entries.map(({ id }) => id);
    for (const [index, { id, fallback, provider = 'openai-compatible', baseUrl }] of entries.entries()) {
      if (provider === 'openai-compatible' && baseUrl === undefined)
        context.addIssue({ code: 'custom', path: [index, 'baseUrl'], message: 'is required without a provider' });
      const missing = findMissingPackage(provider);
      if (missing !== undefined) context.addIssue({ code: 'custom', path: [index, 'provider'], message: missing });
      if (ids.indexOf(id) !== index)
        context.addIssue({ code: 'custom', path: [index, 'id'], message: 'is not unique' });
      if (fallback !== undefined && (fallback === id || !ids.includes(fallback)))
        context.addIssue({ code: 'custom', path: [index, 'fallback'], message: 'must be the id of another model' });
    }
  });

/** The first model is the default. Throws an Error that names the field at fault. */
export function readModelsFile(path: string): readonly ModelEntry[] {
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
