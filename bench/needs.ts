/** Peers and programs that some benchmarks need, and how to install them. */
import { spawnSync } from 'node:child_process';
import type { Need } from './bench.ts';

export const postgres: Need = {
  name: 'PostgreSQL',
  install: 'start a server, and set PG_TEST_URL to its URL',
  isThere: async () => {
    const { databaseEngines } = await import('../test/database.fixture.ts');
    return databaseEngines.some(({ name, missing }) => name === 'postgres' && !missing);
  },
};
export const redis: Need = {
  name: 'Redis',
  install: 'install redis-server, start it, and set REDIS_TEST_URL to its URL',
  isThere: async () => !(await import('../test/redis.fixture.ts')).skipWithoutRedis,
};
export const chromium: Need = {
  name: 'Chromium',
  install: 'apt-get install chromium-headless-shell, or set CHROMIUM_PATH',
  isThere: async () => !(await import('../test/chromium.fixture.ts')).withoutChromium,
};
export const ffmpeg = program('ffmpeg', 'ffmpeg', '-version');
export const vipsthumbnail = program('vipsthumbnail', 'libvips-tools');
export const taskset = program('taskset', 'util-linux');
export const ps = program('ps', 'procps');
export const root: Need = {
  name: 'root on Linux',
  install: 'run it as root, so that it can pin the processes of PostgreSQL',
  isThere: async () => process.platform === 'linux' && process.getuid?.() === 0,
};
export const awsSdk = peer('@aws-sdk/client-s3', '@aws-sdk/s3-request-presigner');
export const ipx = peer('ipx');
export const miniSearch = peer('minisearch');
export const langgraph = peer('@langchain/langgraph-api', '@langchain/langgraph');
export const resumableStream = peer('resumable-stream', 'redis');

function program(name: string, debianPackage: string, versionFlag = '--version'): Need {
  return {
    name,
    install: `apt-get install ${debianPackage}`,
    isThere: async () => spawnSync(name, [versionFlag], { stdio: 'ignore' }).error === undefined,
  };
}

/** Packages of this folder's package.json. */
function peer(...packages: readonly string[]): Need {
  return {
    name: packages[0] ?? '',
    install: 'npm ci --prefix bench',
    isThere: async () => packages.every(isInstalled),
  };
}

function isInstalled(name: string): boolean {
  try {
    import.meta.resolve(name);
    return true;
  } catch (error) {
    // A package that exports no main module is there nevertheless.
    return (error as NodeJS.ErrnoException).code === 'ERR_PACKAGE_PATH_NOT_EXPORTED';
  }
}
