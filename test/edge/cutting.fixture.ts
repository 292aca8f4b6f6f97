/** An edge in a process of its own behind a TCP proxy that cuts connections, for clients that resume uploads. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deriveAddressKey, resumableSigner } from '#platform/objects/addresses.ts';
import type { Objects } from '#platform/objects/objects.ts';
import { openTestBucket } from '../platform/objects/s3.fixture.ts';
import { openTarget, type Target } from '../platform/objects/writing.child.ts';
import { freePort } from '../ports.fixture.ts';
import { type Driver, resizingKeys } from './edge.fixture.ts';

export interface CuttingRig {
  readonly url: string;
  readonly objects: Objects;
  /** Bytes that clients have sent. */
  readonly sentBytes: number;
  /** Connections that were cut. */
  readonly cuts: number;
  /** Cuts a connection when clients have sent so many bytes in all, and at each further position. */
  cutAt(...positions: readonly number[]): void;
  /** Kills the edge with SIGKILL when clients have sent so many bytes in all, and starts it again. */
  killAt(position: number): void;
  reserve(key: string, size: number): string;
  /** Resident memory of the edge in bytes: now, and at most since `resetPeak`. */
  memory(): Promise<{ readonly now: number; readonly peak: number }>;
  resetPeak(): Promise<void>;
  close(): Promise<void>;
}

export async function startCutting(driver: Driver['name']): Promise<CuttingRig> {
  const { target, remove } = await makePlace(driver);
  const { objects, close } = openTarget(target);
  const edgePort = await freePort();
  let edge = await startEdgeProcess(target, edgePort);
  let sentBytes = 0;
  let cuts = 0;
  let positions: number[] = [];
  let killPosition = Number.POSITIVE_INFINITY;

  async function restart(): Promise<void> {
    killPosition = Number.POSITIVE_INFINITY;
    edge.kill('SIGKILL');
    await once(edge, 'close');
    edge = await startEdgeProcess(target, edgePort);
  }

  let restarting: Promise<void> = Promise.resolve();
  const proxy = createServer((client) => {
    const server = connect(edgePort, '127.0.0.1');
    const cut = () => {
      client.destroy();
      server.destroy();
    };
    client.on('error', cut).on('close', cut);
    server.on('error', cut).on('close', cut);
    server.pipe(client);
    client.pipe(server);
    client.on('data', (chunk: Buffer) => {
      sentBytes += chunk.length;
      if (sentBytes >= killPosition) restarting = restart();
      if (positions[0] === undefined || sentBytes < positions[0]) return;
      positions = positions.filter((position) => position > sentBytes);
      cuts += 1;
      cut();
    });
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const sign = resumableSigner(url, deriveAddressKey(resizingKeys.key, resizingKeys.salt));

  return {
    url,
    objects,
    get sentBytes() {
      return sentBytes;
    },
    get cuts() {
      return cuts;
    },
    cutAt: (...wanted) => {
      positions = wanted.map((position) => sentBytes + position);
    },
    killAt: (position) => {
      killPosition = sentBytes + position;
    },
    reserve: (key, size) => {
      const expires = Math.floor(Date.now() / 1000) + 86_400;
      return sign({ bucket: objects.bucket, key, expires, contentType: 'video/mp4', size });
    },
    memory: async () => {
      const status = await readFile(`/proc/${edge.pid}/status`, 'utf8');
      const bytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1024;
      return { now: bytes('VmRSS'), peak: bytes('VmHWM') };
    },
    resetPeak: () => writeFile(`/proc/${edge.pid}/clear_refs`, '5'),
    close: async () => {
      await restarting;
      proxy.close();
      edge.kill('SIGKILL');
      await close();
      await remove();
    },
  };
}

async function makePlace(driver: Driver['name']): Promise<{ readonly target: Target; remove(): Promise<void> }> {
  if (driver === 's3') {
    const { bucket, close } = await openTestBucket();
    return { target: { driver, bucket }, remove: close };
  }
  const folder = await mkdtemp(join(tmpdir(), 'atelier-cutting-'));
  return { target: { driver, folder }, remove: () => rm(folder, { recursive: true, force: true }) };
}

async function startEdgeProcess(target: Target, port: number): Promise<ChildProcess> {
  const program = fileURLToPath(new URL('edge.child.ts', import.meta.url));
  const args = ['--disable-warning=ExperimentalWarning', program, JSON.stringify({ target, port })];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return child;
}
