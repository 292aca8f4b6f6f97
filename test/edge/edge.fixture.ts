/** An edge on a port of its own over a folder of its own, for the tests. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readlink, rm, stat } from 'node:fs/promises';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { parsePresets } from '#edge/presets.ts';
import { createEdge, type EdgeDeps } from '#edge/service.ts';
import { createVariantMaker, type VariantMaker } from '#image/engine/variants.ts';
import { createEngine } from '#image/engine/working.ts';
import type { HttpServer } from '#platform/http/httpserver.ts';
import { createLog } from '#platform/log.ts';
import { deriveAddressKey } from '#platform/objects/addresses.ts';
import type { EdgeAddressing } from '#platform/objects/files/filesystem.ts';
import type { Objects } from '#platform/objects/objects.ts';
import { type OpenObjectsOptions, openObjects } from '#platform/objects/open.ts';
import { openTestBucket, skipWithoutS3 } from '../platform/objects/s3.fixture.ts';

export const resizingKeys = { key: '943b421c9eb07c83', salt: '520f986b998545b4' };

export interface Rig {
  readonly app: HttpServer;
  readonly url: string;
  readonly port: number;
  /** Has `objects` and `public` folders, and `.incoming` for what is being written. */
  readonly dataDir: string;
  /** What addresses of files are signed with. */
  readonly addressing: EdgeAddressing;
  readonly originals: Objects;
  readonly publicObjects: Objects;
  readonly variants: VariantMaker;
  readonly clock: { nowMs: number; now(): number };
  /** Bytes of each upload that has not ended. */
  staged(): Promise<readonly number[]>;
  close(): Promise<void>;
}

const log = createLog({ level: 'silent' });
const limits = { maxSourcePixels: 50_000_000, processTimeoutMs: 30_000, concurrency: 2, permitWaitMs: 5000 };

export interface Driver {
  readonly name: 'files' | 's3';
  readonly missing: boolean;
}

export const drivers: readonly Driver[] = [
  { name: 'files', missing: false },
  { name: 's3', missing: skipWithoutS3 },
];

interface Stores {
  readonly originals: Objects;
  readonly publicObjects: Objects;
  remove(): Promise<void>;
}

export interface RigChanges extends Pick<Partial<EdgeDeps>, 'otherBucket' | 'shares' | 'variants' | 'settings'> {
  readonly driver?: Driver['name'];
  readonly server?: Partial<EdgeDeps['server']>;
}

export async function startEdge({ driver = 'files', server, ...changes }: RigChanges = {}): Promise<Rig> {
  const dataDir = await mkdtemp(join(tmpdir(), 'atelier-edge-'));
  const clock = { nowMs: Date.now(), now: () => clock.nowMs };
  // The address is known only after the port is; signed addresses are made from it at each call.
  const edge = { url: '', secret: deriveAddressKey(resizingKeys.key, resizingKeys.salt) };
  const { originals, publicObjects, remove } =
    driver === 's3' ? await makeBuckets() : await openFolders({ dataDir, clock, edge });
  const variants = createVariantMaker({
    engine: createEngine(limits),
    keySecret: 'secret of the tests',
    publicObjects,
    limits,
  });
  const app = createEdge({
    server: { log, readiness: { objects: () => originals.check() }, ...server },
    clock,
    resizing: resizingKeys,
    settings: {
      maxStagedBytes: 1024 ** 3,
      presets: parsePresets('sharp=rs:fill:60:60/sh:0.5,tiny=pr:sharp/w:30/h:30'),
    },
    originals,
    publicObjects,
    variants,
    ...changes,
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  edge.url = `http://127.0.0.1:${port}`;
  return {
    app,
    url: edge.url,
    port,
    dataDir,
    addressing: edge,
    originals,
    publicObjects,
    variants,
    clock,
    staged: () => sizesIn(join(dataDir, '.incoming')),
    close: async () => {
      app.server.closeAllConnections();
      await app.close();
      await remove();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function openFolders(place: Pick<OpenObjectsOptions, 'dataDir' | 'clock' | 'edge'>): Promise<Stores> {
  const settings = {
    endpoint: 'embedded',
    region: undefined,
    bucket: undefined,
    publicBucket: undefined,
    accessKeyId: undefined,
    secretAccessKey: undefined,
  };
  const { originals, publicObjects, close } = await openObjects({ ...place, settings, production: false, log });
  return { originals, publicObjects, remove: close };
}

async function makeBuckets(): Promise<Stores> {
  const [originals, publicObjects] = await Promise.all([openTestBucket(), openTestBucket({ isPublic: true })]);
  return {
    originals: originals.objects,
    publicObjects: publicObjects.objects,
    remove: async () => {
      await Promise.all([originals.close(), publicObjects.close()]);
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

async function sizesIn(folder: string): Promise<readonly number[]> {
  const names = await readdir(folder).catch(() => []);
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(folder, name)).then(
        ({ size }) => size,
        () => undefined,
      ),
    ),
  );
  return sizes.filter((size) => size !== undefined);
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
