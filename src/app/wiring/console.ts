import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { AccountTables } from '#accounts/store.ts';
import { createConsole } from '#console/service.ts';
import { systemClock as clock } from '#platform/clock.ts';
import type { Setting } from '#platform/config.ts';
import type { HttpServer } from '#platform/http/server.ts';
import type { JobTables } from '#platform/jobs/jobs.ts';
import {
  addressesOf,
  bindingOf,
  browserUrlsOf,
  type Config,
  legacyOf,
  type ServiceName,
  secretsOf,
  serviceNames,
  standInsOf,
  usesDatabase,
  warningsOf,
} from '../config.ts';
import { settingGroups, textsOf } from '../settings.ts';
import { jwksUrlOf, type Wiring } from './wiring.ts';

export async function wireConsole({ config, services: ofProcess, engines, server }: Wiring): Promise<HttpServer> {
  const { idp: _idp, cms: _cms, console: url, ...services } = addressesOf(config);
  const { adminToken } = config.memory;
  const browserUrls = browserUrlsOf(config);
  const { url: receiver } = config.webhooks;
  const db = canOpenDatabase(config, ofProcess)
    ? (await engines.database()).queries<JobTables & AccountTables>()
    : undefined;
  const { operators: full, readers, claim, readerClaim } = config.console;
  const hasOperators = full.length + readers.length > 0 || claim !== undefined || readerClaim !== undefined;
  const [internalKey] = config.internal.keys;
  return createConsole({
    server,
    clock,
    places: { url, aliases: aliasesOf(config) },
    token: config.console.token,
    brand: config.brand.name,
    services,
    addresses: browserUrls,
    engines: enginesOf(config),
    reachable: {
      services: Object.values(browserUrls).map(originOf),
      media: [
        services.edge,
        config.objects.endpoint,
        legacyOf(config).endpoint,
        config.resizing.proxyUrl,
        config.resizing.cdnUrl,
      ].flatMap((address) => (address === undefined || address === 'embedded' ? [] : [originOf(address)])),
      // Anything else could end the list of the policy.
      pictures: config.agent.cmsMediaHosts.filter((host) => /^[\w.-]+(:\d+)?$/.test(host)),
    },
    hasDemoUsers: config.identity.url === undefined,
    outbox: keepsMails(config) ? join(config.process.dataDir, 'outbox') : undefined,
    cms: {
      ...(config.cms.url === undefined
        ? { folder: join(config.process.dataDir, 'cms') }
        : { host: new URL(config.cms.url).host }),
      editUrl: config.console.cmsEditUrl,
    },
    traceUrl: config.console.traceUrl,
    db,
    internal: internalKey === undefined ? undefined : { key: internalKey, urls: services },
    operators: hasOperators ? { full, readers, claim, readerClaim, jwksUrl: jwksUrlOf(config) } : undefined,
    settings: {
      describe: () => describeSettings(config),
      examine: async (onFinding) => (await import('../doctor/examining.ts')).examine(config, onFinding),
    },
    memory: adminToken === '' ? undefined : { url: services.memory, adminToken },
    deliveries:
      receiver === undefined
        ? undefined
        : { db: (await engines.database()).queries<JobTables>(), receiver: shownUrlOf(receiver) },
  });
}

/** An embedded database is open in one process. Without another service that uses it, this is not that process. */
function canOpenDatabase({ database }: Config, ofProcess: readonly ServiceName[]): boolean {
  return database.url !== 'embedded' || ofProcess.some(usesDatabase);
}

const originOf = (address: string) => new URL(address).origin;

/** Shows only words of the path, and beside a password a user that is a word or an address. Other parts, and the query, can be secrets. */
function shownUrlOf(address: string): string {
  const { protocol, username, password, host, pathname, search } = new URL(address);
  const show = (part: string) => (/^[a-z_-]{1,20}$|^v?\d{1,2}$/.test(part) ? part : '••••');
  const isShown = password !== '' && (username === '' || /^[a-z.+-]{1,64}%40[a-z.-]{1,64}$/.test(username));
  const name = isShown ? username : password ? show(username) : '••••';
  const user = username + password && `${name}${password && ':••••'}@`;
  return `${protocol}//${user}${host}${pathname.replace(/[^/]+/g, show)}${search && '?••••'}`;
}

/** Names of the loopback interface, if the console listens on it and no public URL is set. */
function aliasesOf(config: Config): readonly string[] {
  const { port } = bindingOf(config, 'console');
  return config.console.url === undefined
    ? ['localhost', '127.0.0.1', '[::1]'].map((name) => `http://${name}:${port}`)
    : [];
}

const keepsMails = ({ notify }: Config) => notify.resendApiKey === undefined && notify.smtpUrl === 'outbox';

