/** Garbage that V8 would collect late, because it sees no need for the space. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

type Collect = (options: {
  readonly type: 'major';
  readonly execution: 'async';
  readonly flavor: 'last-resort';
}) => void;

/** Collects what a start leaves behind. An idle process then holds 190 MB instead of 235, until its next full collection. */
export function collectAfterStart(): void {
  // The flag affects contexts that are created after it, so `gc` does not become a global of the program.
  setFlagsFromString('--expose-gc');
  const collect: Collect = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  collect({ type: 'major', execution: 'async', flavor: 'last-resort' });
}
