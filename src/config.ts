/**
 * The whole configuration (CONTRACT §§1–2): read once at the start, judged as a whole, handed down in parts. What each
 * service alone needs is declared beside it; what several need stands here.
 */
import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { imageServiceSettings, imageSettings } from '#image/config.ts';
import { idpSettings } from '#local/idp/config.ts';
import { mediaSettings } from '#media/config.ts';
import {
  address,
  type Environment,
  integer,
  list,
  parseAddress,
  readSettings,
  type Setting,
  secret,
  setting,
  text,
} from '#platform/config.ts';
import { parseOriginPattern } from '#platform/http/origins.ts';
import { levels } from '#platform/log.ts';
import { withSecrets } from '#platform/secrets.ts';

/** Ports above the base, in the order in which services start and are told of (CONTRACT §1). */
const portOffsets = { media: 1, image: 2, edge: 10, idp: 11 } as const;

export type ServiceName = keyof typeof portOffsets;
export const serviceNames = Object.keys(portOffsets) as readonly ServiceName[];
export const isServiceName = (name: string): name is ServiceName => Object.hasOwn(portOffsets, name);

/** What `npm start` starts when nothing is named: in production no stand-in unasked, and the edge only when needed. */
export function servicesByDefault(environment: Environment): readonly ServiceName[] {
  if (environment.NODE_ENV !== 'production') return serviceNames;
  return serviceNames.filter((name) => name !== 'idp' && (name !== 'edge' || needsEdge(environment)));
}

const hex = (bytes: number) => () => randomBytes(bytes).toString('hex');
const hexKey = (raw: string) => (/^([0-9a-f]{2})+$/i.test(raw) ? undefined : 'must be hex, two digits a byte');

export const settingGroups = {
  process: {
    production: setting(
      'NODE_ENV',
      {
        default: false,
        defaultText: 'development',
        meaning: '`production`: nothing is invented, and no stand-in starts unasked.',
      },
      (raw) => raw === 'production',
    ),
    portBase: integer('ATELIER_PORT_BASE', {
      default: 4000,
      min: 1,
      max: 65_000,
      meaning: 'Each service listens on this port plus its own offset.',
    }),
    host: text('HOST', { default: '127.0.0.1', meaning: 'The address to bind to.' }),
    dataDir: setting(
      'ATELIER_DATA_DIR',
      {
        default: resolve('data'),
        defaultText: './data',
        meaning: 'The folder for everything that the embedded engines write.',
      },
      (raw) => resolve(raw),
    ),
    logLevel: setting('LOG_LEVEL', { default: 'info', meaning: `One of ${levels.join(', ')}.` }, oneOf(levels)),
    rateLimitPerMinute: integer('RATE_LIMIT_PER_MINUTE', {
      default: 0,
      defaultText: 'off',
      meaning: 'Requests a minute per token subject; over it 429.',
    }),
    maxInFlight: integer('MAX_IN_FLIGHT', {
      default: 1000,
      min: 1,
      meaning: 'Requests that each service answers at once; over it 503 with `Retry-After`.',
    }),
    otelEndpoint: address('OTEL_EXPORTER_OTLP_ENDPOINT', {
      meaning: 'Where traces are sent (OTLP over HTTP); off when not set.',
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
      meaning: 'Connections that one process holds to PostgreSQL.',
    }),
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
    region: text('S3_REGION', { default: 'auto', meaning: 'The region that requests are signed for.' }),
    bucket: text('S3_BUCKET', { default: 'objects', meaning: 'Originals; never public.' }),
    publicBucket: text('S3_PUBLIC_BUCKET', { default: 'public', meaning: 'Variants; readable by anybody.' }),
    accessKeyId: text('S3_ACCESS_KEY_ID', { secret: true, meaning: 'The key of the S3 server.' }),
    secretAccessKey: text('S3_SECRET_ACCESS_KEY', { secret: true, meaning: 'Its secret.' }),
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
    region: text('LEGACY_S3_REGION', { default: 'auto', meaning: 'Its region.' }),
    accessKeyId: text('LEGACY_S3_ACCESS_KEY_ID', { secret: true, meaning: 'Its key.' }),
    secretAccessKey: text('LEGACY_S3_SECRET_ACCESS_KEY', { secret: true, meaning: 'Its secret.' }),
  },
  identity: {
    url: address('IDP_URL', {
      requiredInProduction: true,
      meaning: 'The identity provider (GoTrue’s API); not set: the local stand-in.',
    }),
    anonKey: text('ANON_KEY', {
      requiredInProduction: true,
      secret: true,
      default: 'local-anon-key',
      meaning: 'Its public API key.',
    }),
    jwksUrl: address('JWKS_URL', {
      meaning: 'The key set of access tokens; not set: `{IDP_URL}/auth/v1/.well-known/jwks.json`.',
    }),
  },
  internal: {
    keys: {
      ...secret('INTERNAL_KEY', {
        make: hex(32),
        meaning:
          'What servers send as `X-Internal-Key`, comma-separated: the first is sent, all are accepted. Empty: not configured.',
      }),
      parse: parseList,
    },
  },
  resizing: {
    key: secret('IMGPROXY_KEY', {
      make: hex(32),
      valid: hexKey,
      meaning:
        'Signs resize addresses as imgproxy defines it (hex). The edge derives the key of its file addresses from it.',
    }),
    salt: secret('IMGPROXY_SALT', { make: hex(32), valid: hexKey, meaning: 'The salt of those signatures (hex).' }),
    proxyUrl: address('IMGPROXY_URL', { meaning: 'An imgproxy server; not set: the edge.' }),
    cdnUrl: address('PUBLIC_CDN_URL', { meaning: 'Where variants are read by the public; not set: the edge.' }),
  },
  addresses: {
    media: address('MEDIA_URL', { meaning: 'How services reach the media service; not set: the port base.' }),
    image: address('IMAGE_URL', { meaning: 'How services reach the image service; not set: the port base.' }),
    edge: address('EDGE_URL', {
      requiredInProduction: true,
      meaning: 'The public address of the edge; not set: the port base.',
    }),
  },
  cors: {
    agentOrigins: {
      ...list('AGENT_ALLOWED_ORIGINS', {
        default: [],
        meaning:
          'Browser origins that may call media, memory and agent; `https://*.example.com` allowed. `http://localhost:3000` always belongs to it.',
      }),
      parse: (raw: string | undefined) => parseList(raw).map(parseOriginPattern),
    },
  },
  localIdp: idpSettings,
  media: mediaSettings,
  image: imageSettings,
  imageService: imageServiceSettings,
} as const;

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
  return readSettings(complete, settingGroups, {
    production,
    inUse: groupsOf(services, environment),
    calledFor: calledFor(environment),
  });
}

