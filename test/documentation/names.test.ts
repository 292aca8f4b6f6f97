/** Endpoints, error codes and variables that pages name exist. The generated pages list all that exist. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root } from '../acceptance/running.fixture.ts';
import { isKnownVariable, pages } from './blocks.fixture.ts';
import { findPort } from './requests.fixture.ts';

const read = (path: string) => readFileSync(join(root, path), 'utf8');
/** Finds the first group of a pattern in all pages, with the page. */
const findAll = (pattern: RegExp) =>
  pages.flatMap((page) => [...read(page).matchAll(pattern)].map((match) => [page, match.slice(1).join(' ')] as const));
const faults = (found: readonly (readonly [string, string])[], isKnown: (name: string) => boolean) => {
  expect(found.length).toBeGreaterThan(20);
  return found.filter(([, name]) => !isKnown(name)).map(([page, name]) => `${page}: ${name}`);
};

const consoleSource = globSync('src/console/**/*.ts', {
  cwd: root,
  exclude: ['**/*.test.ts', 'src/console/{dist,web}/**'],
})
  .map(read)
  .join('\n');
/** The MCP endpoint and signed URLs have no schema. The local identity provider and Supabase have the endpoints of GoTrue. */
const withoutSchema =
  /^\w+ (\/mcp|\/o\/|\/auth\/v1\/|\/local\/|\/admin\/users\/|\/(token|user|settings|authorize|\.well-known)\b)/;
/** Short forms of endpoints with an id in the path. */
const shortForms = ['DELETE /task', 'GET /messages'];

it('endpoints exist in the API or in the console', () => {
  const isKnown = (name: string) => {
    const [method = '', written = ''] = name.replace(/\?.*/, '').split(' ');
    if (withoutSchema.test(name) || shortForms.includes(name)) return true;
    if (written.startsWith('/api/')) return consoleSource.includes(`'${written}'`);
    return findPort(method, written.replaceAll(/[:{<]\w+[}>]?/g, 'x')) !== undefined;
  };
  expect(faults(findAll(/`(GET|POST|PUT|PATCH|DELETE) (\/[^`\s]*)/g), isKnown)).toEqual([]);
});

it('error codes after a status exist', () => {
  const codes = [...read('docs/problems.md').matchAll(/^\| \d+ \| `([^`]+)`/gm)].map(([, code]) => code);
  // The reason of a 409 `task_running`.
  const isKnown = (name: string) => codes.includes(name) || name === 'running';
  expect(faults(findAll(/\b[45]\d\d `([a-z_]+)`/g), isKnown)).toEqual([]);
});

it('variables exist', () => {
  expect(faults(findAll(/`([A-Z][A-Z0-9]*_[A-Z0-9_]*[A-Z0-9])(?:=[^`]*)?`/g), isKnownVariable)).toEqual([]);
});
