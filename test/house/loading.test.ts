/** A process loads only the code of its services, and large packages on first use (docs/performance.md#start). */
import { readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const sources = join(dirname(fileURLToPath(import.meta.url)), '../../src');
const services = ['media', 'image', 'auth', 'agent', 'memory', 'content', 'notify', 'edge', 'console'];
const largePackages = [
  'ai',
  '@ai-sdk/openai-compatible',
  'sharp',
  'opencc-js',
  'nodemailer',
  'pg',
  '@redis/client',
  '@trustnxt/c2pa-ts/manifest',
];

/** Follows the imports of values that are not dynamic. Returns files relative to src/, and packages. */
function load(entry: string) {
  const [files, packages] = [new Set([entry]), new Set<string>()];
  for (const file of files) {
    for (const specifier of staticImports(readFileSync(join(sources, file), 'utf8'))) {
      if (specifier.startsWith('#')) files.add(specifier.slice(1));
      else if (specifier.startsWith('.')) files.add(posix.join(posix.dirname(file), specifier));
      else packages.add(specifier);
    }
  }
  return { files: [...files].filter((file) => file.endsWith('.ts')), packages: [...packages] };
}

function staticImports(text: string): readonly string[] {
  return [...text.matchAll(/^(?:import|export)\s+(type\s)?(?:([^;'"]*?)from\s+)?'([^']+)'/gm)]
    .filter(([, isType, names]) => isType === undefined && !/^\{(?:\s*type\s[^,}]*,?)+\s*\}\s*$/.test(names ?? ''))
    .map((match) => match[3] ?? '');
}

const heavy = (packages: readonly string[]) => packages.filter((name) => largePackages.includes(name));
const servicesIn = (files: readonly string[]) =>
  services.filter((service) => files.includes(`${service}/service.ts`)).toSorted();

it('the command starts without the code of a service', () => {
  const { files, packages } = load('commands/start.ts');
  expect(files.length).toBeGreaterThan(30);
  expect(servicesIn(files)).toEqual([]);
  expect(heavy(packages)).toEqual([]);
});

describe.each(services)('%s', (service) => {
  const { files, packages } = load(`app/wiring/${service}.ts`);

  it('loads no other service', () => {
    expect(servicesIn(files)).toEqual([service]);
  });

  it('loads large packages on first use', () => {
    expect(heavy(packages)).toEqual([]);
  });
});
