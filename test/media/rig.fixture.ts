/** Media and an edge on ports of their own, over engines of their own, for the tests. */

import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from 'vitest';
import { migrations } from '#app/migrations.ts';
import { resizeSigner } from '#edge/api.ts';
import { createEdge } from '#edge/service.ts';
import { type Brand, defaultBrand } from '#image/engine/brand.ts';
import { createVariantMaker } from '#image/engine/variants.ts';
import { createEngine } from '#image/engine/working.ts';
import type { Asset, ImageSignedRefs, UploadReservation } from '#media/api.ts';
import { createScreening, type ScreeningSettings } from '#media/screening/screening.ts';
import { createMedia, type MediaDeps } from '#media/service.ts';
import { createAccess } from '#platform/access/access.ts';
import { openCache } from '#platform/cache/open.ts';
import { systemClock } from '#platform/clock.ts';
import type { Database } from '#platform/db/db.ts';
import type { HttpClient } from '#platform/http/client.ts';
import type { HttpServer } from '#platform/http/server.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import { createJobs } from '#platform/jobs/queueing.ts';
import { createLog } from '#platform/log.ts';
import { deriveAddressKey, resumableSigner } from '#platform/objects/addresses.ts';
import { type EdgeAddressing, openFilesystem } from '#platform/objects/files/filesystem.ts';
import { defaultLegacyBucket, type LegacyObjects, type Objects } from '#platform/objects/objects.ts';
import { openLegacyObjects } from '#platform/objects/open.ts';
import type { Redis } from '#platform/redis/redis.ts';
import { webhookEventTypes } from '#webhooks/events.ts';
import { createPublisher } from '#webhooks/publishing.ts';
import { databaseEngines, openTestDatabase } from '../database.fixture.ts';
import { inLane, isNightly } from '../lane.fixture.ts';
import { openTestBucket, skipWithoutS3, testServer } from '../platform/objects/s3.fixture.ts';
import { startTestIssuer, type TestIssuer, testUserId } from '../platform/tokenissuer.fixture.ts';
import { skipWithout } from '../programs.fixture.ts';
import { openTestRedis, skipWithoutRedis } from '../redis.fixture.ts';

/** Small enough to be met from both sides. */
export const testLimits = { maxImageBytes: 100_000, maxVideoBytes: 200_000, maxSourcePixels: 1_000_000 };

interface ObjectStores {
  readonly originals: Objects;
  readonly publicObjects: Objects;
  /** Without it the legacy backend is off. */
  readonly legacy?: LegacyObjects;
  /** A bucket there, of this rig alone. */
  readonly legacyBucket?: string;
  readonly files?: MediaDeps['files'];
  close(): Promise<void>;
}

export interface EnginePair {
  readonly name: string;
  readonly missing: boolean;
  readonly openDatabase: () => Promise<Database>;
  readonly openObjects: (edge: EdgeAddressing) => Promise<ObjectStores>;
  /** Without it caches are in process. */
  readonly openRedis?: () => Promise<Redis>;
}

/** One process without Redis and S3. The quick lane has PostgreSQL for PGlite (see `openTestDatabase`). */
export const embedded: EnginePair = {
  name: 'one database and files',
  missing: false,
  openDatabase: () => openTestDatabase(migrations),
  openObjects: openFolders,
};

/** The embedded engines, and the distributed ones where they run. */
const enginePairs: readonly EnginePair[] = [
  embedded,
  ...databaseEngines
    .filter(({ name }) => name === 'postgres')
    .map((postgres) => ({
      name: 'PostgreSQL, Redis and S3',
      missing: postgres.missing || skipWithoutRedis || skipWithoutS3,
      openDatabase: () => postgres.open(migrations),
      openObjects: openBuckets,
      openRedis: () => openTestRedis(),
    })),
];

/** Of the quick lane. With files, because an S3 server needs a third of the processor time of such a suite. */
const quickPairs = inLane(
  enginePairs.map((pair) =>
    pair === embedded
      ? pair
      : {
          ...pair,
          name: 'PostgreSQL, Redis and files',
          missing: databaseEngines.some(({ missing }) => missing) || skipWithoutRedis,
          openObjects: openFolders,
        },
  ),
);

