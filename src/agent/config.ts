import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { type Plan, plan, plans } from '#accounts/api.ts';
import { integer, list, parseAddress, setting, text } from '#platform/config.ts';
import { parseJson } from '#platform/json.ts';
import { readToolApproval } from './approvals/rules.ts';
import { readMcpServers } from './mcpservers.ts';
import { readModelsFile, reasoningEfforts } from './modelsfile.ts';
import { type ProviderName, parseProvider, providerNames } from './sdkpackages.ts';

/** docs/specification/system.md#engines. */
export const agentSettings = {
  taskTtlS: integer('AGENT_TASK_TTL_SECS', {
    default: 86_400,
    min: 1,
    meaning: 'Seconds for which a run and its stream are stored after the end of the run.',
  }),
  maxRunsPerUser: integer('AGENT_MAX_RUNS_PER_USER', {
    default: 10,
    min: 1,
    meaning: 'Concurrent runs of one user. Further runs get 429 `too_many_runs`.',
  }),
  maxVideosPerUser: integer('AGENT_MAX_VIDEOS_PER_USER', {
    default: 5,
    min: 1,
    meaning: 'Videos of one user that are ordered at a time. Further ones wait, with their credits reserved.',
  }),
  maxToolCallsPerStep: integer('AGENT_MAX_TOOL_CALLS_PER_STEP', {
    default: 16,
    min: 1,
    meaning: 'Tool calls of one model response that are carried out. Further ones fail and are free.',
  }),
  maxRunCredits: integer('AGENT_MAX_CREDITS_PER_RUN', {
    default: 200,
    meaning: 'Credits that one run can spend, with its images and videos. 0: no limit.',
  }),
  freeCancels: integer('AGENT_FREE_CANCELS_PER_DAY', {
    default: 10,
    meaning:
      'Canceled orders that reached a provider, and runs stopped before their first token, that are free for a user and day (UTC). Further ones are charged.',
  }),
  budgetDailyUsd: setting(
    'AGENT_BUDGET_DAILY_USD',
    {
      defaultText: 'none',
      meaning:
        'A budget in US dollars for what models and providers cost in a day (UTC). At 50, 80 and 100 %, operators get an email at `OPERATOR_EMAILS`, and webhooks get `budget.reached`. It limits nothing. Operators can replace it in the console.',
    },
    parseUsd,
  ),
  budgetMonthlyUsd: setting(
    'AGENT_BUDGET_MONTHLY_USD',
    { defaultText: 'none', meaning: 'The same for a month (UTC).' },
    parseUsd,
  ),
  cmsMediaHosts: list('CMS_MEDIA_HOSTS', {
    default: [],
    defaultText: 'none',
    meaning:
      'The hosts of the cover and input images of home cards, as `host` or `host:port`, separated by commas. The studio shows cover images of no other host.',
  }),
  drainS: integer('AGENT_DRAIN_SECS', {
    default: 30,
    max: 3600,
    meaning:
      'Seconds that runs in progress have to finish while the service drains. After that, other processes continue them.',
  }),
  toolApproval: setting(
    'AGENT_TOOL_APPROVAL',
    {
      default: {},
      defaultText: '`{}`',
      meaning:
        'Tools that a person has to approve before each call, as a JSON object: the name of a tool, or its beginning with `*` → `true` or `false` (docs/agent.md#approvals). Without a rule, MCP tools with `destructiveHint` need approval.',
    },
    readToolApproval,
  ),
  approvalCredits: integer('AGENT_APPROVAL_CREDITS', {
    default: 0,
    meaning: 'Calls that cost at least so many credits need approval. 0: a price never needs one.',
  }),
  continueRuns: setting(
    'AGENT_CONTINUE_RUNS',
    {
      default: true,
      meaning: '`true`: another process continues the runs of a process that died or drains. `false`: these runs fail.',
    },
    parseBoolean,
  ),
  maxRestarts: integer('AGENT_MAX_RESTARTS', {
    default: 2,
    meaning: 'How often a run is continued after its process died. After that, it fails and is free.',
  }),
  maxSteps: integer('AGENT_MAX_STEPS', {
    default: 8,
    min: 1,
    max: 100,
    meaning: 'Model calls of one run. A run that reaches the limit ends with the `finishReason` `max-steps`.',
  }),
  instructions: setting(
    'AGENT_INSTRUCTIONS',
    { meaning: 'Instructions for the model, which replace the built-in ones; `@file` reads them from a file.' },
    (raw) => (raw.startsWith('@') ? readText(raw.slice(1)) : raw),
  ),
  extractMemories: setting(
    'AGENT_EXTRACT_MEMORIES',
    {
      defaultText: '`true` with a model, unless `MEMORY_MODEL_BASE_URL` or `MEMORY_MODEL_NAME` is `off`',
      meaning:
        '`true`: after a completed run, the memory service extracts memories from its question and answer (docs/agent.md#memories-from-conversations).',
    },
    parseBoolean,
  ),
  promptScreeningUrl: setting(
    'PROMPT_SCREENING_URL',
    {
      meaning:
        "The base URL of a service with OpenAI's `/moderations`, such as `https://api.openai.com/v1`. It checks prompts and messages before anything is reserved (docs/agent.md#prompt-screening).",
    },
    parseAddress,
  ),
  promptScreeningKey: text('PROMPT_SCREENING_API_KEY', { secret: true, meaning: 'The API key of that service.' }),
  promptScreeningModel: text('PROMPT_SCREENING_MODEL', {
    meaning: 'The model of that service. If absent, the service chooses.',
  }),
  promptScreeningFail: setting<'open' | 'closed'>(
    'PROMPT_SCREENING_FAIL',
    {
      default: 'closed',
      meaning:
        'If the service is not available: `closed` refuses prompts with 503, `open` lets them pass and logs a warning without their text.',
    },
    (raw) => {
      if (raw !== 'open' && raw !== 'closed') throw new Error('must be open or closed');
      return raw;
    },
  ),
  mcpServers: setting(
    'AGENT_MCP_SERVERS',
    {
      secret: true,
      default: [],
      defaultText: 'none',
      meaning:
        'MCP servers whose tools the agent can use, over Streamable HTTP: a JSON object, name → `{ "url": …, "headers": {…}, "identity": true }` (docs/agent.md#mcp-servers).',
    },
    readMcpServers,
  ),
  mcpAllowPrivate: setting(
    'AGENT_MCP_ALLOW_PRIVATE',
    {
      default: false,
      meaning: '`true`: `AGENT_MCP_SERVERS` may have private addresses. Otherwise the start fails.',
    },
    parseBoolean,
  ),
} as const;

