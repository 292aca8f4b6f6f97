/** The whole configuration (docs/specification/system.md#engines): read once at the start, judged as a whole, handed down in parts. */
import { resolve } from 'node:path';
import { ConfigFault, type Environment, readSettings, type Setting } from '#platform/config.ts';
import { findMisspellings } from '#platform/misspelling.ts';
import { withSecrets } from '#platform/secrets.ts';
import { allSettings, settingGroups } from './settings.ts';

/** Ports above the base, in the order in which services start and are told of (docs/specification/system.md#startup-and-shutdown). */
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

/** Of other people's services: never started unasked in production. */
const standIns: readonly ServiceName[] = ['idp', 'cms'];

/** What `npm start` starts when nothing is named: in production no stand-in unasked, and the edge only when needed. */
export function servicesByDefault(environment: Environment): readonly ServiceName[] {
  if (environment.NODE_ENV !== 'production') return serviceNames;
  return serviceNames.filter((name) => !standIns.includes(name) && (name !== 'edge' || needsEdge(environment)));
}

export type Config = ReturnType<typeof readConfig>;

/**
 * Reads the environment for the services to be started. Throws ConfigFault with every fault in one line.
 * Outside production, missing secrets are made and, with `keepSecrets`, kept in the data folder.
 */
export function readConfig(
  environment: Environment,
  services: readonly ServiceName[],
  { keepSecrets = true }: { readonly keepSecrets?: boolean } = {},
) {
  const production = environment.NODE_ENV === 'production';
  const dataDir = resolve(environment.ATELIER_DATA_DIR || 'data');
  const complete = production ? environment : withSecrets(environment, dataDir, settingGroups, keepSecrets);
  const rule = { production, inUse: groupsOf(services, environment), calledFor: calledFor(environment, services) };
  try {
    return readSettings(complete, settingGroups, rule);
  } catch (error) {
    // A misspelled setting is often why another one is missing.
    if (error instanceof ConfigFault) throw new ConfigFault([...error.faults, ...misspellingsIn(environment)]);
    throw error;
  }
}

/** One sentence for each setting that is accepted and likely not meant. */
export function warningsOf(environment: Environment, services: readonly ServiceName[]): readonly string[] {
  const embedsSimply =
    environment.NODE_ENV === 'production' &&
    services.includes('memory') &&
    environment.EMBEDDING_BASE_URL === 'builtin';
  return [
    ...misspellingsIn(environment),
    ...(embedsSimply ? ['EMBEDDING_BASE_URL is `builtin`: an embedding model finds memories more reliably'] : []),
  ];
}

function misspellingsIn(environment: Environment): readonly string[] {
  const settings = allSettings.map(({ variable }) => variable);
  return findMisspellings(Object.keys(environment), settings).map(
    ({ variable, likely }) => `${variable} is not a setting (did you mean ${likely}?)`,
  );
}

/** Settings that others make necessary: a server its keys, and production some way for mails to leave. */
function calledFor(environment: Environment, services: readonly ServiceName[]): readonly string[] {
  const isServer = (endpoint: string | undefined, own = 'embedded') => (endpoint || own) !== own;
  const sendsMail = services.includes('notify') && environment.NODE_ENV === 'production';
  return [
    ...(services.includes('memory') && isServer(environment.EMBEDDING_BASE_URL, 'builtin') ? ['EMBEDDING_MODEL'] : []),
    ...(isServer(environment.S3_ENDPOINT)
      ? ['S3_BUCKET', 'S3_PUBLIC_BUCKET', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY']
      : []),
    ...['MODEL', 'IMAGE_MODEL', 'VIDEO_MODEL'].flatMap((model) =>
      (environment[`${model}_BASE_URL`] || 'offline') === 'offline' ? [] : [`${model}_NAME`],
    ),
    ...(isServer(environment.LEGACY_S3_ENDPOINT) ? ['LEGACY_S3_ACCESS_KEY_ID', 'LEGACY_S3_SECRET_ACCESS_KEY'] : []),
    ...(environment.WEBHOOK_URL ? ['WEBHOOK_SECRET'] : []),
    ...(sendsMail && !environment.RESEND_API_KEY ? ['SMTP_URL'] : []),
  ];
}

export interface StandIn {
  readonly part: string;
  readonly state: string;
  /** Names the real one. */
  readonly setting: string;
}

/** What the chosen services use in place of other people's services. */
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
      'local and signs anyone in as anyone',
      'IDP_URL',
    ),
    ...standIn(uses('content', 'cms') && cms.url === undefined, 'the CMS', 'local', 'CMS_URL'),
    ...standIn(agent && model.url === 'offline', 'the language model', 'offline', 'MODEL_BASE_URL'),
    ...standIn(agent && imageModel.url === 'offline', 'the image model', 'offline', 'IMAGE_MODEL_BASE_URL'),
    ...standIn(agent && videoModel.url === 'offline', 'the video model', 'offline', 'VIDEO_MODEL_BASE_URL'),
    ...standIn(
      uses('notify') && notify.resendApiKey === undefined && notify.smtpUrl === 'outbox',
      'mail',
      'kept in the outbox of the data folder',
      'RESEND_API_KEY and SMTP_URL',
    ),
  ];
}

