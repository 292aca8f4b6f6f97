/**
 * Secrets that are not set are generated at the first start outside production and stored in `secrets.json`
 * (docs/specification/system.md#data-folder), so
 * that URLs and sessions survive a restart.
 */

import { randomUUID } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment, SettingGroup } from './config.ts';
import { StartFault } from './lifecycle.ts';

/**
 * Returns the environment with stored and newly generated secrets added. Stores the new ones if `keepNew` is set. A variable that
 * is set, even to an empty value, is not changed.
 */
export function withSecrets(
  environment: Environment,
  dataDir: string,
  groups: Readonly<Record<string, SettingGroup>>,
  storeNew: boolean,
): Environment {
  const file = join(dataDir, 'secrets.json');
  const stored = readStored(file);
  const generated: Record<string, string> = {};
  for (const { variable, make } of Object.values(groups).flatMap((group) => Object.values(group))) {
    if (make !== undefined && environment[variable] === undefined && stored[variable] === undefined)
      generated[variable] = make();
  }
  const isNew = storeNew && Object.keys(generated).length > 0;
  if (isNew) store(file, { ...stored, ...generated }, stored);
  // Read the file again, because another process may have written it first.
  return { ...generated, ...(isNew ? readStored(file) : stored), ...environment };
}

/** Reports whether the secret was generated at an earlier start. */
export const isStored = (dataDir: string, variable: string): boolean =>
  Object.hasOwn(readStored(join(dataDir, 'secrets.json')), variable);

function readStored(file: string): Record<string, string> {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    if (!(error instanceof SyntaxError)) throw unusable(file, error);
    throw new StartFault(`${file} is not valid JSON. Repair it, or delete it to generate new secrets.`, {
      cause: error,
    });
  }
}

const unusable = (file: string, error: unknown) =>
  new StartFault(`ATELIER_DATA_DIR: cannot use ${file} (${(error as Error).message}).`, { cause: error });

/** Writes the file atomically. If two processes start at once on an empty folder, the first one's file wins. */
function store(file: string, secrets: Record<string, string>, before: Record<string, string>): void {
  const draft = `${file}.${randomUUID()}`;
  try {
    mkdirSync(join(file, '..'), { recursive: true, mode: 0o700 });
    writeFileSync(draft, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600, flush: true });
  } catch (error) {
    throw unusable(file, error);
  }
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
