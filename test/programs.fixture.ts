import { spawnSync } from 'node:child_process';

/** Whether a test that needs these programs is to be skipped: where one is missing, but never in CI. */
export function skipWithout(...programs: readonly string[]): boolean {
  if (process.env.CI === 'true') return false;
  return programs.some((program) => spawnSync(program, ['--version'], { stdio: 'ignore' }).error !== undefined);
}
