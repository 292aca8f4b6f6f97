/** The routes of a service and the texts of its reference as an OpenAPI 3.1 document. */
import swagger from '@fastify/swagger';
import fastify, { type FastifySchema, type RouteOptions } from 'fastify';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Accepts } from '../access/access.ts';
import type { ProblemDefinition } from '../problem.ts';
import { problems } from '../problem.ts';
import { version } from '../version.ts';
import type { ApiDocument, ClientFunction, Operation, ResponseObject, Schema } from './apidocument.ts';
import { type ApiReference, type RouteTexts, schemaNames } from './apireference.ts';
import type { ServerOptions } from './httpserver.ts';
import texts from './openapitexts.json' with { type: 'json' };

const defaultDescriptions: Readonly<Record<string, string>> = texts.defaultDescriptions;

/** What a guard (platform/access) accepts, as OpenAPI security requirements. */
const securityByAccess: Readonly<Record<Accepts, readonly Readonly<Record<string, readonly string[]>>[]>> = {
  user: [{ accessToken: [] }],
  internal: [{ internalKey: [] }],
  userOrInternal: [{ accessToken: [] }, { internalKey: [] }],
  admin: [{ adminToken: [] }],
  anyone: [{ accessToken: [] }, { internalKey: [] }, {}],
};

export async function describeRoutes(
  routes: readonly RouteOptions[],
  { service, reference = { description: '' } }: Pick<ServerOptions, 'service' | 'reference'>,
): Promise<ApiDocument> {
  const documented = new Map<string, RouteTexts>();
  // The library collects routes as they are added to an instance, so this uses an instance that never listens.
  const app = fastify({ exposeHeadRoutes: false });
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => () => '');
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: `Atelier: ${service}`,
        version,
        description: reference.description,
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: '/', description: 'The server that this document comes from.' }],
      // They are JSON, so their types are wider than those of the library.
      components: { securitySchemes: schemesOf(reference) as Record<string, never> },
    },
    convertConstToEnum: false,
    transform: ({ route, ...rest }) => {
      const transformed = jsonSchemaTransform({ route, ...rest });
      const text: RouteTexts = route.schema ?? {};
      const url = text.documentedPath ?? transformed.url;
      const problems = [...(route.config?.problems ?? []), ...(text.problems ?? [])];
      const isForeign = text.client?.kind === 'foreign';
      const client = { ...(!isForeign && namesOfTypes(route.schema)), ...text.client };
      documented.set(`${route.method} ${url.replaceAll(/:(\w+)/g, '{$1}')}`, { ...text, problems, client });
      const access = route.config?.access;
      const security =
        access !== undefined ? securityByAccess[access] : text.readsSession ? [{ sessionCookie: [] }] : [];
      return {
        url,
        schema: { ...transformed.schema, operationId: text.id, security },
      };
    },
    transformObject: jsonSchemaTransformObject,
  });
  for (const { method, url, schema, config } of toDocument(routes))
    app.route({ method, url, schema, config, handler: () => undefined });
  await app.ready();
  return complete(app.swagger() as ApiDocument, reference, documented);
}

/** The names that the typed client gives to the body, the query and the response of a route. */
function namesOfTypes({ body, querystring, response }: FastifySchema = {}): ClientFunction {
  const [answer] = Object.values(Object(response));
  const named = Object.entries({ body, query: querystring, answer }).map(([part, schema]) => [
    part,
    schema instanceof z.ZodType ? schemaNames.get(schema)?.name : undefined,
  ]);
  return Object.fromEntries(named.filter(([, name]) => name !== undefined));
}

/** GET routes answer HEAD too. Only a HEAD without GET is an operation. */
function toDocument(routes: readonly RouteOptions[]): readonly RouteOptions[] {
  const methodsOf = ({ method }: RouteOptions) => [method].flat();
  const read = new Set(routes.filter((route) => methodsOf(route).includes('GET')).map(({ url }) => url));
  return routes.flatMap((route) =>
    methodsOf(route)
      .filter((method) => method !== 'HEAD' || !read.has(route.url))
      .map((method) => ({ ...route, method })),
  );
}

const schemesOf = ({ sessionCookie: name }: ApiReference): Readonly<Record<string, unknown>> => ({
  ...texts.securitySchemes,
  ...(name !== undefined && {
    sessionCookie: { type: 'apiKey', in: 'cookie', name, description: 'The session of a browser.' },
  }),
});

const operationsTag = 'Endpoints for monitoring and documentation that every service has.';

/** Adds the texts of the reference, the examples and the error responses. */
function complete(
  document: ApiDocument,
  reference: ApiReference,
  documented: ReadonlyMap<string, RouteTexts>,
): ApiDocument {
  const shared: Record<string, ResponseObject> = {};
  const withTexts = (path: string, method: string, operation: Operation): Operation => {
    const text = documented.get(`${method.toUpperCase()} ${path}`);
    const codes = [...impliedCodes(operation), ...(text?.problems ?? [])];
    const problems = describeProblems(codes, reference.problems ?? {}, reference.problemFields ?? {});
    Object.assign(shared, problems.shared);
    return {
      ...operation,
      ...(Object.keys(text?.client ?? {}).length > 0 && { 'x-client': text?.client }),
      parameters: isForUsersAndServers(operation)
        ? [...(operation.parameters ?? []), texts.onBehalfParameter]
        : operation.parameters,
      requestBody: withExample(operation.requestBody, text?.example),
      responses: { ...describeSuccesses(operation, text), ...withoutTaken(problems.responses, text) },
    };
  };
  const paths = mapValues(document.paths ?? {}, (operations, path) =>
    mapValues(operations, (operation, method) => withTexts(path, method, operation)),
  );
  const used = Object.values(paths)
    .flatMap(Object.values<Operation>)
    .flatMap(namesOfSchemes);
  return {
    ...document,
    tags: Object.entries({ ...reference.tags, operations: operationsTag }).map(([name, description]) => ({
      name,
      description,
    })),
    paths,
    ...(reference.clientTypes && { 'x-client-types': reference.clientTypes }),
    components: {
      ...document.components,
      securitySchemes: Object.fromEntries(Object.entries(schemesOf(reference)).filter(([name]) => used.includes(name))),
      schemas: { ...document.components?.schemas, Problem: texts.problemSchema },
      responses: shared,
    },
  };
}

