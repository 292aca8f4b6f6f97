/** Finds the requests that the server's source makes, in its syntax trees. */
import { globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseAst } from 'vite';
import { root } from '../acceptance/running.fixture.ts';

interface Node {
  readonly type: string;
  readonly [name: string]: unknown;
}

export interface FoundRequests {
  /** Relative to src/. */
  readonly file: string;
  /** Calls of internal services: `POST /v1/uploads`, with `*` for parts that are not literals. */
  readonly endpoints: readonly string[];
  /** The file uses `fetch` or a package that makes requests, or has a client for external servers. */
  readonly hasOthers: boolean;
}

/** The client itself, and three files that forward calls. */
const wrappers = ['platform/http/client.ts', 'commands/instance.ts', 'commands/records.ts', 'console/services.ts'];
/** Clients of external servers are created in the file that uses them, except these. */
const foreignReceivers = ['cms', 'channel'];

export function findRequests(): readonly FoundRequests[] {
  return (
    globSync('src/**/*.ts', { cwd: root })
      .map((path) => relative('src', path).split('\\').join('/'))
      // The client and the console pages run in applications and browsers, with the credential of their user.
      .filter((path) => !/\.(test|testing)\.ts$/.test(path) && !/^client\/|\/web\/|test-issuer|conformance/.test(path))
      .map((file) => requestsIn(file, readFileSync(join(root, 'src', file), 'utf8')))
      .filter(({ endpoints, hasOthers }) => endpoints.length > 0 || hasOthers)
  );
}

export function requestsIn(file: string, text: string): FoundRequests {
  const nodes = [...walk(parseAst(text, { lang: 'ts' }) as unknown as Node)];
  const isForeign = nodes.some((node) => isProperty(node, 'isInternal') && textOf(node) === 'false');
  const endpoints = nodes.flatMap((node) => {
    if (isCall(node)) return endpointOf(argumentOf(node));
    return isNamed(node, 'forward') ? forwardedBy(node) : isNamed(node, 'readFrom') ? readBy(node) : rowsOf(node);
  });
  return {
    file,
    endpoints: isForeign || wrappers.includes(file) ? [] : [...new Set(endpoints)].sort(),
    hasOthers: isForeign || nodes.some(isOther),
  };
}

function* walk(node: Node): Generator<Node> {
  yield node;
  for (const value of Object.values(node))
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) yield* walk(child);
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof Reflect.get(value, 'type') === 'string';

/** Matches `media.send({ … })` and `onRecords({ … })`, but not `reply.send(…)`. */
function isCall({ type, callee, arguments: given }: Node): boolean {
  if (type !== 'CallExpression' || !isNode(callee)) return false;
  if (nameOf(callee) === 'onRecords') return true;
  if (callee.type !== 'MemberExpression' || nameOf(callee.property) !== 'send') return false;
  // Only a reply can be sent without an argument.
  if (!Array.isArray(given) || given.length === 0) return false;
  const receiver = rootOf(callee.object);
  return receiver !== 'reply' && !foreignReceivers.includes(receiver);
}

const isNamed = ({ type, callee }: Node, name: string) => type === 'CallExpression' && nameOf(callee) === name;

/** Of `forward(media, 'GET', '/v1/assets')`. */
function forwardedBy({ arguments: given }: Node): string {
  const [, method, route] = given as readonly Node[];
  return `${textOf({ type: '', value: method })} ${textOf({ type: '', value: route })}`;
}

/** Of `readFrom(media, '/v1/assets')`. */
const readBy = ({ arguments: given }: Node) => `GET ${textOf({ type: '', value: (given as readonly Node[])[1] })}`;

