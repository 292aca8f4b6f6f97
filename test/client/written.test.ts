/** The client has one function for each endpoint of the services' OpenAPI documents, and it calls that endpoint. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { Access } from '../../src/client/calling.ts';
import { operationsOf } from '../../src/client/operations.ts';
import { type ApiDocuments, readApiDocuments } from '../../tools/generate/clientfiles.ts';
import { endpointOf, operations, operationsIn, services } from '../../tools/generate/endpoints.ts';

type AnyCall = (...given: readonly unknown[]) => unknown;

let documents: ApiDocuments;
beforeAll(async () => {
  documents = await readApiDocuments();
});

describe.each(services)('%s', (name) => {
  it('names each function once', () => {
    const document = documents[name];
    expect(Object.keys(document.paths)).toEqual(expect.arrayContaining(operations));
    const functions = [...operationsIn(document)].map(([key, operation]) => endpointOf(key, operation).name);
    expect(new Set(functions).size).toBe(functions.length);
  });

  it('each function calls its endpoint, with a body if it has one', async () => {
    const document = operationsIn(documents[name]);
    const requests: string[] = [];
    const fetch: typeof globalThis.fetch = async (input, init) => {
      requests.push(`${init?.method ?? 'GET'} ${new URL(String(input)).pathname} ${init?.body !== undefined}`);
      return Response.json({});
    };
    const access = { url: 'http://service', fetch };
    const module: Readonly<Record<string, unknown>> = await import(`../../src/client/${name}/calls.ts`);
    const calls = (module[`${name}Calls`] as (access: Access) => Readonly<Record<string, AnyCall>>)(access);
    const common = Object.keys(operationsOf(access));
    expect(common).toHaveLength(operations.length);
    const own = [...document]
      .map(([key, operation]) => [key, endpointOf(key, operation)] as const)
      .filter(([, { kind }]) => kind !== 'foreign');
    expect(Object.keys(calls)).toHaveLength(common.length + own.length);
    for (const [key, endpoint] of own) {
      const hasBody = document.get(key)?.requestBody !== undefined;
      const inPath = [...key.matchAll(/\{\w+\}/g)].map(() => 'a/b');
      const given = calls[endpoint.name]?.(...inPath, ...(hasBody ? [{}] : []));
      if (endpoint.kind === 'address') requests.push(`GET ${new URL(String(given)).pathname} false`);
      // A stream starts only when it is read, and this response is not a stream.
      else if (endpoint.kind === 'stream' || endpoint.kind === 'events')
        await expect((given as AsyncGenerator).next()).rejects.toThrow('stream');
      else await given;
      expect(requests.splice(0)).toEqual([`${key.replaceAll(/\{\w+\}/g, 'a%2Fb')} ${hasBody}`]);
    }
  });
});
