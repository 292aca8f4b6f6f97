/** deploy/compose.yml as Docker Compose reads it: merged, and with the variables of deploy/env.example. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { root } from '../acceptance/running.fixture.ts';

export interface Service {
  readonly image: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly pull_policy?: string;
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly user?: string;
  readonly cap_add?: readonly string[];
  readonly tmpfs?: readonly string[];
  readonly network_mode?: string;
  readonly init?: boolean;
  readonly stop_grace_period?: string;
  readonly configs?: unknown;
  readonly secrets?: unknown;
  readonly environment?: Readonly<Record<string, string>>;
  readonly env_file?: readonly string[];
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly networks?: readonly string[] | Readonly<Record<string, unknown>>;
  readonly depends_on?: readonly string[] | Readonly<Record<string, unknown>>;
  readonly healthcheck?: unknown;
  readonly read_only?: boolean;
}

export interface Network {
  readonly internal?: boolean;
  readonly ipam?: { readonly config: readonly { readonly subnet: string; readonly gateway: string }[] };
}

export interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: Readonly<Record<string, Network>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

/** The variables of env.example. Each secret is generated with the command of its comment. */
export async function readExample(): Promise<Readonly<Record<string, string>>> {
  const lines = (await readFile(join(root, 'deploy/env.example'), 'utf8')).matchAll(
    /^(#\s*)?([A-Z][A-Z0-9_]+)=(.*)$/gm,
  );
  return Object.fromEntries([...lines].map(([, off, name, value]) => [name, off ? '' : value || 'ab'.repeat(32)]));
}

/** `more`: lines that an operator adds to deploy/.env. */
export async function readCompose(more: Readonly<Record<string, string>> = {}): Promise<Compose> {
  const example = { ...(await readExample()), ...more };
  // As in Compose, the text is parsed as YAML first, and then variables are replaced.
  const fill = (_key: unknown, value: unknown) =>
    typeof value !== 'string'
      ? value
      : value.replaceAll(/\$\{(\w+):([?-])([^}]*)\}/g, (_all, name: string, kind, otherwise) => {
          const given = example[name];
          if (given === undefined) throw new Error(`deploy/env.example does not know ${name}`);
          if (given === '' && kind === '?') throw new Error(`${name} has to be set`);
          return given || otherwise;
        });
  return parse(await readFile(join(root, 'deploy/compose.yml'), 'utf8'), fill, { merge: true });
}

export const composeServices = async () => (await readCompose()).services;

/** The environment of an Atelier container: deploy/.env, overridden by the compose file. */
export async function environmentOf(
  name: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Readonly<Record<string, string>>> {
  const service = (await readCompose(more)).services[name];
  if (service?.env_file?.join() !== '.env') throw new Error(`${name} does not receive deploy/.env`);
  return { ...(await readExample()), ...more, ...service.environment };
}
