import { spawnSync } from 'node:child_process';
import { compileCacheOf, findProgram } from '../bundle.mjs';

/** Reports whether to skip a test that needs these programs: if one is missing, but never in CI. */
export function skipWithout(...programs: readonly string[]): boolean {
  if (process.env.CI === 'true') return false;
  return programs.some((program) => spawnSync(program, ['--version'], { stdio: 'ignore' }).error !== undefined);
}

/** The bundled program, for tests that start it without the launcher. */
export const programPath = await findProgram();

/** The environment of programs that tests start without the launcher. The compile cache halves the time of a start. */
export const programEnv: Readonly<Record<string, string | undefined>> = {
  PATH: process.env.PATH,
  NODE_COMPILE_CACHE: compileCacheOf(programPath),
};
