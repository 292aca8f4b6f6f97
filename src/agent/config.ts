import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { type Plan, plan, plans } from '#accounts/api.ts';
import { address, choice, flag, integer, list, number, parseAddress, setting, text, wordOr } from '#platform/config.ts';
import { parseJson } from '#platform/json.ts';
import { readToolApproval } from './approvals/rules.ts';
import { readMcpServers } from './mcpservers.ts';
import { readModelsFile, reasoningEfforts } from './modelsfile.ts';
import { findMissingPackage, providerNames } from './sdkpackages.ts';

/** docs/specification/system.md#engines. */
export const agentSettings = {
  taskTtlS: integer('AGENT_TASK_TTL_SECS', { default: 86_400, min: 1 }),
  maxRunsPerUser: integer('AGENT_MAX_RUNS_PER_USER', { default: 10, min: 1 }),
  maxVideosPerUser: integer('AGENT_MAX_VIDEOS_PER_USER', { default: 5, min: 1 }),
  maxToolCallsPerStep: integer('AGENT_MAX_TOOL_CALLS_PER_STEP', { default: 16, min: 1 }),
  maxRunCredits: integer('AGENT_MAX_CREDITS_PER_RUN', { default: 200 }),
  freeCancels: integer('AGENT_FREE_CANCELS_PER_DAY', { default: 10 }),
  budgetDailyUsd: setting('AGENT_BUDGET_DAILY_USD', parseUsd),
  budgetMonthlyUsd: setting('AGENT_BUDGET_MONTHLY_USD', parseUsd),
  cmsMediaHosts: list('CMS_MEDIA_HOSTS'),
  drainS: integer('AGENT_DRAIN_SECS', { default: 30, max: 3600 }),
  toolApproval: setting('AGENT_TOOL_APPROVAL', readToolApproval, { default: {} }),
  approvalCredits: integer('AGENT_APPROVAL_CREDITS', { default: 0 }),
  continueRuns: flag('AGENT_CONTINUE_RUNS', { default: true }),
  maxRestarts: integer('AGENT_MAX_RESTARTS', { default: 2 }),
  maxSteps: integer('AGENT_MAX_STEPS', { default: 8, min: 1, max: 100 }),
  instructions: setting('AGENT_INSTRUCTIONS', (raw) => (raw.startsWith('@') ? readText(raw.slice(1)) : raw)),
  extractMemories: flag('AGENT_EXTRACT_MEMORIES'),
  promptScreeningUrl: address('PROMPT_SCREENING_URL'),
  promptScreeningKey: text('PROMPT_SCREENING_API_KEY', { secret: true }),
  promptScreeningModel: text('PROMPT_SCREENING_MODEL'),
  promptScreeningFail: choice('PROMPT_SCREENING_FAIL', ['open', 'closed'], { default: 'closed' }),
  mcpServers: setting('AGENT_MCP_SERVERS', readMcpServers, { secret: true, default: [] }),
  mcpAllowPrivate: flag('AGENT_MCP_ALLOW_PRIVATE', { default: false }),
} as const;

function parseUsd(raw: string): number {
  const usd = Number(raw);
  if (!/^\d{1,9}(?:[.]\d{1,6})?$/.test(raw) || usd === 0)
    throw new Error('must be an amount in US dollars above 0, such as 25 or 12.50');
  return usd;
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw new Error(`refers to the file ${path}, which cannot be read`);
  }
}

function jsonObject(variable: string) {
  return setting(
    variable,
    (raw): Readonly<Record<string, string>> => {
      const parsed = stringRecord.safeParse(parseJson(raw));
      if (!parsed.success) throw new Error('must be a JSON object whose values are texts');
      return parsed.data;
    },
    { default: {} },
  );
}

const stringRecord = z.record(z.string(), z.string());

function generator(prefix: string) {
  const declaration = { default: 'offline', requiredInProduction: true };
  return {
    url: setting(`${prefix}_BASE_URL`, wordOr('offline', parseAddress), declaration),
    apiKey: text(`${prefix}_API_KEY`, { secret: true }),
  };
}

export const modelSettings = {
  ...generator('MODEL'),
  names: list('MODEL_NAME'),
  contextTokens: integer('MODEL_CONTEXT_TOKENS', { default: 128_000, min: 1000 }),
  firstTokenTimeoutS: integer('MODEL_FIRST_TOKEN_TIMEOUT_SECS', { default: 300, min: 1 }),
  idleTimeoutS: integer('MODEL_IDLE_TIMEOUT_SECS', { default: 120, min: 1 }),
  temperature: number('MODEL_TEMPERATURE', { min: 0, max: 2 }),
  maxOutputTokens: integer('MODEL_MAX_OUTPUT_TOKENS', { min: 1 }),
  runCredits: integer('RUN_CREDITS', { default: 1, min: 0, max: 1_000_000 }),
  reasoningEffort: choice('MODEL_REASONING_EFFORT', reasoningEfforts),
  headers: jsonObject('MODEL_HEADERS'),
  query: jsonObject('MODEL_QUERY'),
  file: setting('MODELS_FILE', readModelsFile),
} as const;

function parsePlans(raw: string): Plan[] {
  const parsed = z.array(plan).safeParse(raw.split(',').map((name) => name.trim()));
  if (!parsed.success) throw new Error(`must be plans, separated by commas: ${plans.join(', ')}`);
  return parsed.data;
}

function providerSetting(prefix: string) {
  const declared = choice(`${prefix}_PROVIDER`, providerNames, { default: 'openai-compatible' });
  const parse = (raw: string | undefined) => {
    const provider = declared.parse(raw);
    const missing = findMissingPackage(provider);
    if (missing !== undefined) throw new Error(missing);
    return provider;
  };
  return { ...declared, parse };
}

export const imageModelSettings = {
  provider: providerSetting('IMAGE_MODEL'),
  ...generator('IMAGE_MODEL'),
  name: text('IMAGE_MODEL_NAME'),
  credits: integer('IMAGE_CREDITS', { default: 2, min: 0, max: 1_000_000 }),
  editName: text('IMAGE_MODEL_EDIT_NAME'),
} as const;

export const videoModelSettings = {
  provider: providerSetting('VIDEO_MODEL'),
  ...generator('VIDEO_MODEL'),
  name: text('VIDEO_MODEL_NAME'),
  credits: integer('VIDEO_CREDITS', { default: 40, min: 0, max: 1_000_000 }),
  plans: setting('VIDEO_PLANS', parsePlans, { default: plans.filter((plan) => plan !== 'free') }),
} as const;
