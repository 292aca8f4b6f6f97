/** Converts JSON Schema, as zod writes it, to TypeScript. */

export interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly pattern?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
}

export interface Shapes {
  /** A name replaces its shape wherever the shape occurs. */
  render(schema: Schema): string;
  declare(name: string): string;
}

export function shapesOf(named: ReadonlyMap<string, Schema>): Shapes {
  const names = new Map([...named].reverse().map(([name, schema]) => [keyOf(schema), name]));

  const render = (schema: Schema): string => names.get(keyOf(schema)) ?? spell(schema);

  function spell(schema: Schema): string {
    const { type, oneOf, anyOf = oneOf, items, properties, additionalProperties: others } = schema;
    if (schema.const !== undefined) return JSON.stringify(schema.const);
    if (isBoolean(schema.enum)) return "boolean | 'true' | 'false'";
    if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
    if (anyOf !== undefined) return [...new Set(anyOf.map(render))].join(' | ');
    if (typeof type === 'object') return type.map((one) => render({ ...schema, type: one })).join(' | ');
    switch (type) {
      case 'string': {
        const prefix = /^\^([a-z-]+)\[\\s\\S\]\{1,\d+\}\$$/.exec(schema.pattern ?? '')?.[1];
        return prefix === undefined ? 'string' : `\`${prefix}\${string}\``;
      }
      case 'integer':
        return 'number';
      case 'number':
      case 'boolean':
      case 'null':
        return type;
      case 'array':
        return `readonly (${render(items ?? {})})[]`;
      case 'object': {
        const rest = typeof others === 'object' ? render(others) : undefined;
        if (properties === undefined) return `Readonly<Record<string, ${rest ?? 'unknown'}>>`;
        return `{ ${membersOf(schema)} ${rest === undefined ? '' : `readonly [key: string]: ${rest}`} }`;
      }
      case undefined:
        return 'unknown';
      default:
        throw new Error(`no word for ${JSON.stringify(schema)}`);
    }
  }

  const membersOf = ({ properties = {}, required = [] }: Schema): string =>
    Object.entries(properties)
      .map(([name, member]) => {
        const mark = required.includes(name) ? '' : '?';
        return `${commentOf(member.description)}readonly ${name}${mark}: ${render(member)};`;
      })
      .join('\n');

  return {
    render,
    declare(name) {
      const schema = named.get(name) ?? {};
      const isPlain = schema.type === 'object' && schema.properties !== undefined;
      return isPlain ? `export interface ${name} ${spell(schema)}` : `export type ${name} = ${spell(schema)};`;
    },
  };
}

export const commentOf = (text: string | undefined): string => (text === undefined ? '' : `/** ${text} */\n`);

/** Returns the parts of a schema that affect its type. Limits and descriptions do not. */
function keyOf(schema: Schema): string {
  const typeKeys = new Set([
    'type',
    'const',
    'enum',
    'anyOf',
    'oneOf',
    'items',
    'properties',
    'required',
    'additionalProperties',
  ]);
  const strip = (value: unknown, isSchema: boolean): unknown => {
    if (Array.isArray(value)) return value.map((member) => strip(member, isSchema));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .filter(([key]) => !isSchema || typeKeys.has(key))
        .map(([key, member]) => [key, strip(member, !(isSchema && key === 'properties'))]),
    );
  };
  const key = JSON.stringify(strip(schema, true));
  // The shape is too simple to need a name.
  return schema.properties === undefined && schema.anyOf === undefined && key.length < 200
    ? JSON.stringify(schema)
    : key;
}

/** Queries have no booleans: a function sends `true` as text. */
const isBoolean = (values: readonly unknown[] | undefined) =>
  values?.length === 2 && values[0] === 'true' && values[1] === 'false';
