/**
 * The whole configuration (docs/specification/system.md#engines). It is read once at the start, validated as a whole and passed down in
 * parts.
 */
import { resolve } from 'node:path';
import { secretsOfMcpServers } from '#agent/mcpservers.ts';
import { findUncovered } from '#auth/config.ts';
import { findUndrawable } from '#image/config.ts';
import { findUnusable } from '#media/credentials/identity.ts';
import { ConfigFault, type Environment, readSettings, type Setting } from '#platform/config.ts';
import { anyLocalOrigin } from '#platform/http/cors.ts';
import { findMisspellings } from '#platform/misspelling.ts';
import { withSecrets } from '#platform/secrets.ts';
import { allSettings, settingGroups } from './settings.ts';

/** Offsets from the base port, in the order in which services start and are listed (docs/specification/system.md#startup-and-shutdown). */
const portOffsets = {
  media: 1,
  image: 2,
  auth: 3,
  agent: 4,
  memory: 5,
  content: 6,
  notify: 7,
  edge: 10,
  idp: 11,
  cms: 12,
  console: 0,
} as const;

export type ServiceName = keyof typeof portOffsets;
export const serviceNames = Object.keys(portOffsets) as readonly ServiceName[];
export const isServiceName = (name: string): name is ServiceName => Object.hasOwn(portOffsets, name);

/** Stand-ins for external services. In production they start only if they are named. */
const standIns: readonly ServiceName[] = ['idp', 'cms'];

/** Returns what `npm start` starts by default. In production that excludes stand-ins, and the edge if it is not needed. */
export function servicesByDefault(environment: Environment): readonly ServiceName[] {
  if (environment.NODE_ENV !== 'production') return serviceNames;
  return serviceNames.filter((name) => !standIns.includes(name) && (name !== 'edge' || needsEdge(environment)));
}

export type Config = ReturnType<typeof readConfig>;

/**
 * Reads the environment for the services to start. Throws ConfigFault with all faults in one line.
 * Outside production, missing secrets are generated and, with `keepSecrets`, stored in the data folder.
 */
export function readConfig(
  given: Environment,
  services: readonly ServiceName[],
  { keepSecrets = true }: { readonly keepSecrets?: boolean } = {},
) {
  const environment = withModelUrls(given);
  const production = environment.NODE_ENV === 'production';
  const dataDir = resolve(environment.ATELIER_DATA_DIR || 'data');
  const complete = production ? environment : withSecrets(environment, dataDir, settingGroups, keepSecrets);
  const rule = {
    production,
    inUse: groupsOf(services, environment),
    requiredByOthers: requiredByOthers(environment, services),
  };
  const uncovered = [
    ...(production ? findExamples(environment) : []),
    ...(production && services.includes('auth') ? findUncovered(environment) : []),
    ...findUndrawable(environment),
    ...(services.includes('media') ? findUnusable(environment) : []),
  ];
  try {
    const config = readSettings(complete, settingGroups, rule);
    if (uncovered.length > 0) throw new ConfigFault([]);
    return config;
  } catch (error) {
    // A misspelled setting is often the reason why another one is missing.
    if (error instanceof ConfigFault)
      throw new ConfigFault([...error.faults, ...uncovered, ...misspellingsIn(environment)]);
    throw error;
  }
}

/** Returns one sentence for each setting that is accepted but probably unintended. */
export function warningsOf(environment: Environment, services: readonly ServiceName[]): readonly string[] {
  const usesBuiltinEmbedding =
    environment.NODE_ENV === 'production' &&
    services.includes('memory') &&
    environment.EMBEDDING_BASE_URL === 'builtin';
  // In production, these are faults.
  const isUncovered = environment.NODE_ENV !== 'production' && services.includes('auth');
  return [
    ...misspellingsIn(environment),
    ...(isUncovered ? findUncovered(environment) : []),
    ...(usesBuiltinEmbedding
      ? ['EMBEDDING_BASE_URL is `builtin`: an embedding model finds memories more reliably']
      : []),
  ];
}

/** The shipped environment files use this reserved domain, so that a copy does not start before it is edited. */
function findExamples(environment: Environment): readonly string[] {
  const names = allSettings
    .map(({ variable }) => variable)
    .filter((variable) => /\.invalid\b/.test(environment[variable] ?? ''));
  return names.length === 0 ? [] : [`replace the example values of ${names.join(', ')}`];
}

