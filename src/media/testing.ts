/** Media and an edge on ports of their own, over engines of their own, for the tests. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resizeSigner } from '#edge/api.ts';
import { createEdge, type EdgeDeps } from '#edge/service.ts';
import type { Engine } from '#image/engine/engine.ts';
import { objectSource, SourceFault } from '#image/engine/sources.ts';
import { toTransform } from '#image/engine/specs.ts';
import { createVariantMaker } from '#image/engine/variants.ts';
import { createEngine } from '#image/engine/working.ts';
import { createAccess } from '#platform/access/access.ts';
import { startTestIssuer, testUserId } from '#platform/access/test-issuer.ts';
import { systemClock } from '#platform/clock.ts';
import type { Database } from '#platform/db/db.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { createLog } from '#platform/log.ts';
import { deriveAddressKey } from '#platform/objects/addresses.ts';
import { type EdgeAddressing, openFilesystem } from '#platform/objects/filesystem.ts';
import type { Objects } from '#platform/objects/objects.ts';
import { openTestDatabase } from '../../test/database.ts';
import type { Asset, ImageSignedRefs, UploadReservation } from './api.ts';
import { createMedia, type MediaDeps } from './service.ts';
import { mediaMigrations } from './store.ts';

/** Small enough to be met from both sides. */
export const testLimits = { maxImageBytes: 100_000, maxVideoBytes: 200_000, maxSourcePixels: 1_000_000 };

export interface Engines {
  readonly database: Database;
  readonly originals: Objects;
  readonly variants: Objects;
  close(): Promise<void>;
}

export interface EnginePair {
  readonly name: string;
  /** Whether the engines run on this machine. */
  readonly isThere: boolean;
  open(edge: EdgeAddressing): Promise<Engines>;
}

export const embedded: EnginePair = {
  name: 'PGlite and files',
  isThere: true,
  async open(edge) {
    const dataDir = await mkdtemp(join(tmpdir(), 'atelier-media-'));
    const database = await openTestDatabase([mediaMigrations]);
    const open = (bucket: string) =>
      openFilesystem({
        bucket,
        root: join(dataDir, bucket),
        stagingFolder: join(dataDir, 'incoming'),
        clock: systemClock,
        edge,
      });
    return {
      database,
      originals: open('objects'),
      variants: open('public'),
      close: async () => {
        await database.close();
        await rm(dataDir, { recursive: true, force: true });
      },
    };
  },
};

export const enginePairs: readonly EnginePair[] = [embedded];

