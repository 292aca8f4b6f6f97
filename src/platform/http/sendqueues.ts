/**
 * Measures how much of a response its reader has received. The kernel accepts megabytes before the reader has any of them, and
 * accepts more in steps of hundreds of kilobytes, so the number of written bytes reveals neither a slow nor a stopped reader.
 */
import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Bytes per connection that the kernel holds and the other side has not acknowledged. Only Linux reports them. */
export interface SendQueues {
  readonly of: (socket: Socket) => number;
}

export const noSendQueues: SendQueues = { of: () => 0 };

/**
 * Returns the bytes that the other side has acknowledged. If the kernel does not report them, returns the bytes that the kernel has
 * accepted.
 */
export function takenBytes(socket: Socket, queues: SendQueues): number {
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

export async function readSendQueues(): Promise<SendQueues> {
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
