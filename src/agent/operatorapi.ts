/** What operators see of the agent: models, prices, and what all users used. */
import { z } from 'zod';
import { plan } from '#accounts/api.ts';
import { pageSize } from '#platform/wholenumber.ts';
import { day } from './api.ts';

const configuredModel = z.object({
  id: z.string(),
  label: z.string(),
  vision: z.boolean(),
  tools: z.boolean(),
  credits: z.int().describe('The price of a run in credits.'),
  contextTokens: z.int(),
  plans: z.array(plan).nullable().describe('The plans that include it; null: all.'),
  fallback: z.string().nullable().describe('The model that is used if this one fails.'),
  costUsd: z
    .object({ input: z.number(), output: z.number() })
    .nullable()
    .describe('The cost of a million tokens at the provider, in US dollars. `null`: not configured.'),
  simulated: z.boolean().describe('The offline model.'),
  default: z.boolean(),
});
export type ConfiguredModel = z.output<typeof configuredModel>;

const configuredMediaModel = z.object({
  kind: z.enum(['image', 'video']),
  id: z.string(),
  label: z.string(),
  credits: z.int().describe('The price of one image or video in credits.'),
  plans: z.array(plan).describe('The plans that include it.'),
  fallback: z.string().nullable().describe('The model that is used if this one fails.'),
  costUsd: z.number().nullable().describe('The cost of one at the provider, in US dollars. `null`: not configured.'),
  default: z.boolean().describe('The first of its kind.'),
});

export const configuredModels = z.object({
  models: z.array(configuredModel),
  media: z.array(configuredMediaModel).describe('The models of images, then those of videos.'),
  plans: z.array(z.object({ plan, hasVideo: z.boolean() })),
  prices: z.object({ image: z.int(), video: z.int() }).describe('In credits.'),
});
export type ConfiguredModels = z.output<typeof configuredModels>;

export const usageTotalsRange = z.object({
  from: day.optional().describe('The first day, in UTC. Default: 30 days before `to`.'),
  to: day.optional().describe('The last day, included. Default: today.'),
});
export type UsageTotalsRange = z.output<typeof usageTotalsRange>;

const used = {
  runs: z.int(),
  inputTokens: z.int(),
  outputTokens: z.int(),
  credits: z.int(),
  costUsd: z.number().describe('The cost at the providers, by `costUsd` of the models, in US dollars.'),
};

const mediaSum = z.object({
  kind: z.enum(['image', 'video']),
  model: z.string(),
  orders: z.int().describe('Orders that have ended. All images of a run are one.'),
  failed: z.int().describe('Orders that delivered nothing.'),
  delivered: z.int().describe('Images or videos.'),
  credits: z.int(),
  costUsd: z.number().nullable().describe('`null`: no price is set.'),
  meanMs: z.int().nullable().describe('The mean time of an order that delivered something. `null`: only runs ordered.'),
});

export const usageTotals = z.object({
  media: z.array(mediaSum).describe('Models of images and videos. Images of a run count while the run is stored.'),
  days: z.array(
    z.object({
      day: z.string(),
      model: z.string(),
      plan: z.string().describe('The plan of the users when they used it.'),
      ...used,
      images: z.int(),
      videos: z.int(),
    }),
  ),
});
export type UsageTotals = z.output<typeof usageTotals>;

export const userParams = z.object({ userId: z.guid().toLowerCase() });
export const userUsage = z.object({
  days: z.array(z.object({ day: z.string(), model: z.string(), ...used, images: z.int(), videos: z.int() })),
});
export type UserUsage = z.output<typeof userUsage>;

export const spenderListing = z.object({
  month: z
    .string()
    .regex(/^\d{4}-(?:0[1-9]|1[0-2])$/, 'must be a month such as 2026-01')
    .refine((text) => !text.startsWith('0000'), 'must be a month such as 2026-01')
    .optional()
    .describe('In UTC. Default: the current month.'),
  order: z.enum(['credits', 'cost']).default('credits').describe('Which users come first.'),
  limit: pageSize(100, 20),
});
export type SpenderListing = z.output<typeof spenderListing>;

export const spenders = z.object({
  month: z.string(),
  users: z
    .array(z.object({ userId: z.string(), ...used, images: z.int(), videos: z.int() }))
    .describe('Users who spent the most credits, or cost the most, come first.'),
});
export type Spenders = z.output<typeof spenders>;
