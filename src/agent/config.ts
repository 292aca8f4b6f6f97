import { integer, parseAddress, setting, text } from '#platform/config.ts';

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
} as const;

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
} as const;

export const imageModelSettings = {
  ...generator('IMAGE_MODEL', 'OpenAI-compatible `/images/generations` and `/images/edits`', 'the offline renderer'),
  name: text('IMAGE_MODEL_NAME', { meaning: 'The image model.' }),
} as const;

export const videoModelSettings = {
  ...generator('VIDEO_MODEL', 'OpenAI-compatible `/videos`', 'the offline renderer'),
  name: text('VIDEO_MODEL_NAME', { meaning: 'The video model.' }),
} as const;