function misspellingsIn(environment: Environment): readonly string[] {
  const settings = allSettings.map(({ variable }) => variable);
  return findMisspellings(Object.keys(environment), settings).map(
    ({ variable, likely }) => `${variable} is not a setting (did you mean ${likely}?)`,
  );
}

/** MODELS_FILE takes the place of MODEL_*, and the packages of providers have base URLs of their own. */
function withModelUrls(given: Environment): Environment {
  const named: readonly (readonly [boolean, string])[] = [
    [Boolean(given.MODELS_FILE), 'MODEL_BASE_URL'],
    [usesPackage(given.IMAGE_MODEL_PROVIDER), 'IMAGE_MODEL_BASE_URL'],
    [usesPackage(given.VIDEO_MODEL_PROVIDER), 'VIDEO_MODEL_BASE_URL'],
  ];
  const urls = named.flatMap(([isNamed, variable]) => (isNamed ? [[variable, given[variable] || 'offline']] : []));
  return { ...given, ...Object.fromEntries(urls) };
}

const usesPackage = (provider: string | undefined) => (provider || 'openai-compatible') !== 'openai-compatible';

/** Settings that other settings require: the keys of a server and, in production, a channel for mail. */
function requiredByOthers(environment: Environment, services: readonly ServiceName[]): readonly string[] {
  const isServer = (endpoint: string | undefined, own = 'embedded') => (endpoint || own) !== own;
  const needsModel = (embedder: string | undefined) => isServer(embedder, 'builtin') && embedder !== 'local';
  const sendsMail = services.includes('notify') && environment.NODE_ENV === 'production';
  return [
    ...(services.includes('memory') && needsModel(environment.EMBEDDING_BASE_URL) ? ['EMBEDDING_MODEL'] : []),
    ...(isServer(environment.S3_ENDPOINT)
      ? ['S3_BUCKET', 'S3_PUBLIC_BUCKET', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY']
      : []),
    ...['MODEL', 'IMAGE_MODEL', 'VIDEO_MODEL'].flatMap((model) =>
      isServer(environment[`${model}_BASE_URL`], 'offline') || usesPackage(environment[`${model}_PROVIDER`])
        ? [`${model}_NAME`]
        : [],
    ),
    ...(isServer(environment.LEGACY_S3_ENDPOINT) ? ['LEGACY_S3_ACCESS_KEY_ID', 'LEGACY_S3_SECRET_ACCESS_KEY'] : []),
    ...(environment.WEBHOOK_URL ? ['WEBHOOK_SECRET'] : []),
    ...(sendsMail ? ['RESEND_API_KEY or SMTP_URL'] : []),
  ];
}

export interface StandIn {
  readonly part: string;
  readonly state: string;
  /** The setting that names the real service. */
  readonly setting: string;
}

/** Lists the stand-ins that the chosen services use in place of external services. */
export function standInsOf(config: Config, services: readonly ServiceName[]): readonly StandIn[] {
  const { identity, cms, model, imageModel, videoModel, notify } = config;
  const uses = (...some: readonly ServiceName[]) => some.some((service) => services.includes(service));
  const standIn = (isUsed: boolean, part: string, state: string, setting: string) =>
    isUsed ? [{ part, state, setting }] : [];
  const agent = uses('agent');
  return [
    ...standIn(
      uses('auth', 'idp') && identity.url === undefined,
      'the identity provider',
      'local, and signs in any user without a password',
      'IDP_URL',
    ),
    ...standIn(uses('content', 'cms') && cms.url === undefined, 'the CMS', 'local', 'CMS_URL'),
    ...standIn(
      agent && !hasEntries(model.file, 'chat') && model.url === 'offline',
      'the language model',
      'offline',
      'MODEL_BASE_URL',
    ),
    ...standIn(
      agent && isMediaOffline('image', model.file, imageModel),
      'the image model',
      offlineOf('image', model.file),
      hasEntries(model.file, 'image') ? 'MODELS_FILE' : 'IMAGE_MODEL_BASE_URL',
    ),
    ...standIn(
      agent && isMediaOffline('video', model.file, videoModel),
      'the video model',
      offlineOf('video', model.file),
      hasEntries(model.file, 'video') ? 'MODELS_FILE' : 'VIDEO_MODEL_BASE_URL',
    ),
    ...standIn(
      uses('notify') && notify.resendApiKey === undefined && notify.smtpUrl === 'outbox',
      'mail',
      'stored in the outbox of the data folder',
      'RESEND_API_KEY or SMTP_URL',
    ),
  ];
}

/** Whether MODELS_FILE replaces the settings of this kind. */
const hasEntries = (file: Config['model']['file'], kind: 'chat' | 'image' | 'video'): boolean =>
  file?.some((entry) => (entry.kind ?? 'chat') === kind) ?? false;

/** With the entries of the file, because the others are real. */
function offlineOf(kind: 'image' | 'video', file: Config['model']['file'] = []): string {
  const ids = file.filter((entry) => entry.kind === kind && entry.baseUrl === 'offline').map(({ id }) => id);
  return ['offline', ...(ids.length === 0 ? [] : [ids.join(', ')])].join(': ');
}

/** Whether the offline renderer makes images or videos for at least one model. */
function isMediaOffline(
  kind: 'image' | 'video',
  file: Config['model']['file'],
  { provider, url }: Pick<Config['videoModel'], 'provider' | 'url'>,
): boolean {
  if (hasEntries(file, kind)) return file?.some((entry) => entry.kind === kind && entry.baseUrl === 'offline') ?? false;
  return provider === 'openai-compatible' && url === 'offline';
}

/** Returns RATE_LIMIT_PER_MINUTE. 0: no limit. */
export function rateLimitOf({ process: { production, rateLimitPerMinute } }: Config): number {
  return rateLimitPerMinute ?? (production ? 1200 : 0);
}

/** Returns LEGACY_S3_ENDPOINT or, if it is not set and this is not production, the folder (docs/specification/media.md#legacy-files). */
export function legacyOf({ process: { production }, legacyObjects }: Config): Config['legacyObjects'] {
  const { endpoint = production ? undefined : 'embedded' } = legacyObjects;
  return { ...legacyObjects, endpoint };
}

/**
 * Returns where each service listens. The local identity provider signs anyone in as anyone, so it listens on the loopback interface
 * regardless of HOST, unless IDP_ALLOW_NON_LOOPBACK is set.
 */
export function bindingOf(config: Config, service: ServiceName): { readonly host: string; readonly port: number } {
  const { host, portBase } = config.process;
  const isLoopbackOnly = service === 'idp' && !config.localIdp.allowNonLoopback && !isLoopback(host);
  return { host: isLoopbackOnly ? '127.0.0.1' : host, port: portBase + portOffsets[service] };
}

const isLoopback = (host: string) => host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);

