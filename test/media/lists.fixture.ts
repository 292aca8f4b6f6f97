/** Lists of prohibited images in a folder, for the tests. */
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEngine } from '#image/engine/working.ts';
import { pdqOf } from '#media/screening/pdq.ts';

export type ListKind = 'sha256' | 'md5' | 'pdq';

const kinds: readonly ListKind[] = ['sha256', 'md5', 'pdq'];

export interface Lists {
  readonly folder: string;
  write(kind: ListKind, text: string): Promise<void>;
  /** None is there any more, nor anything in their place. */
  clear(): Promise<void>;
  close(): Promise<void>;
}

export async function openLists(): Promise<Lists> {
  const folder = await mkdtemp(join(tmpdir(), 'atelier-lists-'));
  return {
    folder,
    write: (kind, text) => writeFile(join(folder, `${kind}.txt`), text),
    clear: async () => {
      for (const kind of kinds) await rm(join(folder, `${kind}.txt`), { recursive: true, force: true });
    },
    close: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Hex. */
export function digestOf(algorithm: 'sha256' | 'md5', bytes: Buffer): string {
  return createHash(algorithm).update(bytes).digest('hex');
}

const engine = createEngine({ maxSourcePixels: 1e6, processTimeoutMs: 20_000, concurrency: 2, permitWaitMs: 20_000 });

/** Hex. */
export async function pdqOfImage(bytes: Buffer): Promise<string> {
  return pdqOf((await engine.inspect(bytes)).rendition).hex;
}

/** The hash with `count` of its bits turned. */
export function turned(hex: string, count: number): string {
  let bits = BigInt(`0x${hex}`);
  for (let at = 0; at < count; at++) bits ^= 1n << BigInt((at * 37) % 256);
  return bits.toString(16).padStart(64, '0');
}
