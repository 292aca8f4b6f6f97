/**
 * The client's functions and types are written from the services' OpenAPI documents: a difference is a failure, and
 * `npm test -- test/client -u` writes them anew.
 */
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Access } from '../../src/client/calling.ts';
import { operationsOf } from '../../src/client/operations.ts';
import { root } from '../acceptance/running.fixture.ts';
import { type ConsoleRig, startConsole } from '../console/rig.fixture.ts';
import { operations, type ServiceEndpoints, services } from './endpoints.ts';
import { type ApiDocument, format, listFunctions, operationsIn, writeService } from './writing.ts';

type AnyCall = (...given: readonly unknown[]) => unknown;

const names = Object.keys(services) as (keyof typeof services)[];
let rig: ConsoleRig;
beforeAll(async () => {
  rig = await startConsole({}, names);
});
afterAll(() => rig.close());

const readDocument = async (name: keyof typeof services): Promise<ApiDocument> => {
  const answer = await fetch(`${rig.addresses[name]}/openapi.json`);
  return (await answer.json()) as ApiDocument;
};

describe.each(names)('%s', (name) => {
  const told: ServiceEndpoints = services[name];

  it('has one function for each method and path, and each function has its endpoint', async () => {
    const document = await readDocument(name);
    expect([...operationsIn(document).keys()].sort()).toEqual(Object.keys(told.endpoints).sort());
    expect(Object.keys(document.paths)).toEqual(expect.arrayContaining(operations));
    const functions = Object.values(told.endpoints).map((endpoint) => endpoint.name);
    expect(new Set(functions).size).toBe(functions.length);
  });

  it('each function asks its endpoint, with a body where there is one', async () => {
    const document = operationsIn(await readDocument(name));
    const asked: string[] = [];
    const fetch: typeof globalThis.fetch = async (input, init) => {
      asked.push(`${init?.method ?? 'GET'} ${new URL(String(input)).pathname} ${init?.body !== undefined}`);
      return Response.json({});
    };
    const access = { url: 'http://service', fetch };
    const module: Readonly<Record<string, unknown>> = await import(`../../src/client/${name}/calls.ts`);
    const calls = (module[`${name}Calls`] as (access: Access) => Readonly<Record<string, AnyCall>>)(access);
    const common = Object.keys(operationsOf(access));
    expect(common).toHaveLength(operations.length);
    expect(Object.keys(calls)).toHaveLength(common.length + document.size);
    for (const [key, endpoint] of Object.entries(told.endpoints)) {
      const hasBody = document.get(key)?.requestBody !== undefined;
      const inPath = [...key.matchAll(/\{\w+\}/g)].map(() => 'a/b');
      const given = calls[endpoint.name]?.(...inPath, ...(hasBody ? [{}] : []));
      if (endpoint.kind === 'address') asked.push(`GET ${new URL(String(given)).pathname} false`);
      // Only when it is read does a stream begin; this is none.
      else if (endpoint.kind === 'stream') await expect((given as AsyncGenerator).next()).rejects.toThrow('stream');
      else await given;
      expect(asked.splice(0)).toEqual([`${key.replaceAll(/\{\w+\}/g, 'a%2Fb')} ${hasBody}`]);
    }
  });

  it('is written as its document is', async () => {
    const { api, calls } = writeService(name, await readDocument(name), told);
    await expect(api).toMatchFileSnapshot(join(root, `src/client/${name}/api.ts`));
    await expect(calls).toMatchFileSnapshot(join(root, `src/client/${name}/calls.ts`));
  });
});

it('docs/client-functions.md lists them', async () => {
  const told = await Promise.all(
    names.map(async (name) => listFunctions(name, await readDocument(name), services[name])),
  );
  const head = `# The client's functions

Beside these every service has \`ping\`, \`checkHealth\`, \`checkReadiness\`, \`readMetrics\`, \`readOpenApi\` and \`readReference\`. What each
takes and gives, its types say; what it does, the page of the service. "Again": it is repeated when the network fails
([client.md](client.md)).
`;
  await expect([head, ...told].join('\n')).toMatchFileSnapshot(join(root, 'docs/client-functions.md'));
});

it('knows every code that an application can meet', async () => {
  const tables = globSync('src/**/{problem,problems}.ts', { cwd: root, exclude: ['src/local/**', 'src/console/**'] });
  const codes = await Promise.all(
    tables.map(async (path) => {
      const exported: readonly object[] = Object.values(await import(join(root, path)));
      return exported.flatMap((value) => ('table' in value ? Object.keys(Object(value.table)) : []));
    }),
  );
  const all = [...new Set(codes.flat())].sort();
  expect(all.length).toBeGreaterThan(40);
  const text = `/** The codes of docs/problems.md. Written by \`npm test -- test/client -u\`. */
    export type ProblemCode = ${all.map((code) => `'${code}'`).join('|')};\n`;
  await expect(format(text)).toMatchFileSnapshot(join(root, 'src/client/codes.ts'));
});