function calledFor(environment: Environment): readonly string[] {
  const isServer = (endpoint: string | undefined) => (endpoint || 'embedded') !== 'embedded';
  return [
    ...(isServer(environment.S3_ENDPOINT)
      ? ['S3_BUCKET', 'S3_PUBLIC_BUCKET', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY']
      : []),
    ...(isServer(environment.LEGACY_S3_ENDPOINT) ? ['LEGACY_S3_ACCESS_KEY_ID', 'LEGACY_S3_SECRET_ACCESS_KEY'] : []),
  ];
}

/** LEGACY_S3_ENDPOINT; not set, outside production, the folder (CONTRACT §4). */
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
  const { media, image, edge } = config.addresses;
  return {
    media: media ?? at('media'),
    image: image ?? at('image'),
    edge: edge ?? at('edge'),
    idp: config.identity.url ?? at('idp'),
  };
}

/** AGENT_ALLOWED_ORIGINS; not set, outside production, the console. `http://localhost:3000` is added by the rule itself. */
export function agentOriginsOf(config: Config): readonly string[] {
  const { production, portBase } = config.process;
  const { agentOrigins } = config.cors;
  if (production || agentOrigins.length > 0) return agentOrigins;
  return ['localhost', '127.0.0.1'].map((name) => `http://${name}:${portBase}`);
}

/** Everything that is not for anybody's eyes, for the log to leave out. */
export function secretsOf(config: Config): readonly string[] {
  const values: Readonly<Record<string, Readonly<Record<string, unknown>>>> = config;
  return Object.entries(settingGroups).flatMap(([group, settings]) =>
    Object.entries<Setting<unknown>>(settings)
      .filter(([, { secret: isSecret }]) => isSecret)
      .flatMap(([name]) => values[group]?.[name])
      .filter((value) => typeof value === 'string')
      .filter((value) => value !== 'embedded'),
  );
}

type GroupName = keyof typeof settingGroups;

const groupsByService: Partial<Record<ServiceName, readonly GroupName[]>> = {
  media: ['database', 'objects', 'legacyObjects', 'identity', 'internal', 'resizing', 'media', 'image'],
  image: ['objects', 'image', 'imageService'],
  edge: ['objects', 'legacyObjects', 'resizing', 'image'],
  idp: ['localIdp'],
};

function groupsOf(services: readonly ServiceName[], environment: Environment): ReadonlySet<GroupName> {
  const groups = new Set<GroupName>([
    'process',
    'cors',
    ...services.flatMap((service) => groupsByService[service] ?? []),
  ]);
  if (needsEdge(environment)) groups.add('addresses');
  return groups;
}

/** The edge runs wherever objects are embedded or no proxy or no CDN is set (CONTRACT §2). */
function needsEdge(environment: Environment): boolean {
  return (
    (environment.S3_ENDPOINT || 'embedded') === 'embedded' ||
    environment.LEGACY_S3_ENDPOINT === 'embedded' ||
    !environment.IMGPROXY_URL ||
    !environment.PUBLIC_CDN_URL
  );
}

function parseList(raw = ''): readonly string[] {
  return raw
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
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
    throw new Error('must be a postgres:// address or `embedded`');
  return raw;
}
