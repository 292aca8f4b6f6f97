/**
 * Transfers: bodies that move at the pace of the client, such as uploads, downloads and large responses. They use memory and
 * file descriptors but no CPU, so they have their own limits: a maximum number and a minimum speed.
 */

import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import { problems } from '../problem.ts';

/** Minimum bytes per second, over the whole window. */
export const slowestTransfer = 1000;
/** Bytes per second. If no place is free, a new transfer evicts the slowest transfer below this speed. */
const evictionSpeed = 10_000;
const samplesPerWindow = 6;

export interface Transfer {
  readonly direction: 'in' | 'out';
  /** Bytes that the client has sent or received. */
  readonly movedBytes: (queues: SendQueues) => number;
  /** The client waits for the server, so this time does not count against it. */
  readonly waitsForServer: () => boolean;
  /** `slow`: below the minimum speed. `crowded`: another transfer needs the place. */
  readonly end: (reason: 'slow' | 'crowded') => void;
}

export interface Transfers {
  /** Watches a transfer until the returned function is called. Throws `overloaded` if no place is free. */
  begin(transfer: Transfer): () => void;
  /** Ends the slowest transfer in this direction. Returns `false` if none is slow enough. */
  endSlowest(direction?: Transfer['direction']): boolean;
  count(direction: Transfer['direction']): number;
}

export interface TransferLimits {
  readonly max: number;
  readonly windowMs: number;
}

interface Watched {
  readonly transfer: Transfer;
  /** The first sample is as old as the window, or from the first look at the transfer. */
  samples: { readonly atMs: number; readonly bytes: number }[];
}

export function createTransfers({ max, windowMs }: TransferLimits): Transfers {
  const running = new Set<Watched>();
  let timer: NodeJS.Timeout | undefined;
  let isSampling = false;

  async function sampleAll(): Promise<void> {
    if (isSampling) return;
    if (running.size === 0) {
      clearInterval(timer);
      timer = undefined;
      return;
    }
    isSampling = true;
    try {
      const isSending = [...running].some(({ transfer }) => transfer.direction === 'out' && !transfer.waitsForServer());
      const queues = isSending ? await readSendQueues() : noSendQueues;
      for (const watched of running) {
        sample(watched, queues, windowMs);
        const speed = speedOf(watched, windowMs);
        if (speed !== undefined && speed < slowestTransfer) end(watched, 'slow');
      }
    } finally {
      isSampling = false;
    }
  }

  function end(watched: Watched, reason: 'slow' | 'crowded'): void {
    running.delete(watched);
    watched.transfer.end(reason);
  }

  function endSlowest(direction?: Transfer['direction']): boolean {
    let slowest: { readonly watched: Watched; readonly speed: number } | undefined;
    for (const watched of running) {
      const speed = speedOf(watched, windowMs);
      const isOne = direction === undefined || watched.transfer.direction === direction;
      if (isOne && speed !== undefined && speed < (slowest?.speed ?? evictionSpeed)) slowest = { watched, speed };
    }
    if (slowest === undefined) return false;
    end(slowest.watched, 'crowded');
    return true;
  }

  return {
    begin: (transfer) => {
      if (running.size >= max && !endSlowest()) throw problems.overloaded();
      // The first sample is taken at the next interval, because most transfers are over by then.
      const watched: Watched = { transfer, samples: [] };
      running.add(watched);
      timer ??= setInterval(() => void sampleAll(), windowMs / samplesPerWindow).unref();
      return () => void running.delete(watched);
    },
    endSlowest,
    count: (direction) => [...running].filter(({ transfer }) => transfer.direction === direction).length,
  };
}

function sample({ transfer, samples }: Watched, queues: SendQueues, windowMs: number): void {
  const atMs = performance.now();
  if (transfer.waitsForServer()) samples.length = 0;
  samples.push({ atMs, bytes: transfer.movedBytes(queues) });
  while (samples[1] !== undefined && atMs - samples[1].atMs >= windowMs) samples.shift();
}

/** Returns bytes per second, or `undefined` if the transfer has not been watched for long enough. */
function speedOf({ samples }: Watched, windowMs: number): number | undefined {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined || last.atMs - first.atMs < windowMs) return undefined;
  return ((last.bytes - first.bytes) * 1000) / (last.atMs - first.atMs);
}

/** The response that `raw` sends. If it is too slow the connection is closed, because its headers may have been sent. */
export function responseTransfer(raw: ServerResponse): Transfer {
  return {
    direction: 'out',
    movedBytes: (queues) => (raw.socket === null ? 0 : takenBytes(raw.socket, queues)),
    waitsForServer: () => raw.writableLength === 0,
    end: () => raw.destroy(),
  };
}

// Measures how much of a response its reader has received. The kernel accepts megabytes before the reader has any of them, and
// accepts more in steps of hundreds of kilobytes, so the number of written bytes reveals neither a slow nor a stopped reader.

/** Bytes per connection that the kernel holds and the other side has not acknowledged. Only Linux reports them. */
interface SendQueues {
  readonly of: (socket: Socket) => number;
}

const noSendQueues: SendQueues = { of: () => 0 };

/**
 * Returns the bytes that the other side has acknowledged. If the kernel does not report them, returns the bytes that the kernel has
 * accepted.
 */
function takenBytes(socket: Socket, queues: SendQueues): number {
  // Node counts only whole writes. Its handle knows how much of the current write libuv still holds.
  const handle: unknown = Reflect.get(socket, '_handle');
  const queued: unknown = typeof handle === 'object' && handle !== null ? Reflect.get(handle, 'writeQueueSize') : 0;
  const dispatched: unknown =
    typeof handle === 'object' && handle !== null ? Reflect.get(handle, 'bytesWritten') : undefined;
  const taken =
    typeof dispatched === 'number' && typeof queued === 'number'
      ? dispatched - queued
      : socket.bytesWritten - socket.writableLength;
  return taken - queues.of(socket);
}

async function readSendQueues(): Promise<SendQueues> {
  const tables = await Promise.all(
    ['/proc/net/tcp', '/proc/net/tcp6'].map((path) => readFile(path, 'latin1').catch(() => '')),
  );
  const queues = new Map<string, number>();
  for (const line of tables.join('\n').split('\n')) {
    // The columns are: sl, local:port, remote:port, state, tx:rx.
    const [, local, remote, queued] =
      /^ *\d+: ([0-9A-F]+:[0-9A-F]{4}) ([0-9A-F]+:[0-9A-F]{4}) [0-9A-F]{2} ([0-9A-F]{8}):/.exec(line) ?? [];
    if (queued !== undefined && queued !== '00000000') queues.set(`${local} ${remote}`, Number.parseInt(queued, 16));
  }
  return { of: (socket) => queues.get(nameOf(socket)) ?? 0 };
}

function nameOf({ localAddress, localPort, remoteAddress, remotePort }: Socket): string {
  return `${written(localAddress, localPort)} ${written(remoteAddress, remotePort)}`;
}

/** Formats an address as in the kernel's tables: 32-bit words in the byte order of the machine, which is little-endian. */
function written(address: string | undefined, port: number | undefined): string {
  if (address === undefined || port === undefined) return '';
  const bytes = ipaddr.parse(address).toByteArray();
  const words = Array.from({ length: bytes.length / 4 }, (_, index) => bytes.slice(4 * index, 4 * index + 4).reverse());
  const hex = (value: number, digits: number) => value.toString(16).toUpperCase().padStart(digits, '0');
  return `${words
    .flat()
    .map((byte) => hex(byte, 2))
    .join('')}:${hex(port, 4)}`;
}
