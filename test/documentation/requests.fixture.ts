/** Reads the blocks of HTTP requests in pages. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../acceptance/running.fixture.ts';

export interface WrittenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** A block can have several requests. Each starts with its request line. */
export const requestsOf = (block: string): readonly WrittenRequest[] =>
  block.split(/^(?=[A-Z]+ \S+ HTTP\/1\.1$)/m).map((source) => {
    const [head = '', ...rest] = source.split('\n\n');
    const [line = '', ...fields] = head.trim().split('\n');
    const [method = '', path = ''] = line.split(' ');
    const headers = Object.fromEntries(
      fields.map((field) => [field.slice(0, field.indexOf(':')), field.slice(field.indexOf(':') + 2)]),
    );
    return { method, path, headers, body: rest.join('\n\n').trim() || undefined };
  });

interface Paths {
  readonly [path: string]: { readonly servers: readonly { readonly url: string }[] } & Readonly<
    Record<string, unknown>
  >;
}

const { paths }: { readonly paths: Paths } = JSON.parse(readFileSync(join(root, 'docs/openapi.json'), 'utf8'));

/** Returns the port of an operation in docs/openapi.json, if it exists. */
export function findPort(method: string, path: string): number | undefined {
  const [, found] =
    Object.entries(paths).find(
      ([template, operations]) =>
        method.toLowerCase() in operations &&
        new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/?]+')}(\\?|$)`).test(path),
    ) ?? [];
  return found && Number(new URL(found.servers[0]?.url ?? '').port);
}

export function portOf({ method, path }: WrittenRequest): number {
  const port = findPort(method, path);
  if (port === undefined) throw new Error(`docs/openapi.json has no ${method} ${path}`);
  return port;
}
