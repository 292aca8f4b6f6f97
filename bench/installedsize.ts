/** The size of an installation: the packages that `npm start` needs in a checkout, without Node. */
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
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
      against: 'a limit',
    }),
  ],
};

function installedBytes(): number {
  return productionPackages().reduce((sum, path) => sum + bytesOf(join(root, path)), 0);
}

function productionPackages(): readonly string[] {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, LockedPackage>>;
  };
  return Object.entries(packages).flatMap(([path, { dev, devOptional }]) =>
    path === '' || dev || devOptional || !existsSync(join(root, path)) ? [] : [path],
  );
}

/** Packages inside of it are listed in the lockfile themselves. */
function bytesOf(folder: string): number {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? sum : sum + bytesOf(path);
    return sum + lstatSync(path).blocks * bytesPerBlock;
  }, 0);
}
