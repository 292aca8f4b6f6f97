/** The typed client, from the OpenAPI documents of running services and the tables of problems. */
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../acceptance/running.fixture.ts';
import { services } from '../client/endpoints.ts';
import { type ApiDocument, format, listFunctions, writeService } from '../client/writing.ts';
import { startConsole } from '../console/rig.fixture.ts';
import type { GeneratedFile } from './files.ts';

type ServiceName = keyof typeof services;
export type ApiDocuments = Readonly<Record<ServiceName, ApiDocument>>;

export const clientServices = Object.keys(services) as ServiceName[];

/** Starts the services for as long as it takes. */
export async function readApiDocuments(): Promise<ApiDocuments> {
  const rig = await startConsole({}, clientServices);
  try {
    const read = async (name: ServiceName) => {
      const answer = await fetch(`${rig.addresses[name]}/openapi.json`);
      return [name, (await answer.json()) as ApiDocument] as const;
    };
    return Object.fromEntries(await Promise.all(clientServices.map(read))) as ApiDocuments;
  } finally {
    await rig.close();
  }
}

export async function renderClient(documents: ApiDocuments): Promise<readonly GeneratedFile[]> {
  const written = clientServices.flatMap((name) => {
    const { api, calls } = writeService(name, documents[name], services[name]);
    return [
      { path: `src/client/${name}/api.ts`, text: api },
      { path: `src/client/${name}/calls.ts`, text: calls },
    ];
  });
  return [
    ...written,
    { path: 'src/client/codes.ts', text: format(await renderCodes()) },
    { path: 'docs/client-functions.md', text: renderFunctionsPage(documents) },
  ];
}

/** Every code that an application can meet. */
async function renderCodes(): Promise<string> {
  const tables = globSync('src/**/{problem,problems}.ts', { cwd: root, exclude: ['src/local/**', 'src/console/**'] });
  const codes = await Promise.all(
    tables.map(async (path) => {
      const exported: readonly object[] = Object.values(await import(join(root, path)));
      return exported.flatMap((value) => ('table' in value ? Object.keys(Object(value.table)) : []));
    }),
  );
  const all = [...new Set(codes.flat())].sort();
  return `/** The codes of docs/problems.md. Written by \`npm run generate\`. */
    export type ProblemCode = ${all.map((code) => `'${code}'`).join('|')};\n`;
}

function renderFunctionsPage(documents: ApiDocuments): string {
  const head = `# The client's functions

Beside these every service has \`ping\`, \`checkHealth\`, \`checkReadiness\`, \`readMetrics\`, \`readOpenApi\` and \`readReference\`. What each
takes and gives, its types say; what it does, the page of the service. "Again": it is repeated when the network fails
([client.md](client.md)).
`;
  return [head, ...clientServices.map((name) => listFunctions(name, documents[name], services[name]))].join('\n');
}
