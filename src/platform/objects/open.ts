/** The one place that chooses the driver of the object store (docs/specification/system.md#engines). */
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';
import { ConfigFault } from '../config.ts';
import type { Log } from '../log.ts';
import { Problem } from '../problem.ts';
import { type EdgeAddressing, openFilesystem } from './files/filesystem.ts';
import { defaultLegacyBucket, isBucketName, type LegacyObjects, type Objects } from './objects.ts';
import { S3Fault } from './s3/client.ts';
import { describeOrigins, isClosedToBrowsers } from './s3/cors.ts';
import { type CreateOnlySupport, openS3Store, type S3Store } from './s3/s3.ts';

/** The settings group `objects`. */
export interface ObjectsSettings {
  /** `embedded`, or an S3 server's address. */
  readonly endpoint: string;
  readonly region: string | undefined;
  readonly bucket: string | undefined;
  readonly publicBucket: string | undefined;
  readonly accessKeyId: string | undefined;
  readonly secretAccessKey: string | undefined;
}

export interface OpenObjectsOptions {
  readonly settings: ObjectsSettings;
  /** In production, a missing bucket is an error, and is never created. */
  readonly production: boolean;
  readonly dataDir: string;
  readonly clock: Clock;
  readonly log: Log;
  /** The file driver signs addresses with it. A process that signs none may omit it. */
  readonly edge?: EdgeAddressing;
}

export interface OpenedObjects {
  readonly driver: 'files' | 's3';
  /** Never public. */
  readonly originals: Objects;
  /** Variants. */
  readonly publicObjects: Objects;
  /** For doctor: finds out whether a signed PUT can be limited to creating (docs/specification/media.md#uploads). Writes a small object. */
  probeCreateOnly(): Promise<CreateOnlySupport>;
  /** Reads the CORS rules of the bucket of the originals. */
  examineOrigins(): Promise<{ readonly isClosed: boolean; readonly sentence: string }>;
  close(): Promise<void>;
}

/**
 * Throws ConfigFault if the settings are incomplete or the server rejects them. A server that does not respond yet is
 * only logged, and calls fail until it responds.
 */
export async function openObjects(options: OpenObjectsOptions): Promise<OpenedObjects> {
  return options.settings.endpoint === 'embedded' ? openFiles(options) : openS3(options);
}

/** Returns the folder that holds the files of a bucket. */
export function bucketFolder(dataDir: string, backend: 'objects' | 'legacy', bucket: string): string {
  return backend === 'legacy' ? join(dataDir, 'legacy', bucket) : join(dataDir, bucket);
}

function openFiles({ dataDir, clock, edge }: OpenObjectsOptions): OpenedObjects {
  const stagingFolder = join(dataDir, '.incoming');
  const open = (bucket: string) =>
    openFilesystem({ bucket, root: bucketFolder(dataDir, 'objects', bucket), stagingFolder, clock, edge });
  return {
    driver: 'files',
    originals: open('objects'),
    publicObjects: open('public'),
    probeCreateOnly: async () => 'honored',
    examineOrigins: async () => ({ isClosed: false, sentence: 'pages of any origin can upload' }),
    close: async () => undefined,
  };
}

async function openS3(options: OpenObjectsOptions): Promise<OpenedObjects> {
  const settings = complete(options.settings);
  const store = openS3Store({ ...settings, clock: options.clock });
  const probeCreateOnly = () => store.probeCreateOnly(settings.bucket);
  const examineOrigins = async () => {
    const origins = await store.corsOrigins(settings.bucket);
    return { isClosed: isClosedToBrowsers(origins), sentence: describeOrigins(origins) };
  };
  try {
    await Promise.all([
      prepare(store, options, { variable: 'S3_BUCKET', bucket: settings.bucket, isPublic: false }),
      prepare(store, options, { variable: 'S3_PUBLIC_BUCKET', bucket: settings.publicBucket, isPublic: true }),
    ]);
    const support = await probeCreateOnly();
    if (support !== 'honored')
      options.log.warn(
        { support },
        'the S3 server does not support create-only writes: a signed PUT can overwrite an object while its URL is valid',
      );
    const { isClosed, sentence } = await examineOrigins();
    options.log[isClosed ? 'warn' : 'info'](
      { bucket: settings.bucket, reason: sentence },
      'the CORS rules of a bucket',
    );
  } catch (error) {
    if (!(error instanceof Problem)) {
      await store.close();
      throw error;
    }
    options.log.warn({ err: error.cause }, 'the S3 server is not responding yet');
  }
  return {
    driver: 's3',
    originals: store.bucket(settings.bucket),
    publicObjects: store.bucket(settings.publicBucket),
    probeCreateOnly,
    examineOrigins,
    close: () => store.close(),
  };
}