function parseUsd(raw: string): number {
  const usd = Number(raw);
  if (!/^\d{1,9}(?:[.]\d{1,6})?$/.test(raw) || usd === 0)
    throw new Error('must be an amount in US dollars above 0, such as 25 or 12.50');
  return usd;
}

function parseBoolean(raw: string): boolean {
  if (raw !== 'true' && raw !== 'false') throw new Error('must be true or false');
  return raw === 'true';
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw new Error(`refers to the file ${path}, which cannot be read`);
  }
}

function jsonObject(variable: string, meaning: string) {
  return setting(variable, { default: {}, defaultText: '`{}`', meaning }, (raw): Readonly<Record<string, string>> => {
    const parsed = stringRecord.safeParse(parseJson(raw));
    if (!parsed.success) throw new Error('must be a JSON object whose values are texts');
    return parsed.data;
  });
}

const stringRecord = z.record(z.string(), z.string());

function generator(prefix: string, what: string, offline: string) {
  return {
    url: setting(
      `${prefix}_BASE_URL`,
      {
        default: 'offline',
        requiredInProduction: true,
        meaning: `The base URL for ${what}; \`offline\`: ${offline}, whose output is labeled as such.`,
      },
      (raw) => (raw === 'offline' ? raw : parseAddress(raw)),
    ),
    apiKey: text(`${prefix}_API_KEY`, { secret: true, meaning: 'The API key of that provider.' }),
  };
}