/**
 * Declares the suite on each pair. The quick lane uses PostgreSQL and Redis if they are available, with files. A suite that
 * needs other engines there names them as `quickLane`, and one that runs other programs names them.
 */
export function onEveryPair(
  title: string,
  suite: (pair: EnginePair) => void,
  {
    quickLane = quickPairs,
    programs = [],
  }: { readonly quickLane?: readonly EnginePair[]; readonly programs?: readonly string[] } = {},
): void {
  for (const pair of isNightly ? enginePairs : quickLane)
    describe.skipIf(pair.missing || skipWithout(...programs))(`${title} on ${pair.name}`, () => suite(pair));
}

/** As `onEveryPair`, for a suite that covers what an object store does. In the quick lane this is S3 if it is available. */
export function onEveryStore(title: string, suite: (pair: EnginePair) => void): void {
  onEveryPair(title, suite, { quickLane: inLane(enginePairs) });
}

async function openFolders(edge: EdgeAddressing): Promise<ObjectStores> {
  const dataDir = await mkdtemp(join(tmpdir(), 'atelier-media-'));
  const stagingFolder = join(dataDir, 'incoming');
  const open = (bucket: string) =>
    openFilesystem({ bucket, root: join(dataDir, bucket), stagingFolder, clock: systemClock, edge });
  return {
    originals: open('objects'),
    publicObjects: open('public'),
    legacy: openLegacyObjects({
      settings: legacyFolder,
      ownBuckets: ['objects', 'public'],
      dataDir,
      clock: systemClock,
      edge,
    }),
    legacyBucket: defaultLegacyBucket,
    files: ['objects', 'legacy'],
    close: () => rm(dataDir, { recursive: true, force: true }),
  };
}

const legacyFolder = { endpoint: 'embedded', region: undefined, accessKeyId: undefined, secretAccessKey: undefined };

async function openBuckets(edge: EdgeAddressing): Promise<ObjectStores> {
  const made = await Promise.all([openTestBucket(), openTestBucket({ isPublic: true }), openTestBucket()]);
  const [originals, variants, old] = made;
  const legacy = openLegacyObjects({
    settings: testServer,
    ownBuckets: [originals.bucket, variants.bucket],
    dataDir: tmpdir(),
    clock: systemClock,
    edge,
  });
  return {
    originals: originals.objects,
    publicObjects: variants.objects,
    legacy,
    legacyBucket: old.bucket,
    files: [],
    close: async () => {
      await Promise.all([...made.map(({ close }) => close()), legacy.close()]);
    },
  };
}

const legacyOff: LegacyObjects = openLegacyObjects({
  settings: { ...legacyFolder, endpoint: undefined },
  ownBuckets: [],
  dataDir: tmpdir(),
  clock: systemClock,
});

interface Answer<Body> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

export interface Refusal {
  readonly error: string;
  readonly message: string;
  readonly requestId: string;
  readonly issues?: readonly { readonly path: string }[];
}

/** A caller with a credential. */
export interface Client {
  post<Body = Refusal>(path: string, payload: unknown, headers?: Record<string, string>): Promise<Answer<Body>>;
  get<Body = Refusal>(path: string): Promise<Answer<Body>>;
  patch<Body = Refusal>(path: string, payload: unknown): Promise<Answer<Body>>;
  delete<Body = Refusal>(path: string, payload?: unknown): Promise<Answer<Body>>;
  reserve(payload: object): Promise<Answer<UploadReservation>>;
  register(payload: object): Promise<Answer<Asset>>;
  sign(refs: readonly string[]): Promise<Answer<ImageSignedRefs>>;
}

