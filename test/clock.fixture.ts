/** Wrong clocks for programs, by the library of Debian's package `faketime`. */
import { globSync } from 'node:fs';

const library = globSync('/usr/lib/*/faketime/libfaketime.so.1')[0];
export const canSetClock = library !== undefined;

/** Only the time of day changes: timers keep their pace. */
const base = { LD_PRELOAD: library ?? '', FAKETIME_DONT_FAKE_MONOTONIC: '1' };

/** `clock`: by how much the clock of the process is wrong, as `faketime` writes it (`+2h`). */
export function clockEnv(clock: string): Readonly<Record<string, string>> {
  return { ...base, FAKETIME: clock };
}

/** The process reads the file again each second, so that its clock jumps while it runs. */
export function clockFileEnv(file: string): Readonly<Record<string, string>> {
  return { ...base, FAKETIME_TIMESTAMP_FILE: file, FAKETIME_CACHE_DURATION: '1' };
}