/** Of `addForwards(app, guard, media, [['get', '/api/assets', '/v1/assets', …], …])`, also with spread parts of a row. */
function rowsOf(node: Node): readonly string[] {
  if (!isNamed(node, 'addForwards')) return [];
  return elementsOf((node.arguments as readonly Node[])[3]).map((row) => {
    const [method, , route] = elementsOf(row).map((value) => textOf({ type: '', value }));
    return `${(method ?? '*').toUpperCase()} ${route ?? '*'}`;
  });
}

function elementsOf(node: unknown): readonly Node[] {
  if (!isNode(node)) return [];
  if (node.type === 'TSAsExpression') return elementsOf(node.expression);
  if (node.type !== 'ArrayExpression') return [];
  return (node.elements as readonly Node[]).flatMap((one) =>
    one.type === 'SpreadElement' ? elementsOf(one.argument) : one,
  );
}

/** Returns `reply` for `reply.code(200).send(…)`. */
function rootOf(value: unknown): string {
  if (!isNode(value)) return '';
  if (value.type === 'CallExpression') return rootOf(value.callee);
  return value.type === 'MemberExpression' ? rootOf(value.object) : nameOf(value);
}

function argumentOf({ arguments: given }: Node): readonly Node[] {
  const [first] = Array.isArray(given) ? given : [];
  return isNode(first) && first.type === 'ObjectExpression' ? (first.properties as readonly Node[]) : [];
}

function endpointOf(properties: readonly Node[]): string {
  const read = (name: string) => properties.filter((node) => isProperty(node, name)).map(textOf)[0];
  return `${read('method') ?? '*'} ${(read('route') ?? read('path') ?? '*').split('?')[0]}`;
}

const isProperty = ({ type, key }: Node, name: string) => type === 'Property' && nameOf(key) === name;

/** Returns a literal, a template with `*` for its expressions, or `*`. */
function textOf({ value }: Node): string {
  if (!isNode(value)) return '*';
  if (value.type === 'Literal') return String(value.value);
  if (value.type !== 'TemplateLiteral') return '*';
  return (value.quasis as readonly { readonly value: { readonly cooked: string } }[])
    .map(({ value: { cooked } }) => cooked)
    .join('*');
}

/** Packages that make requests, and the module that loads parts of undici. */
const senders = /^(undici|nodemailer|@opentelemetry\/exporter-.+|@ai-sdk\/(?!provider$).+)$/;
/** Modules of Node that connect, by these functions or as a whole. */
const connectors = /^(node:)?(https?|http2|net|tls|dgram)$/;
const connecting = ['request', 'get', 'connect', 'createConnection', 'createSocket', 'Agent', 'Socket'];
const senderFunctions = ['fetch', 'outgoingFetch'];
const senderClasses = ['WebSocket', 'EventSource'];

function isOther(node: Node): boolean {
  const { type, source, importKind, callee } = node;
  if (type === 'ImportDeclaration' && importKind !== 'type') return imports(node);
  if (type === 'ImportExpression')
    return isNode(source) && [senders, connectors].some((one) => one.test(textIn(source)));
  if (type === 'NewExpression') return senderClasses.includes(nameOf(callee));
  if (type !== 'CallExpression' || !isNode(callee)) return false;
  const isGlobal = callee.type === 'MemberExpression' && nameOf(callee.object) === 'globalThis';
  return senderFunctions.includes(nameOf(isGlobal ? callee.property : callee));
}

function imports({ source, specifiers }: Node): boolean {
  const from = isNode(source) ? textIn(source) : '';
  if (senders.test(from)) return true;
  return (specifiers as readonly Node[]).some(({ type, imported, importKind }) => {
    if (importKind === 'type') return false;
    // To pass the function on is to make requests as well.
    if (nameOf(imported) === 'outgoingFetch') return true;
    return connectors.test(from) && (type !== 'ImportSpecifier' || connecting.includes(nameOf(imported)));
  });
}

const textIn = ({ value }: Node) => (typeof value === 'string' ? value : '');
const nameOf = (value: unknown): string => (isNode(value) && typeof value.name === 'string' ? value.name : '');