/** RATE_LIMIT_PER_MINUTE; 0: no limit. */
export function rateLimitOf({ process: { production, rateLimitPerMinute } }: Config): number {
  return rateLimitPerMinute ?? (production ? 1200 : 0);
}

/** LEGACY_S3_ENDPOINT; not set, outside production, the folder (docs/specification/media.md#legacy-files). */
export function legacyOf({ process: { production }, legacyObjects }: Config): Config['legacyObjects'] {
  const { endpoint = production ? undefined : 'embedded' } = legacyObjects;
  return { ...legacyObjects, endpoint };
}

/**
 * Where each service listens. The local identity provider signs anybody in as anybody, so it keeps to the loopback
 * whatever HOST says, until it is told otherwise.
 */
export function bindingOf(config: Config, service: ServiceName): { readonly host: string; readonly port: number } {
  const { host, portBase } = config.process;
  const keepsIn = service === 'idp' && !config.localIdp.allowNonLoopback && !isLoopback(host);
  return { host: keepsIn ? '127.0.0.1' : host, port: portBase + portOffsets[service] };
}

const isLoopback = (host: string) => host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);

/**
 * Where each service is reached: by other services, by the commands, and, for the edge and the identity provider, by the
 * public. Without a setting: the port base on the bind address, `localhost` where that is the loopback or any address.
 */
export function addressesOf(config: Config): Readonly<Record<ServiceName, string>> {
  const at = (service: ServiceName) => {
    const { host, port } = bindingOf(config, service);
    const local = ['127.0.0.1', '::1', '0.0.0.0', '::'].includes(host);
    const name = local ? 'localhost' : host.includes(':') ? `[${host}]` : host;
    return `http://${name}:${port}`;
  };
  const told: Readonly<Partial<Record<ServiceName, string | undefined>>> = {
    ...config.addresses,
    idp: config.identity.url,
    cms: config.cms.url,
    console: config.console.url,
  };
  return Object.fromEntries(serviceNames.map((service) => [service, told[service] ?? at(service)])) as Record<
    ServiceName,
    string
  >;
}

/** AGENT_ALLOWED_ORIGINS; not set, outside production, the console. `http://localhost:3000` is added by the rule itself. */
export function agentOriginsOf(config: Config): readonly string[] {
  const { production, portBase } = config.process;
  const { agentOrigins } = config.cors;
  if (production || agentOrigins.length > 0) return agentOrigins;
  return ['localhost', '127.0.0.1'].map((name) => `http://${name}:${portBase}`);
}

/** ALLOWED_REDIRECT_ORIGINS; not set, outside production, the console and the development server of a front end. */
export function redirectOriginsOf(config: Config): readonly string[] {
  const { production, portBase } = config.process;
  const { allowedOrigins } = config.auth;
  if (production || allowedOrigins.length > 0) return allowedOrigins;
  return [`http://localhost:${portBase}`, `http://127.0.0.1:${portBase}`, 'http://localhost:3000'];
}

/** Where browsers reach the authentication service. */
export const publicAuthUrlOf = (config: Config): string => config.auth.publicUrl ?? addressesOf(config).auth;

/** Everything that is not for anybody's eyes, for the log to leave out. */
export function secretsOf(config: Config): readonly string[] {
  const values: Readonly<Record<string, Readonly<Record<string, unknown>>>> = config;
  return Object.entries(settingGroups).flatMap(([group, settings]) =>
    Object.entries<Setting<unknown>>(settings)
      .filter(([, { secret: isSecret }]) => isSecret)
      .flatMap(([name]) => values[group]?.[name])
      .filter((value) => typeof value === 'string')
      // Words that choose an engine are nobody's secret.
      .filter((value) => value !== 'embedded' && value !== 'outbox'),
  );
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
  memory: ['database', 'identity', 'internal', 'memory', 'embedding'],
  content: ['database', 'cms', 'content', 'webhooks'],
  notify: ['database', 'internal', 'notify'],
  idp: ['localIdp', 'database'],
  console: ['console', 'memory'],
};

/** Its processes see each other's writes, so without Redis there may be one of them only. */
export function usesDatabase(service: ServiceName): boolean {
  return groupsByService[service]?.includes('database') ?? false;
}

/** PostgreSQL without Redis: one process per service (docs/specification/system.md#processes). The folder of the embedded database has a lock. */
export function isAlone({ database, redis }: Config): boolean {
  return database.url !== 'embedded' && redis.url === 'embedded';
}

function groupsOf(services: readonly ServiceName[], environment: Environment): ReadonlySet<GroupName> {
  const groups = new Set<GroupName>([
    'process',
    'cors',
    ...services.flatMap((service) => groupsByService[service] ?? []),
  ]);
  // Whoever hands out addresses of objects has to know where the edge is.
  if (groups.has('objects') && needsEdge(environment)) groups.add('addresses');
  return groups;
}

/** The edge runs wherever objects are embedded or no proxy or no CDN is set (docs/specification/system.md#edge). */
function needsEdge(environment: Environment): boolean {
  return (
    (environment.S3_ENDPOINT || 'embedded') === 'embedded' ||
    environment.LEGACY_S3_ENDPOINT === 'embedded' ||
    !environment.IMGPROXY_URL ||
    !environment.PUBLIC_CDN_URL
  );
}