/** The engine behind each concern (docs/specification/system.md#engines): servers by host, embedded engines by name. */
function enginesOf(config: Config) {
  const hostOf = (address: string) => new URL(address).host;
  const isEmbedded = (address: string) => ['embedded', 'offline', 'builtin', 'local', 'outbox'].includes(address);
  const choice = (concern: string, embedded: string, name: string, address: string | undefined) =>
    address === undefined || isEmbedded(address)
      ? { concern, engine: embedded, isEmbedded: true }
      : { concern, engine: `${name} (${hostOf(address)})`, isEmbedded: false };
  const { database, redis, objects, resizing, identity, cms, notify, model, imageModel, videoModel, embedding } =
    config;
  const modelChoice = (kind: 'chat' | 'image' | 'video', concern: string, name: string, address: string) => {
    const entries = model.file?.filter((entry) => (entry.kind ?? 'chat') === kind) ?? [];
    if (entries.length === 0) return choice(concern, 'offline', name, address);
    const isEmbedded = entries.every(({ baseUrl }) => baseUrl === 'offline');
    const nameOf = ({ id, label = id, baseUrl }: (typeof entries)[number]) =>
      baseUrl === 'offline' && !isEmbedded ? `${label} (embedded)` : label;
    return { concern, engine: entries.map(nameOf).join(', '), isEmbedded };
  };
  return [
    choice('Database', 'PGlite', 'PostgreSQL', database.url),
    choice('Caches', 'in process', 'Redis', redis.url),
    choice('Objects', 'files', 'S3', objects.endpoint),
    choice('Legacy objects', 'files', 'S3', legacyOf(config).endpoint),
    choice('Resizing', 'the edge', 'imgproxy', resizing.proxyUrl),
    choice('Variant CDN', 'the edge', 'CDN', resizing.cdnUrl),
    choice('Identity provider', 'stand-in', 'GoTrue', identity.url),
    choice('CMS', 'stand-in', 'CMS', cms.url),
    modelChoice('chat', 'Language model', model.names.join(', '), model.url),
    modelChoice('image', 'Image model', imageModel.name ?? 'server', imageModel.url),
    modelChoice('video', 'Video model', videoModel.name ?? 'server', videoModel.url),
    choice(
      'Embeddings',
      embedding.baseUrl === 'local' ? 'local model' : 'built in',
      embedding.model ?? 'server',
      embedding.baseUrl,
    ),
    notify.resendApiKey === undefined
      ? choice('Mail', 'outbox', 'SMTP', notify.smtpUrl)
      : choice('Mail', '', 'Provider', notify.resendBaseUrl),
  ];
}

// The effective configuration as operators see it: secrets are masked, also inside other values.

function describeSettings(config: Config) {
  const values: Readonly<Record<string, Readonly<Record<string, unknown>>>> = config;
  const mask = masker(secretsOf(config));
  const lists: Readonly<Record<string, string | null>> = {
    file: entriesOf(config),
    screeningRules: rulesOf(config),
  };
  return {
    groups: Object.entries(settingGroups).map(([name, settings]) => ({
      name,
      settings: Object.entries<Setting<unknown>>(settings).map(([key, setting]) => {
        const value = values[name]?.[key];
        return {
          variable: setting.variable,
          ...textsOf(setting),
          value: setting.secret ? describeSecret(value) : mask(key in lists ? (lists[key] ?? null) : spell(value)),
          isSecret: setting.secret,
          isDefault: isDefault(setting, value),
          isRequired: setting.requiredInProduction,
        };
      }),
    })),
    standIns: [...standInsOf(config, serviceNames)],
    warnings: [...warningsOf(process.env, serviceNames)],
  };
}

/** The choice of an engine, and most of a URL, are no secrets. */
function describeSecret(value: unknown): string | null {
  if (value === 'embedded' || value === 'outbox') return value;
  const isSet = Array.isArray(value) ? value.length > 0 : value !== undefined && value !== '';
  const isUrl = typeof value === 'string' && URL.parse(value)?.host;
  return isUrl ? shownUrlOf(value) : isSet ? '••••••••' : null;
}

function spell(value: unknown): string | null {
  if (value === undefined || value === '') return null;
  if (Array.isArray(value)) return value.map((one) => spell(one) ?? '').join(', ') || null;
  if (typeof value === 'function') return null;
  // Headers and query parameters may hold credentials, so only their names are shown.
  return typeof value === 'object' ? Object.keys(value ?? {}).join(', ') || null : String(value);
}

/** Of MODELS_FILE, each in a line. */
const entriesOf = ({ model: { file = [] } }: Config): string | null =>
  file
    .map(({ id, kind = 'chat', model, baseUrl, provider = 'MODEL_BASE_URL' }) => {
      const place = baseUrl === 'offline' ? baseUrl : `${model} at ${baseUrl ?? provider}`;
      return `${id}: ${kind}, ${place}`;
    })
    .join('\n') || null;

const rulesOf = ({ media: { screeningRules } }: Config): string | null =>
  screeningRules.map(({ label, minScore, action }) => `${label} from ${minScore}: ${action}`).join('\n') || null;

function masker(secrets: readonly string[]): (text: string | null) => string | null {
  const known = secrets.filter((secret) => secret.length >= 6);
  return (text) =>
    text === null
      ? null
      : known
          .reduce((masked, secret) => masked.replaceAll(secret, '••••••••'), text)
          // The user part of a URL, which ends at its last @, and the query.
          .replaceAll(/\/\/[^/\s]+@/g, '//••••••••@')
          .replaceAll(/[?#]\S+/g, (query) => (text.includes('://') ? '?••••' : query));
}

/** The default of some secrets is generated. */
function isDefault({ variable, make, parse }: Setting<unknown>, value: unknown): boolean {
  if (make !== undefined) return !process.env[variable];
  try {
    return isDeepStrictEqual(parse(undefined), value);
  } catch {
    return false;
  }
}
