/** The account under which programs run that refuse to run as root. */
import { execFileSync } from 'node:child_process';

/** Undefined ids: the tests do not run as root. */
export function unprivileged(): { readonly uid: number | undefined; readonly gid: number | undefined } {
  if (process.getuid?.() !== 0) return { uid: undefined, gid: undefined };
  const idOf = (option: string) => Number(execFileSync('id', [option, 'nobody'], { encoding: 'utf8' }));
  return { uid: idOf('-u'), gid: idOf('-g') };
}