function complete(settings: ObjectsSettings) {
  const variables = {
    region: 'S3_REGION',
    bucket: 'S3_BUCKET',
    publicBucket: 'S3_PUBLIC_BUCKET',
    accessKeyId: 'S3_ACCESS_KEY_ID',
    secretAccessKey: 'S3_SECRET_ACCESS_KEY',
  } as const;
  const { endpoint, region = '', bucket = '', publicBucket = '', accessKeyId = '', secretAccessKey = '' } = settings;
  const needed = { region, bucket, publicBucket, accessKeyId, secretAccessKey };
  const missing = Object.entries(variables).filter(([name]) => needed[name as keyof typeof needed] === '');
  const faults = missing.map(([, variable]) => `${variable} is required with S3_ENDPOINT`);
  if (bucket === publicBucket && bucket !== '')
    faults.push('S3_PUBLIC_BUCKET must not be S3_BUCKET, whose objects are never public');
  if (faults.length > 0) throw new ConfigFault(faults);
  return { endpoint, ...needed };
}

interface Wanted {
  readonly variable: string;
  readonly bucket: string;
  readonly isPublic: boolean;
}

async function prepare(store: S3Store, options: OpenObjectsOptions, { variable, bucket, isPublic }: Wanted) {
  try {
    if (await store.exists(bucket)) return;
    if (options.production) throw new ConfigFault([`${variable}: the S3 server has no bucket "${bucket}"`]);
    await store.create(bucket, { isPublic });
    options.log.info({ bucket }, 'created the missing bucket');
  } catch (error) {
    if (!(error instanceof S3Fault)) throw error;
    const keys = 'S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY and S3_REGION';
    throw new ConfigFault([`${variable}: ${error.message} for the bucket "${bucket}"; see ${keys}`]);
  }
}

/** The settings group `legacyObjects`. */
export interface LegacySettings {
  /** `embedded`, or an S3 server's address. `undefined`: there is no legacy backend. */
  readonly endpoint: string | undefined;
  readonly region: string | undefined;
  readonly accessKeyId: string | undefined;
  readonly secretAccessKey: string | undefined;
}

/** Open buckets are cached. Opening one again makes no request. */
const legacyBucketsKept = 100;

/**
 * `ownBuckets`: the bucket names of `openObjects`. They are never legacy buckets, on any server: only the bucket's name
 * distinguishes stores in a signed URL, in a resize URL and in the identity of a variant's source.
 * Buckets are never created: others own them. Throws ConfigFault.
 */
export function openLegacyObjects({
  settings,
  ownBuckets,
  ...options
}: Pick<OpenObjectsOptions, 'dataDir' | 'clock' | 'edge'> & {
  readonly settings: LegacySettings;
  readonly ownBuckets: readonly string[];
}): LegacyObjects {
  if (settings.endpoint === undefined)
    return { driver: 'off', bucket: () => undefined, check: async () => undefined, close: async () => undefined };
  const { driver, isName, open, check, close } =
    settings.endpoint === 'embedded' ? legacyFiles(options) : legacyS3(completeLegacy(settings), options.clock);
  const opened = new LRUCache<string, Objects>({ max: legacyBucketsKept });
  return {
    driver,
    bucket: (name) => {
      if (!isBucketName(name) || !isName(name) || ownBuckets.includes(name)) return undefined;
      const objects = opened.get(name) ?? open(name);
      opened.set(name, objects);
      return objects;
    },
    check,
    close,
  };
}

interface LegacyDriver extends Pick<LegacyObjects, 'driver' | 'check' | 'close'> {
  /** Whether the driver accepts the name of a bucket. */
  readonly isName: (bucket: string) => boolean;
  readonly open: (bucket: string) => Objects;
}

function legacyFiles({ dataDir, clock, edge }: Pick<OpenObjectsOptions, 'dataDir' | 'clock' | 'edge'>): LegacyDriver {
  const stagingFolder = join(dataDir, '.incoming');
  const open = (bucket: string) =>
    openFilesystem({ bucket, root: bucketFolder(dataDir, 'legacy', bucket), stagingFolder, clock, edge });
  return {
    driver: 'files',
    isName: () => true,
    open,
    check: () => open(defaultLegacyBucket).check(),
    close: async () => undefined,
  };
}

function legacyS3(settings: ReturnType<typeof completeLegacy>, clock: Clock): LegacyDriver {
  const store = openS3Store({ ...settings, clock });
  return {
    driver: 's3',
    // The loosest rule that S3 ever had. Some servers answer other names as if they had failed themselves.
    isName: (bucket) => /^[a-z0-9].{2,254}$/i.test(bucket),
    open: (bucket) => store.bucket(bucket),
    check: async () => {
      // Any bucket shows whether the server responds, even one that does not exist.
      await store.exists(defaultLegacyBucket);
    },
    close: () => store.close(),
  };
}

function completeLegacy(settings: LegacySettings) {
  const { endpoint = '', region = 'auto', accessKeyId = '', secretAccessKey = '' } = settings;
  const faults = Object.entries({ LEGACY_S3_ACCESS_KEY_ID: accessKeyId, LEGACY_S3_SECRET_ACCESS_KEY: secretAccessKey })
    .filter(([, value]) => value === '')
    .map(([variable]) => `${variable} is required with LEGACY_S3_ENDPOINT`);
  if (faults.length > 0) throw new ConfigFault(faults);
  return { endpoint, region, accessKeyId, secretAccessKey };
}
