import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { integer, parseAddress, setting, text } from '#platform/config.ts';
import { readMcpServers } from './mcpservers.ts';
import { readModelsFile, reasoningEfforts } from './modelsfile.ts';
import { type ProviderName, parseProvider, providerNames } from './sdkpackages.ts';

/** docs/specification/system.md#engines. */
export const agentSettings = {
  taskTtlS: integer('AGENT_TASK_TTL_SECS', {
    default: 86_400,
    min: 1,
    meaning: 'For how long after its end a task is known and its stream can be read.',
  }),
  maxRunsPerUser: integer('AGENT_MAX_RUNS_PER_USER', {
    default: 10,
    min: 1,
    meaning: 'Runs that one user has in flight at once; over it 429 `too_many_runs`.',
  }),
  drainS: integer('AGENT_DRAIN_SECS', {
    default: 30,
    max: 3600,
    meaning: 'For how long runs in flight may go on once the service drains.',
  }),
  maxSteps: integer('AGENT_MAX_STEPS', {
    default: 8,
    min: 1,
    max: 100,
    meaning: 'Model calls of one run; at the last one the answer ends with `finishReason` `max-steps`.',
  }),
  instructions: setting(
    'AGENT_INSTRUCTIONS',
    { meaning: "The model's instructions, in place of the built-in ones; `@file` reads them from a file." },
    (raw) => (raw.startsWith('@') ? readText(raw.slice(1)) : raw),
  ),
  extractMemories: setting(
    'AGENT_EXTRACT_MEMORIES',
    {
      defaultText: '`true` with a model, unless `MEMORY_MODEL_BASE_URL` or `MEMORY_MODEL_NAME` is `off`',
      meaning:
        '`true`: after a completed run, the memory service extracts what to remember from its question and answer (docs/agent.md#memories-from-conversations).',
    },
    parseBoolean,
  ),
  mcpServers: setting(
    'AGENT_MCP_SERVERS',
    {
      secret: true,
      default: [],
      defaultText: 'none',
      meaning:
        'MCP servers whose tools the agent has: a JSON object, name → `{ "url": …, "headers": {…} }`, over Streamable HTTP (docs/agent.md#mcp-servers).',
    },
    readMcpServers,
  ),
  mcpAllowPrivate: setting(
    'AGENT_MCP_ALLOW_PRIVATE',
    {
      default: false,
      meaning: '`true`: `AGENT_MCP_SERVERS` may have private addresses. Otherwise such a server is a start fault.',
    },
    parseBoolean,
  ),
} as const;

function parseBoolean(raw: string): boolean {
  if (raw !== 'true' && raw !== 'false') throw new Error('must be true or false');
  return raw === 'true';
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw new Error(`names the file ${path}, which cannot be read`);
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

function parseJson(raw: string): unknown {
  try {
    return JSON.parse(raw);
  } catch {
    return undefined;
  }
}

function generator(prefix: string, what: string, offline: string) {
  return {
    url: setting(
      `${prefix}_BASE_URL`,
      {
        default: 'offline',
        requiredInProduction: true,
        meaning: `${what}; \`offline\`: ${offline}, labelled as such.`,
      },
      (raw) => (raw === 'offline' ? raw : parseAddress(raw)),
    ),
    apiKey: text(`${prefix}_API_KEY`, { secret: true, meaning: 'Its key.' }),
  };
}

export const modelSettings = {
  ...generator('MODEL', 'OpenAI-compatible chat completions', 'the offline model'),
  names: {
    ...text('MODEL_NAME', {
      meaning: 'The model; comma-separated: the first unless a task names another of them.',
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
    meaning: "The model's context. The newest messages that fit are sent, by an estimate of their tokens.",
  }),
  firstTokenTimeoutS: integer('MODEL_FIRST_TOKEN_TIMEOUT_SECS', {
    default: 300,
    min: 1,
    meaning: 'How long a model call may take to its first token.',
  }),
  idleTimeoutS: integer('MODEL_IDLE_TIMEOUT_SECS', {
    default: 120,
    min: 1,
    meaning: 'How long a model may pause after its first token.',
  }),
  temperature: setting('MODEL_TEMPERATURE', { meaning: 'Sent to the model if set; 0 to 2.' }, (raw) => {
    const value = Number(raw);
    if (!/^\d+(?:[.]\d+)?$/.test(raw) || value > 2) throw new Error('must be a number from 0 to 2');
    return value;
  }),
  maxOutputTokens: integer('MODEL_MAX_OUTPUT_TOKENS', { min: 1, meaning: 'Sent to the model if set.' }),
  reasoningEffort: setting(
    'MODEL_REASONING_EFFORT',
    { meaning: `Sent to the model if set: ${reasoningEfforts.join(', ')}.` },
    (raw) => {
      const found = reasoningEfforts.find((effort) => effort === raw);
      if (found === undefined) throw new Error(`must be one of ${reasoningEfforts.join(', ')}`);
      return found;
    },
  ),
  headers: jsonObject('MODEL_HEADERS', 'JSON object of headers for every request to the model.'),
  query: jsonObject('MODEL_QUERY', 'JSON object of query parameters for every request to the model.'),
  file: setting(
    'MODELS_FILE',
    { meaning: 'JSON file with several models, in place of `MODEL_*` (docs/agent.md#models).' },
    readModelsFile,
  ),
} as const;

function providerSetting(prefix: string) {
  const names = providerNames.map((name) => `\`${name}\``).join(', ');
  const meaning = `${names}; all but the first are packages of the AI SDK (docs/providers.md).`;
  return setting<ProviderName>(`${prefix}_PROVIDER`, { default: 'openai-compatible', meaning }, parseProvider);
}

export const imageModelSettings = {
  provider: providerSetting('IMAGE_MODEL'),
  ...generator('IMAGE_MODEL', 'OpenAI-compatible `/images/generations` and `/images/edits`', 'the offline renderer'),
  name: text('IMAGE_MODEL_NAME', { meaning: 'The image model.' }),
  editName: text('IMAGE_MODEL_EDIT_NAME', {
    meaning: 'The model that edits images, if it is another one. Used with `IMAGE_MODEL_PROVIDER`.',
  }),
} as const;

export const videoModelSettings = {
  provider: providerSetting('VIDEO_MODEL'),
  ...generator('VIDEO_MODEL', 'OpenAI-compatible `/videos`', 'the offline renderer'),
  name: text('VIDEO_MODEL_NAME', { meaning: 'The video model.' }),
} as const;
