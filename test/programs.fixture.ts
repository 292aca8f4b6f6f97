import { spawnSync } from 'node:child_process';

/** Whether a test that needs these programs is to be skipped: where one is missing, but never in CI. */
export function skipWithout(...programs: readonly string[]): boolean {
  if (process.env.CI === 'true') return false;
  return programs.some((program) => spawnSync(program, ['--version'], { stdio: 'ignore' }).error !== undefined);
}

/** For programs that tests start without the launcher: what it would set as well, so that a start takes half as long. */
export const programEnv: Readonly<Record<string, string | undefined>> = {
  PATH: process.env.PATH,
  ...(process.env.NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE }),
};