export interface Answer<Body> {
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

/** Somebody with a credential. */
export interface Client {
  post<Body = Refusal>(path: string, payload: unknown): Promise<Answer<Body>>;
  reserve(payload: object): Promise<Answer<UploadReservation>>;
  register(payload: object): Promise<Answer<Asset>>;
  sign(refs: readonly string[]): Promise<Answer<ImageSignedRefs>>;
}

export interface MediaRig extends Engines {
  readonly url: string;
  readonly userId: string;
  readonly user: Client;
  readonly otherUserId: string;
  readonly otherUser: Client;
  readonly server: Client;
  /** Sends the headers given, and nothing else that could be a credential. */
  readonly client: (headers: Record<string, string>) => Client;
}

export interface RigOptions {
  readonly settings?: Partial<MediaDeps['settings']>;
  readonly engine?: Engine;
  /** What media sees of the originals; the edge sees them as they are. */
  readonly wrap?: (originals: Objects) => Objects;
}

export async function startMedia(pair: EnginePair, options: RigOptions = {}): Promise<MediaRig> {
  const log = createLog({ level: 'silent' });
  const clock = systemClock;
  const resizing = { key: '943b421c9eb07c83', salt: '520f986b998545b4' };
  // The address is known only after the port is; addresses are made from it at each call.
  const edgeAddress = { url: '', secret: deriveAddressKey(resizing.key, resizing.salt) };
  const engines = await pair.open(edgeAddress);
  const { database, originals, variants } = engines;
  const engine =
    options.engine ??
    createEngine({
      maxSourcePixels: testLimits.maxSourcePixels,
      processTimeoutMs: 20_000,
      concurrency: 2,
      permitWaitMs: 5000,
    });
  const edge = createEdge({ log, clock, resizing, originals, variants, ensure: ensureWith(engine, variants) });
  edgeAddress.url = await listen(edge);
  const issuer = await startTestIssuer();
  const internalKey = 'an internal key';
  const media = createMedia({
    log,
    clock,
    access: createAccess({ internalKeys: [internalKey], jwksUrl: issuer.jwksUrl, log }),
    database,
    originals: options.wrap?.(originals) ?? originals,
    engine,
    resizeAddress: resizeSigner({ baseUrl: edgeAddress.url, ...resizing }),
    settings: {
      publicScopes: ['feed', 'avatars'],
      maxImageBytes: testLimits.maxImageBytes,
      maxVideoBytes: testLimits.maxVideoBytes,
      ...options.settings,
    },
  });
  const url = await listen(media);
  const client = (headers: Record<string, string>) => createClient(url, headers);
  const asUser = async (sub: string) => client({ authorization: `Bearer ${await issuer.token({ sub })}` });
  const otherUserId = randomUUID();
  return {
    ...engines,
    url,
    client,
    userId: testUserId,
    user: await asUser(testUserId),
    otherUserId,
    otherUser: await asUser(otherUserId),
    server: client({ 'x-internal-key': internalKey }),
    close: async () => {
      await Promise.all([media.close(), edge.close(), issuer.close()]);
      await engines.close();
    },
  };
}

async function listen(app: HttpServer): Promise<string> {
  await app.listen({ port: 0, host: '127.0.0.1' });
  return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
}

/** The edge's variants, made by the engine that media inspects with. */
function ensureWith(engine: Engine, variants: Objects): EdgeDeps['ensure'] {
  const maker = createVariantMaker({
    engine,
    keySecret: 'a key secret',
    publicObjects: variants,
    sourcesAtOnce: 2,
    permitWaitMs: 5000,
  });
  return async (source, options, format) => {
    try {
      const transform = toTransform({ ...options, format, resampling: options.algorithm });
      const [variant] = await maker.ensure(objectSource(source.objects, source.key), [transform]);
      return variant?.key;
    } catch (error) {
      if (error instanceof SourceFault && error.reason === 'absent') return undefined;
      throw error;
    }
  };
}

function createClient(url: string, headers: Record<string, string>): Client {
  async function post<Body>(path: string, payload: unknown): Promise<Answer<Body>> {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof payload === 'string' ? payload : JSON.stringify(payload),
    });
    return { status: response.status, headers: response.headers, body: (await response.json()) as Body };
  }
  return {
    post,
    reserve: (payload) => post('/v1/uploads', payload),
    register: (payload) => post('/v1/assets', payload),
    sign: (refs) => post('/v1/sign/image', { refs }),
  };
}

/** One PUT, as a reservation says. */
export async function put({ uploadUrl, headers }: UploadReservation, bytes: Uint8Array): Promise<number> {
  const response = await fetch(uploadUrl, { method: 'PUT', headers, body: new Uint8Array(bytes) });
  await response.arrayBuffer();
  return response.status;
}

/** Reserves a place and fills it; what comes back is what a registration has to say. */
export async function upload(client: Client, bytes: Uint8Array, changes: object = {}) {
  const said = { scopeKind: 'thread', scopeId: randomUUID(), kind: 'image', mime: 'image/png', ...changes };
  const { status, body } = await client.reserve(said);
  if (status !== 200) throw new Error(`the reservation was answered ${status}`);
  const stored = await put(body, bytes);
  if (stored !== 200) throw new Error(`the upload was answered ${stored}`);
  return { said: { ...said, assetId: body.assetId }, assetId: body.assetId, storageKey: body.storageKey };
}