export interface MediaRig {
  /** For services beside it: who signs the users' tokens, and what servers send. */
  readonly issuer: TestIssuer;
  readonly internalKey: string;
  readonly url: string;
  readonly edgeUrl: string;
  readonly database: Database;
  readonly jobs: Jobs;
  readonly media: HttpServer;
  readonly originals: Objects;
  readonly publicObjects: Objects;
  /** To be named in every request that means it: the default's name is shared by all who use a server. */
  readonly legacyBucket: string;
  /** Its content. */
  readonly legacyFiles: Objects;
  readonly userId: string;
  readonly user: Client;
  readonly otherUser: Client;
  readonly server: Client;
  /** Sends the headers given, and nothing else that could be a credential. */
  readonly client: (headers: Record<string, string>) => Client;
  close(): Promise<void>;
}

export interface MediaRigOptions extends Partial<ScreeningSettings> {
  readonly ffmpegPath?: string;
  readonly maxOwnerBytes?: number;
  readonly uploadTtlS?: number;
  readonly quarantineKey?: string;
  /** The largest files. */
  readonly sizes?: typeof testLimits;
  /** Whether a webhook receiver is set. Deliveries stay in their queue. */
  readonly publishes?: boolean;
  readonly brand?: Brand;
  readonly credentials?: Pick<MediaDeps['settings'], 'c2paCertificate' | 'c2paPrivateKey'>;
  /** By default, mails about decisions wait. */
  readonly notify?: Pick<HttpClient, 'send'>;
}

export async function startMedia(
  pair: EnginePair,
  {
    ffmpegPath = 'ffmpeg',
    maxOwnerBytes = 0,
    uploadTtlS = 3600,
    quarantineKey,
    sizes = testLimits,
    blockedHashes,
    screeningUrl,
    screeningRules = [],
    classifierTimeoutMs,
    publishes = false,
    brand = defaultBrand,
    credentials = { c2paCertificate: undefined, c2paPrivateKey: undefined },
    notify = { send: async () => Promise.reject(new Error('there is no notify service')) },
  }: MediaRigOptions = {},
): Promise<MediaRig> {
  const log = createLog({ level: 'silent' });
  const clock = systemClock;
  const resizing = { key: '943b421c9eb07c83', salt: '520f986b998545b4' };
  // The address is known only after the port is; addresses are made from it at each call.
  const edgeAddress = { url: '', secret: deriveAddressKey(resizing.key, resizing.salt) };
  const [database, stores, redis] = await Promise.all([
    pair.openDatabase(),
    pair.openObjects(edgeAddress),
    pair.openRedis?.(),
  ]);
  const { originals, publicObjects, files = [], legacy = legacyOff, legacyBucket = defaultLegacyBucket } = stores;
  const { maxSourcePixels } = sizes;
  const limits = { maxSourcePixels, processTimeoutMs: 20_000, concurrency: 2, permitWaitMs: 5000 };
  const engine = createEngine(limits, brand);
  const variants = createVariantMaker({ engine, keySecret: 'a key secret', publicObjects, limits });
  const screening = createScreening({
    blockedHashes,
    screeningUrl,
    screeningRules,
    ...(classifierTimeoutMs !== undefined && { classifierTimeoutMs }),
  });
  const server = { log, readiness: { database: () => database.check(), originals: () => originals.check() } };
  const edge = createEdge({
    server,
    clock,
    resizing,
    settings: { maxStagedBytes: 1024 ** 3 },
    originals,
    publicObjects,
    otherBucket: legacy.bucket,
    variants,
  });
  edgeAddress.url = await listen(edge);
  const issuer = await startTestIssuer();
  const internalKey = 'an internal key';
  const jobs = createJobs({ database, log });
  const media = createMedia({
    server,
    brand,
    agentOrigins: ['https://app.example'],
    clock,
    access: createAccess({ internalKeys: [internalKey], jwksUrl: issuer.jwksUrl, log }),
    database,
    signedUrls: openCache({ redis, database, name: 'media', maxBytes: 10_000_000, log }),
    files,
    originals,
    publicObjects,
    legacy,
    engine,
    variants,
    screening,
    resizeAddress: resizeSigner({ baseUrl: edgeAddress.url, ...resizing }),
    signUpload: resumableSigner(edgeAddress.url, edgeAddress.secret),
    jobs,
    sharing: { agent: { send: async () => Promise.reject(new Error('there is no agent')) }, edgeUrl: edgeAddress.url },
    reporting: { notify, addressSecret: 'an address secret', trustedProxies: ['127.0.0.0/8'] },
    webhooks: publishes ? createPublisher({ jobs, clock, types: webhookEventTypes }) : undefined,
    settings: {
      ...sizes,
      maxOwnerBytes,
      uploadTtlS,
      publicScopes: ['feed', 'avatars'],
      stripMetadata: 'public',
      ...credentials,
      ffmpegPath,
      blockedHashes,
      screeningUrl,
      screeningRules,
      quarantineKey,
      quarantineDays: 365,
    },
  });
  const url = await listen(media);
  const client = (headers: Record<string, string>) => createClient(url, headers);
  const asUser = async (sub: string) => client({ authorization: `Bearer ${await issuer.token({ sub })}` });
  return {
    issuer,
    internalKey,
    url,
    edgeUrl: edgeAddress.url,
    database,
    jobs,
    media,
    originals,
    publicObjects,
    legacyBucket,
    get legacyFiles() {
      const files = legacy.bucket(legacyBucket);
      if (files === undefined) throw new Error('this rig has no legacy backend');
      return files;
    },
    client,
    userId: testUserId,
    user: await asUser(testUserId),
    otherUser: await asUser(randomUUID()),
    server: client({ 'x-internal-key': internalKey }),
    close: async () => {
      await Promise.all([media.close(), edge.close(), issuer.close()]);
      await jobs.stop();
      await screening.close();
      await Promise.all([database.close(), stores.close(), redis?.close()]);
    },
  };
}

