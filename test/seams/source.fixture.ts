/** The requests that the source of the server makes, found in its syntax trees. */
import { globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseAst } from 'vite';
import { root } from '../acceptance/running.fixture.ts';

interface Node {
  readonly type: string;
  readonly [name: string]: unknown;
}

export interface FoundRequests {
  /** Below src/. */
  readonly file: string;
  /** Of calls of our services: `POST /v1/uploads`, and `*` where the code does not say it in a literal. */
  readonly endpoints: readonly string[];
  /** It uses `fetch` or a package that makes requests, or has a client for servers of others. */
  readonly hasOthers: boolean;
}

/** The client itself, and two files that hand the calls of others on. */
const wrappers = ['platform/http/client.ts', 'commands/instance.ts', 'commands/records.ts'];
/** Clients of servers of others are made in the same file, apart from this one. */
const foreignReceivers = ['cms', 'channel'];

export function findRequests(): readonly FoundRequests[] {
  return (
    globSync('src/**/*.ts', { cwd: root })
      .map((path) => relative('src', path).split('\\').join('/'))
      // The client runs in applications and the pages in browsers: both have the credential of their user.
      .filter((path) => !/\.(test|testing)\.ts$/.test(path) && !/^client\/|\/web\/|test-issuer|conformance/.test(path))
      .map(readRequests)
      .filter(({ endpoints, hasOthers }) => endpoints.length > 0 || hasOthers)
  );
}

function readRequests(file: string): FoundRequests {
  const text = readFileSync(join(root, 'src', file), 'utf8');
  const nodes = [...walk(parseAst(text, { lang: 'ts' }) as unknown as Node)];
  const isForeign = nodes.some((node) => isProperty(node, 'ours') && textOf(node) === 'false');
  const endpoints = nodes.filter((node) => isCall(node)).map((node) => endpointOf(argumentOf(node)));
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

/** `media.send({ … })`, `onRecords({ … })`; not `reply.send(…)`. */
function isCall({ type, callee, arguments: given }: Node): boolean {
  if (type !== 'CallExpression' || !isNode(callee)) return false;
  if (nameOf(callee) === 'onRecords') return true;
  if (callee.type !== 'MemberExpression' || nameOf(callee.property) !== 'send') return false;
  // Only an answer can be sent without an argument.
  if (!Array.isArray(given) || given.length === 0) return false;
  const receiver = rootOf(callee.object);
  return receiver !== 'reply' && !foreignReceivers.includes(receiver);
}

/** `reply` of `reply.code(200).send(…)`. */
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

/** A literal, a template with `*` for what it inserts, or `*`. */
function textOf({ value }: Node): string {
  if (!isNode(value)) return '*';
  if (value.type === 'Literal') return String(value.value);
  if (value.type !== 'TemplateLiteral') return '*';
  return (value.quasis as readonly { readonly value: { readonly cooked: string } }[])
    .map(({ value: { cooked } }) => cooked)
    .join('*');
}

/** Packages that make requests. */
const senders = /^(undici|nodemailer|@opentelemetry\/exporter-.+|@ai-sdk\/(?!provider$).+)$/;

function isOther({ type, source, importKind, callee }: Node): boolean {
  if (type === 'ImportDeclaration' || type === 'ImportExpression')
    return isNode(source) && senders.test(String(source.value)) && importKind !== 'type';
  return type === 'CallExpression' && ['fetch', 'outgoingFetch'].includes(nameOf(callee));
}

const nameOf = (value: unknown): string => (isNode(value) && typeof value.name === 'string' ? value.name : '');