/**
 * Returns the URL of each service for other services and the commands and, for the edge and the identity provider, for the public.
 * Default: its port on the bind address, or on `localhost` if that is the loopback or the wildcard address.
 */
export function addressesOf(config: Config): Readonly<Record<ServiceName, string>> {
  const at = (service: ServiceName) => {
    const { host, port } = bindingOf(config, service);
    const local = ['127.0.0.1', '::1', '0.0.0.0', '::'].includes(host);
    const name = local ? 'localhost' : host.includes(':') ? `[${host}]` : host;
    return `http://${name}:${port}`;
  };
  const configured: Readonly<Partial<Record<ServiceName, string | undefined>>> = {
    ...config.addresses,
    idp: config.identity.url,
    cms: config.cms.url,
    console: config.console.url,
  };
  return Object.fromEntries(serviceNames.map((service) => [service, configured[service] ?? at(service)])) as Record<
    ServiceName,
    string
  >;
}

/** The local identity provider signs anyone in, so an origin on this machine gains nothing. */
function localOriginsOf({ process: { production }, identity: { url } }: Config): readonly string[] {
  return production || url !== undefined ? [] : [anyLocalOrigin];
}

/**
 * Returns AGENT_ALLOWED_ORIGINS or, if it is not set and this is not production, the console. The CORS rule itself adds
 * `http://localhost:3000`.
 */
export function agentOriginsOf(config: Config): readonly string[] {
  const { production, portBase } = config.process;
  const { agentOrigins } = config.cors;
  if (production || agentOrigins.length > 0) return [...agentOrigins, ...localOriginsOf(config)];
  return [...['localhost', '127.0.0.1'].map((name) => `http://${name}:${portBase}`), ...localOriginsOf(config)];
}

/**
 * Returns ALLOWED_REDIRECT_ORIGINS or, if it is not set and this is not production, the console and the development server of a front end.
 */
