import { spawnSync } from 'node:child_process';

/** Reports whether to skip a test that needs these programs: if one is missing, but never in CI. */
export function skipWithout(...programs: readonly string[]): boolean {
  if (process.env.CI === 'true') return false;
  return programs.some((program) => spawnSync(program, ['--version'], { stdio: 'ignore' }).error !== undefined);
}

/** The environment of programs that tests start without the launcher. The compile cache halves the time of a start. */
export const programEnv: Readonly<Record<string, string | undefined>> = {
  PATH: process.env.PATH,
  ...(process.env.NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE }),
};
