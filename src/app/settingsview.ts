/** The effective configuration as operators see it: secrets are masked, also inside other values. */
import { isDeepStrictEqual } from 'node:util';
import type { Setting } from '#platform/config.ts';
import { type Config, secretsOf, serviceNames, standInsOf, warningsOf } from './config.ts';
import { settingGroups } from './settings.ts';

export function describeSettings(config: Config) {
  const values: Readonly<Record<string, Readonly<Record<string, unknown>>>> = config;
  const mask = masker(secretsOf(config));
  return {
    groups: Object.entries(settingGroups).map(([name, settings]) => ({
      name,
      settings: Object.entries<Setting<unknown>>(settings).map(([key, setting]) => {
        const value = values[name]?.[key];
        return {
          variable: setting.variable,
          meaning: setting.meaning,
          value: setting.secret ? describeSecret(value) : mask(spell(value)),
          isSecret: setting.secret,
          isDefault: isDefault(setting, value),
        };
      }),
    })),
    standIns: [...standInsOf(config, serviceNames)],
    warnings: [...warningsOf(process.env, serviceNames)],
  };
}

/** The choice of an engine is no secret. */
function describeSecret(value: unknown): string | null {
  if (value === 'embedded' || value === 'outbox') return value;
  const isSet = Array.isArray(value) ? value.length > 0 : value !== undefined && value !== '';
  return isSet ? '••••••••' : null;
}

function spell(value: unknown): string | null {
  if (value === undefined || value === '') return null;
  if (Array.isArray(value)) return value.length === 0 ? null : value.map((one) => spell(one) ?? '').join(', ');
  if (typeof value === 'function') return null;
  // Headers and query parameters may hold credentials, so only their names are shown.
  return typeof value === 'object' ? Object.keys(value ?? {}).join(', ') || null : String(value);
}

function masker(secrets: readonly string[]): (text: string | null) => string | null {
  const known = secrets.filter((secret) => secret.length >= 6);
  return (text) =>
    text === null
      ? null
      : known
          .reduce((masked, secret) => masked.replaceAll(secret, '••••••••'), text)
          // The user part of a URL.
          .replaceAll(/\/\/[^/@\s]+@/g, '//••••••••@');
}

/** A generated secret has no default. */
function isDefault({ make, parse }: Setting<unknown>, value: unknown): boolean {
  if (make !== undefined) return false;
  try {
    return isDeepStrictEqual(parse(undefined), value);
  } catch {
    return false;
  }
}
