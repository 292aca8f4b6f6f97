/**
 * Declares and reads settings. A setting has an environment variable and a default; its texts are in app/settings.json.
 * `readSettings` reads all of them and reports all faults together, by name (docs/specification/system.md#production). A test
 * compares docs/config.md with the declarations.
 */

import { StartFault } from './lifecycle.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Setting<T> {
  readonly variable: string;
  /** The default as a text. */
  readonly defaultText: string;
  /** All values of a setting that chooses between some. */
  readonly choices?: readonly string[];
  /** In production, the setting is required when a service that uses it starts. */
  readonly requiredInProduction: boolean;
  /** In production, the value must be an https URL when a service that uses it starts. */
  readonly httpsInProduction?: boolean;
  /** The value is never printed. With `make`, it is generated at the first start outside production and stored in secrets.json. */
  readonly secret: boolean;
  readonly make?: () => string;
  /** `undefined` means not set. Throws a plain Error with the reason if the value is invalid. */
  readonly parse: (raw: string | undefined) => T;
}

export type SettingGroup = Readonly<Record<string, Setting<unknown>>>;
export type Values<G> = { readonly [K in keyof G]: G[K] extends Setting<infer T> ? T : never };

interface Declaration<T> {
  readonly default?: T;
  readonly requiredInProduction?: boolean;
  readonly httpsInProduction?: boolean;
  readonly secret?: boolean;
}
type WithDefault<T> = Declaration<T> & { readonly default: T };

/** Declares a setting of any type. An empty value counts as not set. */
export function setting<T>(variable: string, parse: (raw: string) => T, declaration: WithDefault<T>): Setting<T>;
export function setting<T>(
  variable: string,
  parse: (raw: string) => T,
  declaration?: Declaration<T>,
): Setting<T | undefined>;
export function setting<T>(
  variable: string,
  parse: (raw: string) => T,
  { default: value, requiredInProduction = false, httpsInProduction = false, secret = false }: Declaration<T> = {},
): Setting<T | undefined> {
  return {
    variable,
    defaultText: value === undefined ? 'not set' : String(value),
    requiredInProduction,
    httpsInProduction,
    secret,
    parse: (raw) => (raw === undefined || raw === '' ? value : parse(raw)),
  };
}

export function text(variable: string, declaration: WithDefault<string>): Setting<string>;
export function text(variable: string, declaration?: Declaration<string>): Setting<string | undefined>;
export function text(variable: string, declaration: Declaration<string> = {}): Setting<string | undefined> {
  return setting(variable, (raw) => raw, declaration);
}

interface Range {
  readonly min?: number;
  readonly max?: number;
}

export function integer(variable: string, declaration: WithDefault<number> & Range): Setting<number>;
export function integer(variable: string, declaration?: Declaration<number> & Range): Setting<number | undefined>;
export function integer(
  variable: string,
  { min = 0, max = Number.MAX_SAFE_INTEGER, ...declaration }: Declaration<number> & Range = {},
): Setting<number | undefined> {
  const parse = (raw: string) => {
    const value = Number(raw);
    if (!/^\d+$/.test(raw) || value < min || value > max)
      throw new Error(`must be a whole number from ${min} to ${max}`);
    return value;
  };
  return setting(variable, parse, declaration);
}

/** A number that can have decimal places. */
export function number(variable: string, declaration: WithDefault<number> & Required<Range>): Setting<number>;
export function number(
  variable: string,
  declaration: Declaration<number> & Required<Range>,
): Setting<number | undefined>;
export function number(
  variable: string,
  { min, max, ...declaration }: Declaration<number> & Required<Range>,
): Setting<number | undefined> {
  const parse = (raw: string) => {
    const value = Number(raw);
    if (!/^[\d.]+$/.test(raw) || !(value >= min && value <= max))
      throw new Error(`must be a number from ${min} to ${max}`);
    return value;
  };
  return setting(variable, parse, declaration);
}

/** `true` or `false`. */
export function flag(variable: string, declaration: WithDefault<boolean>): Setting<boolean>;
export function flag(variable: string): Setting<boolean | undefined>;
export function flag(variable: string, declaration: Declaration<boolean> = {}): Setting<boolean | undefined> {
  const parse = (raw: string) => {
    if (raw !== 'true' && raw !== 'false') throw new Error('must be true or false');
    return raw === 'true';
  };
  return setting(variable, parse, declaration);
}

