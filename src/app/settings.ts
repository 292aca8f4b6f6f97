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
import { address, integer, list, parseAddress, type Setting, secret, setting, text } from '#platform/config.ts';
import { parseOriginPattern } from '#platform/http/cors.ts';
import { levels, logFormats } from '#platform/log.ts';
import { webhookSettings } from '#webhooks/config.ts';

const hex = (bytes: number) => () => randomBytes(bytes).toString('hex');
const hexKey = (raw: string) => (/^([0-9a-f]{2})+$/i.test(raw) ? undefined : 'must be hex, two digits per byte');

export const settingGroups = {
  process: {
    production: setting(
      'NODE_ENV',
      {
        default: false,
        defaultText: 'development',
        meaning: '`production`: no secrets are generated, and stand-ins start only if you configure them.',
      },
      (raw) => raw === 'production',
    ),
    portBase: integer('ATELIER_PORT_BASE', {
      default: 4000,
      min: 1,
      max: 65_000,
      meaning: 'Each service listens on this port plus its own offset.',
    }),
    host: setting('HOST', { default: '127.0.0.1', meaning: 'The address on which the services listen.' }, parseHost),
    dataDir: setting(
      'ATELIER_DATA_DIR',
      {
        default: resolve('data'),
        defaultText: './data',
        meaning: 'The folder for all data of the embedded engines.',
      },
      (raw) => resolve(raw),
    ),
    logLevel: setting('LOG_LEVEL', { default: 'info', meaning: `One of ${levels.join(', ')}.` }, oneOf(levels)),
    logFormat: setting(
      'LOG_FORMAT',
      {
        defaultText: 'pretty on a terminal, otherwise json',
        meaning: '`json` or `pretty`: the format of the lines that `npm start` prints.',
      },
      oneOf(logFormats),
    ),
    rateLimitPerMinute: integer('RATE_LIMIT_PER_MINUTE', {
      defaultText: '1200 in production, 0 elsewhere',
      meaning: 'Requests per minute and token subject. Further requests get 429. 0: no limit.',
    }),
    maxInFlight: integer('MAX_IN_FLIGHT', {
      default: 1000,
      min: 1,
      meaning: 'Concurrent requests per service. Further requests get 503 with `Retry-After`.',
    }),
    maxTransfers: integer('MAX_TRANSFERS', {
      default: 1000,
      min: 1,
      meaning:
        'Concurrent uploads, downloads and large responses per service. Above the limit, the slowest one ends, or the new one gets 503 with `Retry-After`.',
    }),
    startingCredits: integer('STARTING_CREDITS', {
      default: 100,
      min: 0,
      max: 1_000_000,
      meaning: 'The credits of a new user.',
    }),
    otelEndpoint: address('OTEL_EXPORTER_OTLP_ENDPOINT', {
      meaning: 'The URL of a trace collector (OTLP over HTTP). Tracing is off if it is not set.',
    }),
  },
  database: {
    url: setting(
      'DATABASE_URL',
      {
        default: 'embedded',
        requiredInProduction: true,
        secret: true,
        meaning: 'PostgreSQL 15 or newer; `embedded`: PGlite in the data folder.',
      },
      parseDatabaseUrl,
    ),
    poolSize: integer('DATABASE_POOL_SIZE', {
      default: 10,
      min: 1,
      max: 500,
      meaning: 'PostgreSQL connections per process.',
    }),
  },
  redis: {
    url: setting(
      'REDIS_URL',
      {
        default: 'embedded',
        requiredInProduction: true,
        secret: true,
        meaning:
          'Redis 7 or Valkey, `redis://` or `rediss://`; `embedded`: in process. With PostgreSQL and without Redis, each service can run in one process only.',
      },
      parseRedisUrl,
    ),
    prefix: setting(
      'REDIS_PREFIX',
      {
        defaultText: 'from an id in the database',
        meaning: 'The prefix of every key. Required only if copies of one database share a Redis server.',
      },
      parseRedisPrefix,
    ),
  },
  objects: {
    endpoint: setting(
      'S3_ENDPOINT',
      {
        default: 'embedded',
        requiredInProduction: true,
        meaning: 'An S3 server, path-style; `embedded`: files in the data folder.',
      },
      embeddedOr(parseAddress),
    ),
    region: text('S3_REGION', { default: 'auto', meaning: 'The region in request signatures.' }),
    bucket: text('S3_BUCKET', { default: 'objects', meaning: 'The bucket of originals. It is never public.' }),
    publicBucket: text('S3_PUBLIC_BUCKET', {
      default: 'public',
      meaning: 'The bucket of variants. It is publicly readable.',
    }),
    accessKeyId: text('S3_ACCESS_KEY_ID', { secret: true, meaning: 'The access key ID of the S3 server.' }),
    secretAccessKey: text('S3_SECRET_ACCESS_KEY', { secret: true, meaning: 'The secret access key of the S3 server.' }),
  },
  legacyObjects: {
    endpoint: setting(
      'LEGACY_S3_ENDPOINT',
      {
        defaultText: 'embedded; in production off',
        meaning: 'The S3 server of legacy objects; `embedded`: a folder per bucket in `legacy/` of the data folder.',
      },
      embeddedOr(parseAddress),
    ),
    region: text('LEGACY_S3_REGION', { default: 'auto', meaning: 'The region of the legacy S3 server.' }),
    accessKeyId: text('LEGACY_S3_ACCESS_KEY_ID', {
      secret: true,
      meaning: 'The access key ID of the legacy S3 server.',
    }),
    secretAccessKey: text('LEGACY_S3_SECRET_ACCESS_KEY', {
      secret: true,
      meaning: 'The secret access key of the legacy S3 server.',
    }),
  },
  identity: {
    url: address('IDP_URL', {
      requiredInProduction: true,
      meaning: 'The URL of the identity provider (GoTrue’s API). Not set: the local stand-in.',
    }),
    anonKey: text('ANON_KEY', {
      requiredInProduction: true,
      secret: true,
      default: 'local-anon-key',
      meaning: 'The public API key of the identity provider.',
    }),
    serviceKey: text('IDP_SERVICE_KEY', {
      secret: true,
      meaning:
        'The secret API key of the identity provider, which lets operators delete accounts. Not set: they cannot delete accounts.',
    }),
    jwksUrl: address('JWKS_URL', {
      meaning: 'The URL of the key set for access tokens. Not set: `{IDP_URL}/auth/v1/.well-known/jwks.json`.',
    }),
  },
  internal: {
    keys: {
      ...secret('INTERNAL_KEY', {
        make: hex(32),
        meaning:
          'The keys that servers send as `X-Internal-Key`, comma-separated. Atelier sends the first and accepts all. Empty: not configured.',
      }),
      parse: parseList,
    },
  },
  resizing: {
    key: secret('IMGPROXY_KEY', {
      make: hex(32),
      valid: hexKey,
      meaning: 'Signs image URLs as imgproxy defines it (hex). The edge derives the key of its file URLs from it.',
    }),
    salt: secret('IMGPROXY_SALT', { make: hex(32), valid: hexKey, meaning: 'The salt of these signatures (hex).' }),
    proxyUrl: address('IMGPROXY_URL', { meaning: 'The URL of an imgproxy server. Not set: the edge.' }),
    cdnUrl: address('PUBLIC_CDN_URL', { meaning: 'The public URL of variants. Not set: the edge.' }),
  },
  addresses: {
    media: address('MEDIA_URL', {
      meaning: 'The URL of the media service for other services. Not set: the port base.',
    }),
    image: address('IMAGE_URL', {
      meaning: 'The URL of the image service for other services. Not set: the port base.',
    }),
    auth: address('AUTH_URL', {
      meaning: 'The URL of the authentication service for other services. Not set: the port base.',
    }),
    agent: address('AGENT_URL', {
      meaning: 'The URL of the agent service for other services. Not set: the port base.',
    }),
    memory: address('MEMORY_URL', {
      meaning: 'The URL of the memory service for other services. Not set: the port base.',
    }),
    content: address('CONTENT_URL', {
      meaning: 'The URL of the public content endpoints for other services. Not set: the port base.',
    }),
    notify: address('NOTIFY_URL', {
      meaning: 'The URL of the notification service for other services. Not set: the port base.',
    }),
    edge: address('EDGE_URL', {
      requiredInProduction: true,
      meaning: 'The public URL of the edge. Not set: the port base.',
    }),
  },
  cors: {
    agentOrigins: {
      ...list('AGENT_ALLOWED_ORIGINS', {
        default: [],
        meaning:
          'Browser origins that may call media, memory and agent; `https://*.example.com` is allowed. `http://localhost:3000` is always included, and any port of `localhost` with the local identity provider.',
      }),
      parse: (raw: string | undefined) => parseList(raw).map(parseOriginPattern),
    },
  },
  brand: brandSettings,
  auth: authSettings,
  edge: edgeSettings,
  cms: {
    url: address('CMS_URL', {
      requiredInProduction: true,
      meaning: 'The URL of the content management system. Not set: the local stand-in.',
    }),
  },
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

function parseList(raw = ''): readonly string[] {
  return raw
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function parseHost(raw: string): string {
  if (isIP(raw) === 0 && !(/^[a-z0-9._-]+$/i.test(raw) && URL.canParse(`http://${raw}`)))
    throw new Error('must be an IP address or a host name');
  return raw;
}

function oneOf<T extends string>(allowed: readonly T[]) {
  return (raw: string): T => {
    const found = allowed.find((value) => value === raw);
    if (found === undefined) throw new Error(`must be one of ${allowed.join(', ')}`);
    return found;
  };
}

function embeddedOr(parse: (raw: string) => string) {
  return (raw: string): string => (raw === 'embedded' ? raw : parse(raw));
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
