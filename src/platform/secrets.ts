/**
 * Secrets that nobody set are made at the first start outside production and kept in `secrets.json` (docs/specification/system.md#data-folder), so
 * that addresses and sessions survive a restart.
 */

import { randomUUID } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment, SettingGroup } from './config.ts';
import { StartFault } from './lifecycle.ts';

/**
 * The environment completed by kept and newly made secrets; the new ones are kept when `keepNew`. A variable that is set,
 * even to nothing, is left alone.
 */
export function withSecrets(
  environment: Environment,
  dataDir: string,
  groups: Readonly<Record<string, SettingGroup>>,
  keepNew: boolean,
): Environment {
  const file = join(dataDir, 'secrets.json');
  const kept = readKept(file);
  const made: Record<string, string> = {};
  for (const { variable, make } of Object.values(groups).flatMap((group) => Object.values(group))) {
    if (make !== undefined && environment[variable] === undefined && kept[variable] === undefined)
      made[variable] = make();
  }
  const isNew = keepNew && Object.keys(made).length > 0;
  if (isNew) keep(file, { ...kept, ...made }, kept);
  // Read again: another process may have been first.
  return { ...made, ...(isNew ? readKept(file) : kept), ...environment };
}

/** Whether the secret was made at an earlier start. */
export const isKept = (dataDir: string, variable: string): boolean =>
  Object.hasOwn(readKept(join(dataDir, 'secrets.json')), variable);

function readKept(file: string): Record<string, string> {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new StartFault(`${file} cannot be read as JSON; mend it, or remove it to have new secrets made.`, {
      cause: error,
    });
  }
}

/** Whole or not at all. Of two processes that start at once on an empty folder, the first one's file stands. */
function keep(file: string, secrets: Record<string, string>, before: Record<string, string>): void {
  mkdirSync(join(file, '..'), { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomUUID()}`;
  writeFileSync(draft, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600, flush: true });
  if (Object.keys(before).length > 0) {
    renameSync(draft, file);
    return;
  }
  try {
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}
