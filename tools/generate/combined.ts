/**
 * docs/openapi.json: the API of all services in one document. Each path names the server of its service. If two services have a path,
 * the second one has the name of its service as a fragment.
 */

import type { ApiDocument, Operation } from '#platform/http/apidocument.ts';
import { version } from '#platform/version.ts';

/** The default ports of `npm start`. */
const ports: Readonly<Record<string, number>> = {
  media: 4001,
  image: 4002,
  auth: 4003,
  agent: 4004,
  memory: 4005,
  content: 4006,
  notify: 4007,
  edge: 4010,
};

type Paths = Record<string, object>;

export function combineDocuments(documents: Readonly<Record<string, ApiDocument>>): object {
  const services = Object.keys(documents);
  const paths: Paths = {};
  for (const [service, document] of Object.entries(documents)) addPaths(paths, service, document, services);
  const all = Object.values(documents);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Atelier',
      version,
      description: 'The API of all services. Each service has its own server.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [serverOf(services[0] ?? '')],
    tags: [...new Map(all.flatMap(({ tags = [] }) => tags.map((tag) => [tag.name, tag]))).values()],
    paths,
    components: {
      securitySchemes: merge(all.map(({ components }) => components?.securitySchemes)),
      schemas: merge(all.map(({ components }) => components?.schemas)),
      responses: merge(all.map(({ components }) => components?.responses)),
    },
  };
}

function addPaths(paths: Paths, service: string, { paths: own = {} }: ApiDocument, services: readonly string[]): void {
  for (const [path, operations] of Object.entries(own)) {
    const isCommon = Object.values<Operation>(operations).some(({ tags }) => tags?.includes('operations'));
    // Every service has these.
    if (isCommon && paths[path] !== undefined) continue;
    paths[paths[path] === undefined ? path : `${path}#${service}`] = {
      servers: (isCommon ? services : [service]).map(serverOf),
      ...operations,
    };
  }
}

const serverOf = (service: string) => ({
  url: `http://127.0.0.1:${ports[service]}`,
  description: `The ${service} service of \`npm start\``,
});

const merge = (parts: readonly (object | undefined)[]) => Object.assign({}, ...parts);
