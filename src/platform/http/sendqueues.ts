/**
 * How much of an answer its reader has received. The kernel takes megabytes before the reader has any of them, and asks for
 * more in steps of hundreds of kilobytes, so what was written shows neither a slow reader nor one that stopped.
 */
import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Bytes that each connection holds in the kernel, not acknowledged by the other side. Only Linux shows them. */
export interface SendQueues {
  readonly of: (socket: Socket) => number;
}

export const noSendQueues: SendQueues = { of: () => 0 };

/** Bytes that the other side has acknowledged; where the kernel does not show it, those that the kernel has taken. */
export function takenBytes(socket: Socket, queues: SendQueues): number {
  // Node counts a whole write as taken or not; its handle knows how much of the write libuv still holds.
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

export async function readSendQueues(): Promise<SendQueues> {
  const tables = await Promise.all(
    ['/proc/net/tcp', '/proc/net/tcp6'].map((path) => readFile(path, 'latin1').catch(() => '')),
  );
  const queues = new Map<string, number>();
  for (const line of tables.join('\n').split('\n')) {
    // sl: local:port remote:port state tx:rx
    const [, local, remote, queued] =
      /^ *\d+: ([0-9A-F]+:[0-9A-F]{4}) ([0-9A-F]+:[0-9A-F]{4}) [0-9A-F]{2} ([0-9A-F]{8}):/.exec(line) ?? [];
    if (queued !== undefined && queued !== '00000000') queues.set(`${local} ${remote}`, Number.parseInt(queued, 16));
  }
  return { of: (socket) => queues.get(nameOf(socket)) ?? 0 };
}

function nameOf({ localAddress, localPort, remoteAddress, remotePort }: Socket): string {
  return `${written(localAddress, localPort)} ${written(remoteAddress, remotePort)}`;
}

/** As the kernel's tables write it: 32-bit words in the order of the machine, which is little-endian. */
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
