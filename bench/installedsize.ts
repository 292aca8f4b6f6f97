/** The size of an installation: the packages that `npm start` needs, without the files that the bundle makes unnecessary. */
import { existsSync, linkSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { removeUnused } from '../bundle.mjs';
import { atMost, type Bench } from './bench.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const bytesPerBlock = 512;
const mebibyte = 1024 ** 2;

interface LockedPackage {
  readonly dev?: boolean;
  readonly devOptional?: boolean;
}

export const installedSize: Bench = {
  run: async () => [
    atMost(230, {
      goal: 'packages that `npm start` needs, on disk in MiB',
      measured: installedBytes() / mebibyte,
      against: 'a limit; Node itself has 121 of them',
    }),
  ],
};

/** Links the packages of production into another folder of the same file system, where the unused files can be removed. */
function installedBytes(): number {
  const cache = join(root, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'size-'));
  try {
    for (const path of productionPackages()) linkPackage(join(root, path), join(folder, path));
    removeUnused(join(folder, 'node_modules'));
    return bytesOf(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function productionPackages(): readonly string[] {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, LockedPackage>>;
  };
  return Object.entries(packages).flatMap(([path, { dev, devOptional }]) =>
    path === '' || dev || devOptional || !existsSync(join(root, path)) ? [] : [path],
  );
}

/** Packages inside it are listed in the lockfile themselves. */
function linkPackage(source: string, target: string): void {
  mkdirSync(target, { recursive: true });
  for (const entry of readdirSync(source, { withFileTypes: true })) {
    if (entry.isDirectory() && entry.name !== 'node_modules')
      linkPackage(join(source, entry.name), join(target, entry.name));
    else if (entry.isFile()) linkSync(join(source, entry.name), join(target, entry.name));
  }
}

/** Counts a file with several names once, as on a disk. */
function bytesOf(folder: string): number {
  const inodes = new Map<number, number>();
  for (const { parentPath, name } of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const { ino, blocks } = lstatSync(join(parentPath, name));
    inodes.set(ino, blocks * bytesPerBlock);
  }
  return inodes.values().reduce((sum, bytes) => sum + bytes, 0);
}