function describeSuccesses({ responses = {} }: Operation, text: RouteTexts | undefined) {
  const declared = Object.entries(text?.otherResponses ?? {}).map(([status, [description, contentType]]) => [
    status,
    {
      description,
      ...(contentType !== undefined && { content: { [contentType]: { schema: schemaOf(contentType) } } }),
    },
  ]);
  if (declared.length > 0 && Object.values(responses).every(({ content }) => content === undefined))
    return Object.fromEntries(declared);
  const described = Object.entries(responses).map(([status, response]) => [
    status,
    {
      ...response,
      description:
        response.description === 'Default Response' ? (defaultDescriptions[status] ?? '') : response.description,
    },
  ]);
  return { ...Object.fromEntries(described), ...Object.fromEntries(declared) };
}

const schemaOf = (contentType: string) => ({ type: contentType === 'application/json' ? 'object' : 'string' });

/** A service can define the body of a status itself: `GET /ready` returns the states of its engines with 503. */
const withoutTaken = (responses: Readonly<Record<string, ResponseObject>>, text: RouteTexts | undefined) =>
  Object.fromEntries(
    Object.entries(responses).filter(([status]) => text?.otherResponses?.[Number(status)] === undefined),
  );

function withExample(body: Operation['requestBody'], example: unknown): Operation['requestBody'] {
  if (body?.content === undefined || example === undefined) return body;
  return {
    ...body,
    content: Object.fromEntries(Object.entries(body.content).map(([type, media]) => [type, { ...media, example }])),
  };
}

const namesOfSchemes = ({ security = [] }: Operation) => security.flatMap((schemes) => Object.keys(schemes));

const mapValues = <From, To>(record: Readonly<Record<string, From>>, map: (value: From, key: string) => To) =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value, key)]));

function isForUsersAndServers(operation: Operation): boolean {
  const accepted = namesOfSchemes(operation);
  return accepted.includes('accessToken') && accepted.includes('internalKey');
}

// The error responses of an operation: one for each status, with its codes.

type Table = Readonly<Record<string, ProblemDefinition>>;
type Fields = Readonly<Record<string, Readonly<Record<string, Schema>>>>;

const common: Table = problems.table;

/** The codes that follow from the credential and the body of an operation. */
function impliedCodes({ tags, security = [], requestBody }: Operation): readonly string[] {
  if (tags?.includes('operations')) return ['invalid_request', 'internal_error'];
  const credentials = security.flatMap((schemes) => Object.keys(schemes)).filter((name) => name !== 'sessionCookie');
  return [
    'invalid_request',
    ...(credentials.length > 0 ? ['unauthorized'] : []),
    ...(requestBody === undefined ? [] : ['request_timeout', 'payload_too_large', 'unsupported_media_type']),
    ...(credentials.includes('accessToken') ? ['rate_limited'] : []),
    'internal_error',
    'engine_unavailable',
    'overloaded',
    'draining',
  ];
}

interface ProblemResponses {
  readonly responses: Readonly<Record<string, ResponseObject>>;
  /** Responses that `responses` refers to. They have common codes only. */
  readonly shared: Readonly<Record<string, ResponseObject>>;
}

function describeProblems(codes: readonly string[], own: Table, fields: Fields): ProblemResponses {
  const table = { ...common, ...own };
  const byStatus = Map.groupBy(new Set(codes), (code) => {
    const definition = table[code];
    if (definition === undefined) throw new Error(`there is no problem with the code ${code}`);
    return definition.status;
  });
  const shared: Record<string, ResponseObject> = {};
  const responses = [...byStatus].map(([status, codesOfStatus]): [string, ResponseObject] => {
    const response = describeStatus(codesOfStatus, table, fields);
    if (codesOfStatus.some((code) => common[code] === undefined || fields[code] !== undefined))
      return [String(status), response];
    const name = codesOfStatus.map(pascalCase).join('Or');
    shared[name] = response;
    return [String(status), { $ref: `#/components/responses/${name}` }];
  });
  return { responses: Object.fromEntries(responses), shared };
}

function describeStatus(codes: readonly string[], table: Table, fields: Fields): ResponseObject {
  const more = Object.assign({}, ...codes.map((code) => fields[code] ?? {}));
  return {
    description: codes.map((code) => `\`${code}\`: ${table[code]?.message}`).join('\n\n'),
    content: {
      'application/json': {
        schema: {
          allOf: [
            { $ref: '#/components/schemas/Problem' },
            { type: 'object', properties: { error: { enum: codes }, ...more } },
          ],
        },
        examples: Object.fromEntries(codes.map((code) => [code, { value: exampleOf(code, table[code]?.message) }])),
      },
    },
  };
}

const exampleOf = (error: string, message: string | undefined) => ({
  error,
  message,
  requestId: '6f1f0f0e-5a4b-4c3d-9e2f-1a2b3c4d5e6f',
});

const pascalCase = (code: string) => code.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
