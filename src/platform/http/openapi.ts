/** The routes of a service as an OpenAPI 3.1 document. */
import swagger from '@fastify/swagger';
import fastify, { type RouteOptions } from 'fastify';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import type { Accepts } from '../access/access.ts';
import { version } from '../version.ts';
import type { ServerOptions } from './httpserver.ts';
import type { ApiDocument, Operation } from './referencepage.ts';

/** What a guard (platform/access) accepts, as OpenAPI security requirements. */
const securityByAccess: Readonly<Record<Accepts, readonly Readonly<Record<string, readonly string[]>>[]>> = {
  user: [{ accessToken: [] }],
  internal: [{ internalKey: [] }],
  userOrInternal: [{ accessToken: [] }, { internalKey: [] }],
  admin: [{ adminToken: [] }],
};

export async function describeRoutes(
  routes: readonly RouteOptions[],
  { service, description = '' }: Pick<ServerOptions, 'service' | 'description'>,
): Promise<ApiDocument> {
  // The library collects routes as they are added to an instance, so this uses an instance that never listens.
  const app = fastify({ exposeHeadRoutes: false });
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => () => '');
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: `Atelier: ${service}`, version, description },
      components: { securitySchemes },
    },
    convertConstToEnum: false,
    transform: ({ route, ...rest }) => {
      const transformed = jsonSchemaTransform({ route, ...rest });
      const access = route.config?.access;
      return access === undefined
        ? transformed
        : { ...transformed, schema: { ...transformed.schema, security: securityByAccess[access] } };
    },
    transformObject: jsonSchemaTransformObject,
  });
  for (const { method, url, schema, config } of routes)
    if (method !== 'HEAD') app.route({ method, url, schema, config, handler: () => undefined });
  await app.ready();
  return withCommons(app.swagger() as ApiDocument);
}

const securitySchemes = {
  accessToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'The access token of a user.',
  },
  internalKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Internal-Key',
    description: 'The key that servers share. When it is present it decides alone.',
  },
  adminToken: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Admin-Token',
    description: 'The token of operators.',
  },
} as const;

const problemSchema = {
  type: 'object',
  required: ['error', 'message', 'requestId'],
  properties: {
    error: { type: 'string', description: 'A stable code in snake case.' },
    message: { type: 'string', description: 'One sentence for people.' },
    requestId: { type: 'string', description: 'To be named when asking about this answer; also in X-Request-Id.' },
    issues: {
      type: 'array',
      description: 'What is wrong with the request, field by field (400).',
      items: {
        type: 'object',
        required: ['path', 'message'],
        properties: { path: { type: 'string' }, message: { type: 'string' } },
      },
    },
  },
};

const onBehalfParameter = {
  name: 'X-On-Behalf-Of',
  in: 'header',
  required: false,
  description:
    'With `X-Internal-Key`: the id of a user. The request then has the rights of that user, as with an access token, ' +
    'and no others. Ignored without the key.',
  schema: { type: 'string', format: 'uuid' },
} as const;

/** Adds what many operations share: every operation can fail, and an operation for users and servers lets a server act for a user. */
function withCommons(document: ApiDocument): ApiDocument {
  const problem = { $ref: '#/components/responses/Problem' };
  const withShared = (operation: Operation) => ({
    ...operation,
    ...(isForUsersAndServers(operation) && { parameters: [...(operation.parameters ?? []), onBehalfParameter] }),
    responses: { ...operation.responses, default: problem },
  });
  const paths = Object.entries(document.paths ?? {}).map(([path, operations]) => [
    path,
    Object.fromEntries(Object.entries(operations).map(([method, operation]) => [method, withShared(operation)])),
  ]);
  return {
    ...document,
    paths: Object.fromEntries(paths),
    components: {
      ...document.components,
      schemas: { ...document.components?.schemas, Problem: problemSchema },
      responses: {
        Problem: {
          description: 'Any failure.',
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Problem' } } },
        },
      },
    },
  };
}

function isForUsersAndServers({ security = [] }: Operation): boolean {
  const accepted = security.flatMap((schemes) => Object.keys(schemes));
  return accepted.includes('accessToken') && accepted.includes('internalKey');
}
