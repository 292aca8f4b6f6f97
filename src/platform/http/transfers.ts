/**
 * Transfers: bodies that move at the pace of the client, such as uploads, downloads and large responses. They use memory and
 * file descriptors but no CPU, so they have their own limits: a maximum number and a minimum speed.
 */
import type { ServerResponse } from 'node:http';
import { problems } from '../problem.ts';
import { noSendQueues, readSendQueues, type SendQueues, takenBytes } from './sendqueues.ts';

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
