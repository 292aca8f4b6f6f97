/** An edge on a port of its own over a folder of its own, for the tests. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readlink, rm } from 'node:fs/promises';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { createVariantMaker, type VariantMaker } from '#image/engine/variants.ts';
import { createEngine } from '#image/engine/working.ts';
import { createLog } from '#platform/log.ts';
import { deriveAddressKey } from '#platform/objects/addresses.ts';
import { openFilesystem } from '#platform/objects/filesystem.ts';
import type { Objects } from '#platform/objects/objects.ts';
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

export async function startEdge(changes: Partial<EdgeDeps> = {}): Promise<Rig> {
  const dataDir = await mkdtemp(join(tmpdir(), 'atelier-edge-'));
  const clock = { nowMs: Date.now(), now: () => clock.nowMs };
  const secret = deriveAddressKey(resizingKeys.key, resizingKeys.salt);
  // The address is known only after the port is; addresses are made from it at each call.
  const edge = { url: '', secret };
  const open = (bucket: string) =>
    openFilesystem({ bucket, root: join(dataDir, bucket), stagingFolder: join(dataDir, 'incoming'), clock, edge });
  const originals = changes.originals ?? open('objects');
  const publicObjects = changes.publicObjects ?? open('public');
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
      await rm(dataDir, { recursive: true, force: true });
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