/** One of some values. */
export function choice<T extends string>(
  variable: string,
  choices: readonly T[],
  declaration: WithDefault<NoInfer<T>>,
): Setting<T>;
export function choice<T extends string>(variable: string, choices: readonly T[]): Setting<T | undefined>;
export function choice<T extends string>(
  variable: string,
  choices: readonly T[],
  declaration: Declaration<T> = {},
): Setting<T | undefined> {
  const parse = (raw: string) => {
    const found = choices.find((value) => value === raw);
    if (found === undefined) throw new Error(`must be one of ${choices.join(', ')}`);
    return found;
  };
  return { ...setting(variable, parse, declaration), choices };
}

/** Values that are separated by commas. */
export function list(
  variable: string,
  declaration: Omit<WithDefault<readonly string[]>, 'default'> & { readonly default?: readonly string[] } = {},
): Setting<readonly string[]> {
  const { default: values = [] } = declaration;
  const declared = setting(variable, splitList, { ...declaration, default: values });
  return { ...declared, defaultText: values.join(',') || 'empty' };
}

export function splitList(raw = ''): readonly string[] {
  return raw
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** Declares an http(s) URL. A trailing slash is removed. */
export function address(variable: string, declaration: WithDefault<string>): Setting<string>;
export function address(variable: string, declaration?: Declaration<string>): Setting<string | undefined>;
export function address(variable: string, declaration: Declaration<string> = {}): Setting<string | undefined> {
  return setting(variable, parseAddress, declaration);
}

export function parseAddress(raw: string): string {
  if (!/^https?:\/\/[^/]/.test(raw) || !URL.canParse(raw)) throw new Error('must be an http(s) URL');
  return raw.replace(/(?<!\/)\/+$/, '');
}

/** Accepts a keyword in place of other values. */
export const wordOr =
  (word: string, parse: (raw: string) => string) =>
  (raw: string): string =>
    raw === word ? raw : parse(raw);

/** Declares a secret that is generated outside production if it is not set. `valid` checks the value that an operator sets. */
export function secret(
  variable: string,
  { make, valid }: { readonly make: () => string; readonly valid?: (raw: string) => string | undefined },
): Setting<string> {
  return {
    variable,
    defaultText: 'generated at the first start',
    requiredInProduction: true,
    secret: true,
    make,
    parse: (raw = '') => {
      const fault = raw === '' ? undefined : valid?.(raw);
      if (fault !== undefined) throw new Error(fault);
      return raw;
    },
  };
}

export class ConfigFault extends StartFault {
  override readonly name = 'ConfigFault';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`Configuration: ${faults.join('; ')}.`);
    this.faults = faults;
  }
}

/** Reads groups of settings and reports all faults together. With `production`, a required setting of a group in `inUse` must be set. */
export function readSettings<G extends Readonly<Record<string, SettingGroup>>>(
  environment: Environment,
  groups: G,
  rule: {
    readonly production: boolean;
    readonly inUse: ReadonlySet<keyof G>;
    /** Variables that other settings require, such as the keys of an S3 server once its endpoint is set. `A or B`: one of them. */
    readonly requiredByOthers: readonly string[];
  },
): { readonly [K in keyof G]: Values<G[K]> } {
  const missing = new Set<string>();
  const faults = new Set<string>();
  const read = (group: string, declared: Setting<unknown>): unknown => {
    const raw = environment[declared.variable];
    if (rule.production && declared.requiredInProduction && rule.inUse.has(group) && (raw ?? '') === '') {
      // An empty INTERNAL_KEY is deliberate and means "not configured" (docs/specification/system.md#data-folder).
      if (!(declared.variable === 'INTERNAL_KEY' && raw === '')) missing.add(declared.variable);
    } else if (
      rule.production &&
      declared.httpsInProduction &&
      rule.inUse.has(group) &&
      raw &&
      !raw.startsWith('https://')
    )
      faults.add(`${declared.variable} must be an https URL in production`);
    try {
      return declared.parse(raw);
    } catch (error) {
      faults.add(`${declared.variable} ${(error as Error).message}`);
      return undefined;
    }
  };
  const values = Object.fromEntries(
    Object.entries(groups).map(([name, group]) => [
      name,
      Object.fromEntries(Object.entries(group).map(([key, declared]) => [key, read(name, declared)])),
    ]),
  );
  const absent = rule.requiredByOthers.filter((names) => names.split(' or ').every((name) => !environment[name]));
  if (absent.length > 0) faults.add(`missing: ${absent.join(', ')}`);
  if (missing.size > 0) faults.add(`missing in production: ${[...missing].join(', ')}`);
  if (faults.size > 0) throw new ConfigFault([...faults]);
  return values as { readonly [K in keyof G]: Values<G[K]> };
}
