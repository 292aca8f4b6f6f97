/** An edge on a port of its own over a folder of its own, for the tests. */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readlink, rm } from 'node:fs/promises';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { createVariantMaker, type VariantMaker } from '#image/engine/variants.ts';
import { createEngine } from '#image/engine/working.ts';
import type { Clock } from '#platform/clock.ts';
import { createLog } from '#platform/log.ts';
import { deriveAddressKey } from '#platform/objects/addresses.ts';
import { type EdgeAddressing, openFilesystem } from '#platform/objects/filesystem.ts';
import type { Objects } from '#platform/objects/objects.ts';
import { openS3Store } from '#platform/objects/s3.ts';
import { createS3Client } from '#platform/objects/s3client.ts';
import { createEdge, type EdgeDeps } from './service.ts';

export const resizingKeys = { key: '943b421c9eb07c83', salt: '520f986b998545b4' };

export interface Rig {
  readonly url: string;
  readonly port: number;
  /** Has `originals` and `public` folders, and `incoming` for what is being written. */
  readonly dataDir: string;
  readonly originals: Objects;
  readonly publicObjects: Objects;
  readonly variants: VariantMaker;
  readonly clock: { nowMs: number; now(): number };
  close(): Promise<void>;
}

const limits = { maxSourcePixels: 50_000_000, processTimeoutMs: 30_000, concurrency: 2, permitWaitMs: 5000 };

export interface Driver {
  readonly name: 'files' | 's3';
  /** Not there on a laptop; under CI a missing engine fails. */
  readonly skipped: boolean;
}

export const drivers: readonly Driver[] = [
  { name: 'files', skipped: false },
  { name: 's3', skipped: process.env.S3_ENDPOINT === undefined && process.env.CI !== 'true' },
];

interface Stores {
  readonly originals: Objects;
  readonly publicObjects: Objects;
  remove(): Promise<void>;
}

export interface RigChanges extends Pick<Partial<EdgeDeps>, 'idleMs' | 'otherBucket' | 'variants'> {
  readonly driver?: Driver['name'];
}

export async function startEdge({ driver = 'files', ...changes }: RigChanges = {}): Promise<Rig> {
  const dataDir = await mkdtemp(join(tmpdir(), 'atelier-edge-'));
  const clock = { nowMs: Date.now(), now: () => clock.nowMs };
  // The address is known only after the port is; signed addresses are made from it at each call.
  const edge = { url: '', secret: deriveAddressKey(resizingKeys.key, resizingKeys.salt) };
  const { originals, publicObjects, remove } =
    driver === 's3' ? await makeBuckets(clock) : openFolders({ dataDir, clock, edge });
  const variants = createVariantMaker({
    engine: createEngine(limits),
    keySecret: 'secret of the tests',
    publicObjects,
    sourcesAtOnce: 4,
    permitWaitMs: limits.permitWaitMs,
  });
  const app = createEdge({
    server: { log: createLog({ level: 'silent' }), readiness: { objects: () => originals.check() } },
    clock,
    resizing: resizingKeys,
    originals,
    publicObjects,
    variants,
    ...changes,
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  edge.url = `http://127.0.0.1:${port}`;
  return {
    url: edge.url,
    port,
    dataDir,
    originals,
    publicObjects,
    variants,
    clock,
    close: async () => {
      app.server.closeAllConnections();
      await app.close();
      await remove();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

function openFolders({ dataDir, clock, edge }: { dataDir: string; clock: Clock; edge: EdgeAddressing }): Stores {
  const stagingFolder = join(dataDir, 'incoming');
  const open = (bucket: string) => openFilesystem({ bucket, root: join(dataDir, bucket), stagingFolder, clock, edge });
  return { originals: open('objects'), publicObjects: open('public'), remove: async () => undefined };
}

async function makeBuckets(clock: Clock): Promise<Stores> {
  const { S3_ENDPOINT, S3_REGION = 'us-east-1', S3_ACCESS_KEY_ID = '', S3_SECRET_ACCESS_KEY = '' } = process.env;
  if (S3_ENDPOINT === undefined) throw new Error('S3_ENDPOINT is not set');
  const server = {
    endpoint: S3_ENDPOINT,
    region: S3_REGION,
    accessKeyId: S3_ACCESS_KEY_ID,
    secretAccessKey: S3_SECRET_ACCESS_KEY,
    clock,
  };
  const store = openS3Store(server);
  const names = [`edge-${randomUUID()}`, `edge-public-${randomUUID()}`] as const;
  for (const name of names) await store.create(name, { isPublic: false });
  const [originals, publicObjects] = [store.bucket(names[0]), store.bucket(names[1])];
  const client = createS3Client(server);
  return {
    originals,
    publicObjects,
    remove: async () => {
      for (const objects of [originals, publicObjects]) {
        for await (const { key } of objects.list('')) await objects.remove([key]);
        await client.call({ method: 'DELETE', bucket: objects.bucket, repeat: 'always' }, (answer) =>
          answer.body.dump(),
        );
      }
      await Promise.all([client.close(), store.close()]);
    },
  };
}

/** Sends the parts as they are, one after the other, and gives back all that is answered until the connection ends. */
export async function exchange(port: number, ...parts: (string | Buffer)[]): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  for (const part of parts) socket.write(part);
  return text(socket);
}

/** A GET with a path that no client would send so. */
export function rawGet(port: number, path: string): Promise<string> {
  return exchange(port, `GET ${path} HTTP/1.1\r\nHost: edge\r\nConnection: close\r\n\r\n`);
}

/** How many files below `folder` this process has open. */
export async function openFilesBelow(folder: string): Promise<number> {
  const handles = await readdir('/proc/self/fd');
  const targets = await Promise.all(handles.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')));
  return targets.filter((target) => target.startsWith(folder)).length;
}

/** Until `condition` holds; fails after ten seconds. */
export async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  for (let attempt = 0; attempt < 500; attempt++) {
    if (await condition()) return;
    await sleep(20);
  }
  throw new Error('waited in vain');
}

export const bytesOf = (size: number): Buffer => randomBytes(size);