async function listen(app: HttpServer): Promise<string> {
  await app.listen({ port: 0, host: '127.0.0.1' });
  return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
}

/** A caller that sends the headers of a credential. */
export function createClient(url: string, credential: Record<string, string>): Client {
  async function send<Body>(method: string, path: string, payload: unknown, headers = {}): Promise<Answer<Body>> {
    const response = await fetch(url + path, {
      method,
      headers: { ...(payload !== undefined && { 'content-type': 'application/json' }), ...credential, ...headers },
      ...(payload !== undefined && { body: typeof payload === 'string' ? payload : JSON.stringify(payload) }),
    });
    return {
      status: response.status,
      headers: response.headers,
      body: (response.status === 204 ? {} : await response.json()) as Body,
    };
  }
  const post = <Body>(path: string, payload: unknown, headers = {}) => send<Body>('POST', path, payload, headers);
  return {
    post,
    get: (path) => send('GET', path, undefined),
    patch: (path, payload) => send('PATCH', path, payload),
    delete: (path, payload) => send('DELETE', path, payload),
    reserve: (payload) => post('/v1/uploads', payload),
    register: (payload) => post('/v1/assets', payload),
    sign: (refs) => post('/v1/sign/image', { refs }),
  };
}

/** Sends the PUT of a reservation. */
export async function put({ uploadUrl, headers }: UploadReservation, bytes: Uint8Array): Promise<number> {
  const response = await fetch(uploadUrl, { method: 'PUT', headers, body: new Uint8Array(bytes) });
  await response.arrayBuffer();
  return response.status;
}

/** Reserves an upload and sends the bytes. `said` is the body of its registration. */
export async function upload(client: Client, bytes: Uint8Array, changes: object = {}) {
  const what = { scopeKind: 'thread', scopeId: randomUUID(), kind: 'image', mime: 'image/png', ...changes };
  const { status, body } = await client.reserve(what);
  if (status !== 200) throw new Error(`the reservation was answered ${status}`);
  const stored = await put(body, bytes);
  if (stored !== 200) throw new Error(`the upload was answered ${stored}`);
  return { registration: { ...what, assetId: body.assetId }, assetId: body.assetId, storageKey: body.storageKey };
}