export const modelSettings = {
  ...generator('MODEL', 'OpenAI-compatible chat completions', 'the offline model'),
  names: {
    ...text('MODEL_NAME', {
      meaning: 'The model, or several, separated by commas: the first is the default, and a run can name another.',
    }),
    parse: (raw: string | undefined) =>
      (raw ?? '')
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== ''),
  },
  contextTokens: integer('MODEL_CONTEXT_TOKENS', {
    default: 128_000,
    min: 1000,
    meaning: 'The size of the context of the model. Atelier estimates tokens and sends the newest messages that fit.',
  }),
  firstTokenTimeoutS: integer('MODEL_FIRST_TOKEN_TIMEOUT_SECS', {
    default: 300,
    min: 1,
    meaning: 'Seconds that a model call may take to its first token.',
  }),
  idleTimeoutS: integer('MODEL_IDLE_TIMEOUT_SECS', {
    default: 120,
    min: 1,
    meaning: 'Seconds to wait for each token after the first one.',
  }),
  temperature: setting('MODEL_TEMPERATURE', { meaning: 'Sent to the model if set; 0 to 2.' }, (raw) => {
    const value = Number(raw);
    if (!/^\d+(?:[.]\d+)?$/.test(raw) || value > 2) throw new Error('must be a number from 0 to 2');
    return value;
  }),
  maxOutputTokens: integer('MODEL_MAX_OUTPUT_TOKENS', { min: 1, meaning: 'Sent to the model if set.' }),
  runCredits: integer('RUN_CREDITS', {
    default: 1,
    min: 0,
    max: 1_000_000,
    meaning: 'The price of a run in credits, for models that set no price.',
  }),
  reasoningEffort: setting(
    'MODEL_REASONING_EFFORT',
    { meaning: `Sent to the model if set: ${reasoningEfforts.join(', ')}.` },
    (raw) => {
      const found = reasoningEfforts.find((effort) => effort === raw);
      if (found === undefined) throw new Error(`must be one of ${reasoningEfforts.join(', ')}`);
      return found;
    },
  ),
  headers: jsonObject('MODEL_HEADERS', 'Headers for every request to the model, as a JSON object.'),
  query: jsonObject('MODEL_QUERY', 'Query parameters for every request to the model, as a JSON object.'),
  file: setting(
    'MODELS_FILE',
    { meaning: 'A JSON file with several models, which replaces `MODEL_*` (docs/agent.md#models).' },
    readModelsFile,
  ),
} as const;

function parsePlans(raw: string): Plan[] {
  const parsed = z.array(plan).safeParse(raw.split(',').map((name) => name.trim()));
  if (!parsed.success) throw new Error(`must be plans, separated by commas: ${plans.join(', ')}`);
  return parsed.data;
}

function providerSetting(prefix: string) {
  const names = providerNames.map((name) => `\`${name}\``).join(', ');
  const meaning = `One of ${names}. All but the first are packages of the AI SDK (docs/providers.md).`;
  return setting<ProviderName>(`${prefix}_PROVIDER`, { default: 'openai-compatible', meaning }, parseProvider);
}

export const imageModelSettings = {
  provider: providerSetting('IMAGE_MODEL'),
  ...generator('IMAGE_MODEL', 'OpenAI-compatible `/images/generations` and `/images/edits`', 'the offline renderer'),
  name: text('IMAGE_MODEL_NAME', { meaning: 'The image model.' }),
  credits: integer('IMAGE_CREDITS', {
    default: 2,
    min: 0,
    max: 1_000_000,
    meaning: 'The price of an image in credits, for models that set no price. 0: free.',
  }),
  editName: text('IMAGE_MODEL_EDIT_NAME', {
    meaning: 'The model for edits, if it differs.',
  }),
} as const;

export const videoModelSettings = {
  provider: providerSetting('VIDEO_MODEL'),
  ...generator('VIDEO_MODEL', 'OpenAI-compatible `/videos`', 'the offline renderer'),
  name: text('VIDEO_MODEL_NAME', { meaning: 'The video model.' }),
  credits: integer('VIDEO_CREDITS', {
    default: 40,
    min: 0,
    max: 1_000_000,
    meaning: 'The price of a video in credits, for models that set no price. 0: free.',
  }),
  plans: setting(
    'VIDEO_PLANS',
    {
      default: plans.filter((plan) => plan !== 'free'),
      defaultText: 'all but `free`',
      meaning: 'The plans that include videos, separated by commas, for models that set no plans.',
    },
    parsePlans,
  ),
} as const;
