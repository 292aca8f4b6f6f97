/**
 * All settings of the product (docs/specification/system.md#engines). Settings of one service are declared beside it, and the others here.
 */
import { randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { agentSettings, imageModelSettings, modelSettings, videoModelSettings } from '#agent/config.ts';
import { authSettings } from '#auth/config.ts';
import { consoleSettings } from '#console/config.ts';
import { contentSettings } from '#content/config.ts';
import { edgeSettings } from '#edge/config.ts';
import { brandSettings, imageServiceSettings, imageSettings } from '#image/config.ts';
import { idpSettings } from '#local/idp/config.ts';
import { mediaSettings } from '#media/config.ts';
import { embeddingSettings, memoryModelSettings, memorySettings } from '#memory/config.ts';
import { notifySettings } from '#notify/config.ts';
import {
  address,
  choice,
  integer,
  list,
  parseAddress,
  type Setting,
  secret,
  setting,
  splitList,
  text,
  wordOr,
} from '#platform/config.ts';
import { parseOriginPattern } from '#platform/http/cors.ts';
import { levels, logFormats } from '#platform/log.ts';
import { webhookSettings } from '#webhooks/config.ts';
import texts from './settings.json' with { type: 'json' };

const hex = () => randomBytes(32).toString('hex');
const hexKey = (raw: string) => (/^([0-9a-f]{2})+$/i.test(raw) ? undefined : 'must be hex, two digits per byte');

export const settingGroups = {
  process: {
    production: setting('NODE_ENV', (raw) => raw === 'production', { default: false }),
    portBase: integer('ATELIER_PORT_BASE', { default: 4000, min: 1, max: 65_000 }),
    host: setting('HOST', parseHost, { default: '127.0.0.1' }),
    dataDir: setting('ATELIER_DATA_DIR', (raw) => resolve(raw), { default: resolve('data') }),
    logLevel: choice('LOG_LEVEL', levels, { default: 'info' }),
    logFormat: choice('LOG_FORMAT', logFormats),
    rateLimitPerMinute: integer('RATE_LIMIT_PER_MINUTE'),
    maxInFlight: integer('MAX_IN_FLIGHT', { default: 1000, min: 1 }),
    maxTransfers: integer('MAX_TRANSFERS', { default: 1000, min: 1 }),
    startingCredits: integer('STARTING_CREDITS', { default: 100, min: 0, max: 1_000_000 }),
    otelEndpoint: address('OTEL_EXPORTER_OTLP_ENDPOINT'),
  },
  database: {
    url: setting('DATABASE_URL', parseDatabaseUrl, { default: 'embedded', requiredInProduction: true, secret: true }),
    poolSize: integer('DATABASE_POOL_SIZE', { default: 10, min: 1, max: 500 }),
  },
  redis: {
    url: setting('REDIS_URL', parseRedisUrl, { default: 'embedded', requiredInProduction: true, secret: true }),
    prefix: setting('REDIS_PREFIX', parseRedisPrefix),
  },
  objects: {
    endpoint: setting('S3_ENDPOINT', wordOr('embedded', parseAddress), {
      default: 'embedded',
      requiredInProduction: true,
    }),
    region: text('S3_REGION', { default: 'auto' }),
    bucket: text('S3_BUCKET', { default: 'objects' }),
    publicBucket: text('S3_PUBLIC_BUCKET', { default: 'public' }),
    accessKeyId: text('S3_ACCESS_KEY_ID', { secret: true }),
    secretAccessKey: text('S3_SECRET_ACCESS_KEY', { secret: true }),
  },
  legacyObjects: {
    endpoint: setting('LEGACY_S3_ENDPOINT', wordOr('embedded', parseAddress)),
    region: text('LEGACY_S3_REGION', { default: 'auto' }),
    accessKeyId: text('LEGACY_S3_ACCESS_KEY_ID', { secret: true }),
    secretAccessKey: text('LEGACY_S3_SECRET_ACCESS_KEY', { secret: true }),
  },
  identity: {
    url: address('IDP_URL', { requiredInProduction: true }),
    anonKey: text('ANON_KEY', { requiredInProduction: true, secret: true, default: 'local-anon-key' }),
    serviceKey: text('IDP_SERVICE_KEY', { secret: true }),
    jwksUrl: address('JWKS_URL'),
  },
  internal: {
    keys: { ...secret('INTERNAL_KEY', { make: hex }), parse: splitList },
  },
  resizing: {
    key: secret('IMGPROXY_KEY', { make: hex, valid: hexKey }),
    salt: secret('IMGPROXY_SALT', { make: hex, valid: hexKey }),
    proxyUrl: address('IMGPROXY_URL'),
    cdnUrl: address('PUBLIC_CDN_URL'),
  },
  addresses: {
    media: address('MEDIA_URL'),
    image: address('IMAGE_URL'),
    auth: address('AUTH_URL'),
    agent: address('AGENT_URL'),
    memory: address('MEMORY_URL'),
    content: address('CONTENT_URL'),
    notify: address('NOTIFY_URL'),
    edge: address('EDGE_URL', { requiredInProduction: true }),
  },
  cors: {
    agentOrigins: {
      ...list('AGENT_ALLOWED_ORIGINS'),
      parse: (raw: string | undefined) => splitList(raw).map(parseOriginPattern),
    },
  },
  brand: brandSettings,
  auth: authSettings,
  edge: edgeSettings,
  cms: { url: address('CMS_URL', { requiredInProduction: true }) },
  console: consoleSettings,
  content: contentSettings,
  localIdp: idpSettings,
  media: mediaSettings,
  agent: agentSettings,
  model: modelSettings,
  imageModel: imageModelSettings,
  videoModel: videoModelSettings,
  memory: memorySettings,
  embedding: embeddingSettings,
  memoryModel: memoryModelSettings,
  notify: notifySettings,
  webhooks: webhookSettings,
  image: imageSettings,
  imageService: imageServiceSettings,
} as const;

export const allSettings: readonly Setting<unknown>[] = Object.values(settingGroups).flatMap((group) =>
  Object.values<Setting<unknown>>(group),
);

interface Texts {
  readonly meaning: string;
  readonly defaultText?: string;
}
const textsByVariable: Readonly<Record<string, Texts | undefined>> = texts;

/** What the documentation and the console say about a setting. */
export function textsOf({ variable, defaultText, choices = [] }: Setting<unknown>): Required<Texts> {
  const found = textsByVariable[variable];
  if (found === undefined) throw new Error(`${variable} is not in settings.json`);
  const listed = choices.map((value) => `\`${value}\``).join(', ');
  return { defaultText, ...found, meaning: found.meaning.replace('{choices}', listed) };
}

function parseHost(raw: string): string {
  if (isIP(raw) === 0 && !(/^[a-z0-9._-]+$/i.test(raw) && URL.canParse(`http://${raw}`)))
    throw new Error('must be an IP address or a host name');
  return raw;
}

function parseDatabaseUrl(raw: string): string {
  if (raw !== 'embedded' && !/^postgres(ql)?:\/\/[^/]/.test(raw))
    throw new Error('must be a postgres:// URL or `embedded`');
  return raw;
}

function parseRedisUrl(raw: string): string {
  if (raw !== 'embedded' && !(/^rediss?:\/\/[^/]/.test(raw) && URL.canParse(raw)))
    throw new Error('must be a redis:// URL or `embedded`');
  return raw;
}

function parseRedisPrefix(raw: string): string {
  if (!/^[A-Za-z0-9._:-]{1,64}$/.test(raw))
    throw new Error('must be 1 to 64 characters of A-Z, a-z, 0-9, `.`, `_`, `:` and `-`');
  return raw;
}
