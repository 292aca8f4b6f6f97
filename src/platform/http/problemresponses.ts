/** The error responses of an operation: one for each status, with its codes. */
import type { ProblemDefinition } from '../problem.ts';
import { problems } from '../problem.ts';
import type { Operation, ResponseObject, Schema } from './apidocument.ts';

type Table = Readonly<Record<string, ProblemDefinition>>;
type Fields = Readonly<Record<string, Readonly<Record<string, Schema>>>>;

const common: Table = problems.table;

/** The codes that follow from the credential and the body of an operation. */
export function impliedCodes({ tags, security = [], requestBody }: Operation): readonly string[] {
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

export interface ProblemResponses {
  readonly responses: Readonly<Record<string, ResponseObject>>;
  /** Responses that `responses` refers to. They have common codes only. */
  readonly shared: Readonly<Record<string, ResponseObject>>;
}

export function describeProblems(codes: readonly string[], own: Table, fields: Fields): ProblemResponses {
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

export const problemSchema: Schema = {
  type: 'object',
  required: ['error', 'message', 'requestId'],
  properties: {
    error: { type: 'string', description: 'A stable code in snake case.' },
    message: { type: 'string', description: 'A sentence for people. The wording can change.' },
    requestId: { type: 'string', description: 'The id of the request in the logs, as in `X-Request-Id`.' },
    issues: {
      type: 'array',
      description: 'The errors of the request by field (400).',
      items: {
        type: 'object',
        required: ['path', 'message'],
        properties: {
          path: { type: 'string', description: 'The field, for example `body.width`.' },
          message: { type: 'string', description: 'The rule that the field violates.' },
        },
      },
    },
  },
};