export function redirectOriginsOf(config: Config): readonly string[] {
  const { production, portBase } = config.process;
  const { allowedOrigins } = config.auth;
  if (production || allowedOrigins.length > 0) return [...allowedOrigins, ...localOriginsOf(config)];
  const console = [`http://localhost:${portBase}`, `http://127.0.0.1:${portBase}`];
  return [...console, 'http://localhost:3000', ...localOriginsOf(config)];
}

/** Returns IDP_SERVICE_KEY. The local identity provider takes the internal key. */
export function serviceKeyOf({ identity, internal }: Config): string | undefined {
  return identity.serviceKey ?? (identity.url === undefined ? internal.keys[0] : undefined);
}

/** The public URL of the authentication service. */
export const publicAuthUrlOf = (config: Config): string => config.auth.publicUrl ?? addressesOf(config).auth;

/** Returns the URL of each service for browsers. */
export function browserUrlsOf(config: Config): Omit<ReturnType<typeof addressesOf>, 'idp' | 'cms' | 'console'> {
  const { idp: _idp, cms: _cms, console: _console, ...services } = addressesOf(config);
  return {
    ...services,
    auth: publicAuthUrlOf(config),
    media: config.console.mediaUrl ?? services.media,
    agent: config.console.agentUrl ?? services.agent,
    memory: config.console.memoryUrl ?? services.memory,
    content: config.content.publicUrl ?? services.content,
  };
}

/** Returns all configured secrets, so that the log can remove them. */
export function secretsOf(config: Config): readonly string[] {
  const values: Readonly<Record<string, Readonly<Record<string, unknown>>>> = config;
  return Object.entries(settingGroups)
    .flatMap(([group, settings]) =>
      Object.entries<Setting<unknown>>(settings)
        .filter(([, { secret: isSecret }]) => isSecret)
        .flatMap(([name]) => values[group]?.[name])
        .filter((value) => typeof value === 'string')
        // Keywords that select an engine are not secret.
        .filter((value) => value !== 'embedded' && value !== 'outbox'),
    )
    .concat(config.webhooks.secrets, secretsOfMcpServers(config.agent.mcpServers));
}

type GroupName = keyof typeof settingGroups;

const groupsByService: Partial<Record<ServiceName, readonly GroupName[]>> = {
  media: [
    'database',
    'redis',
    'objects',
    'legacyObjects',
    'identity',
    'internal',
    'resizing',
    'media',
    'image',
    'webhooks',
  ],
  image: ['objects', 'image', 'imageService'],
  auth: ['database', 'identity', 'auth', 'webhooks'],
  agent: ['database', 'redis', 'identity', 'internal', 'agent', 'model', 'imageModel', 'videoModel', 'webhooks'],
  edge: ['objects', 'legacyObjects', 'resizing', 'image', 'edge'],
  memory: ['database', 'identity', 'internal', 'memory', 'embedding', 'memoryModel'],
  content: ['database', 'cms', 'content'],
  notify: ['database', 'internal', 'notify', 'webhooks'],
  idp: ['localIdp', 'database', 'webhooks'],
  console: ['console', 'internal', 'memory', 'webhooks'],
};

/** Processes of this service share their writes through the database, so without Redis only one of them may run. */
export function usesDatabase(service: ServiceName): boolean {
  return groupsByService[service]?.includes('database') ?? false;
}

/**
 * PostgreSQL without Redis: one process per service (docs/specification/system.md#processes). The folder of the embedded database has a
 * lock.
 */
export function isAlone({ database, redis }: Config): boolean {
  return database.url !== 'embedded' && redis.url === 'embedded';
}

function groupsOf(services: readonly ServiceName[], environment: Environment): ReadonlySet<GroupName> {
  const groups = new Set<GroupName>([
    'process',
    'cors',
    ...services.flatMap((service) => groupsByService[service] ?? []),
  ]);
  // A service that creates object URLs needs the edge's URL.
  if (groups.has('objects') && needsEdge(environment)) groups.add('addresses');
  return groups;
}

/** The edge runs if objects are embedded, or if no proxy or no CDN is set (docs/specification/system.md#edge). */
function needsEdge(environment: Environment): boolean {
  return (
    (environment.S3_ENDPOINT || 'embedded') === 'embedded' ||
    environment.LEGACY_S3_ENDPOINT === 'embedded' ||
    !environment.IMGPROXY_URL ||
    !environment.PUBLIC_CDN_URL
  );
}
