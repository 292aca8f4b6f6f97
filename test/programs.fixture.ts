import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { findBuild } from '../build.mjs';

/** Reports whether to skip a test that needs these programs: if one is missing, but never in CI. */
export function skipWithout(...programs: readonly string[]): boolean {
  if (process.env.CI === 'true') return false;
  return programs.some((program) => spawnSync(program, ['--version'], { stdio: 'ignore' }).error !== undefined);
}

/** The built program, for tests that start it without the launcher. */
const build = findBuild();
export const programPath = join(build, 'main.mjs');

/** The environment of programs that tests start without the launcher. The compile cache halves the time of a start. */
export const programEnv: Readonly<Record<string, string | undefined>> = {
  PATH: process.env.PATH,
  NODE_COMPILE_CACHE: join(build, 'compiled'),
};
