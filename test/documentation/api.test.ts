/** docs/openapi.json passes a linter, and docs/api-changelog.md names everything that the API no longer has. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { describe, expect, it } from 'vitest';
import type { ApiDocument, Operation } from '#platform/http/apidocument.ts';
import { linesOf, openApiPath, surfaceOf, surfacePath } from '../../tools/generate/apisurface.ts';
import { operations as commonPaths } from '../../tools/generate/endpoints.ts';
import { root } from '../acceptance/running.fixture.ts';

const source = readFileSync(join(root, openApiPath), 'utf8');
const document: ApiDocument = JSON.parse(source);

const calls = Object.entries(document.paths ?? {}).flatMap(([path, operations]) =>
  Object.entries(operations)
    .filter(([method]) => method !== 'servers')
    .map(([method, operation]): readonly [string, Operation] => [`${method.toUpperCase()} ${path}`, operation]),
);

/** The responses of a navigation are redirects. */
const redirects = ['#/paths/~1login/get/responses', '#/paths/~1callback/get/responses'];

describe('docs/openapi.json', () => {
  it('passes the recommended rules of Redocly, warnings included', async () => {
    const config = await createConfig({ extends: ['recommended'] });
    const faults = await lintFromString({ source, absoluteRef: join(root, openApiPath), config });
    const named = faults.map(({ ruleId, message, location }) => `${location[0]?.pointer}: ${ruleId}: ${message}`);
    expect(named.filter((fault) => !redirects.some((place) => fault.startsWith(place)))).toEqual([]);
  });

  it('describes every operation: add their texts to their routes', () => {
    expect(calls.length).toBeGreaterThan(100);
    const incomplete = calls.filter(
      ([, { operationId, summary = '', description = '' }]) =>
        operationId === undefined || summary === '' || description === '',
    );
    expect(incomplete.map(([name]) => name)).toEqual([]);
  });

  it('has an example of every request body', () => {
    const bodies = calls.filter(([, { requestBody }]) => requestBody?.content?.['application/json'] !== undefined);
    expect(bodies.length).toBeGreaterThan(30);
    const without = bodies.filter(
      ([, { requestBody }]) => requestBody?.content?.['application/json']?.example === undefined,
    );
    expect(without.map(([name]) => name)).toEqual([]);
  });

  it('lists the errors of every operation with their codes', () => {
    for (const [name, { responses = {} }] of calls) {
      const statuses = Object.keys(responses).filter((status) => /^[45]/.test(status));
      expect(statuses, name).toEqual(expect.arrayContaining(['400', '500']));
      const isCommon = commonPaths.includes(name.slice(name.indexOf(' ') + 1));
      if (!isCommon) expect(statuses, name).toContain('503');
    }
  });
});

describe('docs/api-changelog.md', () => {
  it('names every operation and field that was removed', () => {
    const changelog = readFileSync(join(root, 'docs/api-changelog.md'), 'utf8');
    const entries = [...changelog.matchAll(/`([^`]+)`/g)].map(([, entry]) => entry);
    const current = new Set(surfaceOf(document));
    const known = linesOf(readFileSync(join(root, surfacePath), 'utf8'));
    expect(known.length).toBeGreaterThan(500);
    const removed = known.filter((line) => !current.has(line));
    // An entry for an operation covers its fields.
    const unnamed = removed.filter((line) => !entries.some((entry) => line === entry || line.startsWith(`${entry} `)));
    expect(unnamed, 'add them to docs/api-changelog.md, below "Removed"').toEqual([]);
  });
});
