/** `AGENT_MCP_SERVERS`: the MCP servers whose tools the agent has (docs/specification/agent.md#tools-by-setting). */

import { z } from 'zod';
import { parseJson } from '#platform/json.ts';

export interface McpServer {
  readonly name: string;
  readonly url: string;
  /** The values are secrets. */
  readonly headers: Readonly<Record<string, string>>;
  /** Each request carries a token that names the user. */
  readonly identity?: boolean | undefined;
}

const servers = z.record(
  z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$/),
  z.strictObject({
    url: z.url({ protocol: /^https?$/ }),
    headers: z.record(z.string(), z.string()).default({}),
    identity: z.boolean().optional(),
  }),
);

const maxServers = 16;

/** Throws an Error that names the server and the field at fault. It shows no value, because headers are secrets. */
export function readMcpServers(raw: string): readonly McpServer[] {
  const parsed = servers.safeParse(parseJson(raw));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const place = issue?.path.length ? `at \`${issue.path.join('.')}\` ` : '';
    throw new Error(`${place}must be a JSON object: name (1 to 32 of A-Z a-z 0-9 _ -) → { url, headers, identity }`);
  }
  const entries = Object.entries(parsed.data).map(([name, entry]) => ({ name, ...entry }));
  if (entries.length > maxServers) throw new Error(`must name at most ${maxServers} servers`);
  for (const { name, url, headers, identity } of entries) {
    const { username, password } = new URL(url);
    if (username !== '' || password !== '')
      throw new Error(`at \`${name}.url\` must not contain credentials: use headers`);
    if (identity && Object.keys(headers).some((header) => header.toLowerCase() === 'authorization'))
      throw new Error(`at \`${name}.headers\` must not have Authorization: identity sets it`);
    if (!areHeaders(headers)) throw new Error(`at \`${name}.headers\` must contain valid HTTP headers`);
  }
  return entries;
}

/** For the log, which removes secrets: the values, and the credential of `Bearer <credential>` alone. */
export function secretsOfMcpServers(servers: readonly McpServer[]): readonly string[] {
  const values = servers.flatMap(({ headers }) => Object.values(headers));
  return values.flatMap((value) => [value, value.split(' ').at(-1) ?? value]).filter((value) => value.length >= 8);
}

/** Set by the client of the protocol, or by the connection. */
const reserved = /^(?:host|connection|content-.*|transfer-encoding|accept|mcp-.*)$/i;

function areHeaders(headers: Readonly<Record<string, string>>): boolean {
  try {
    new Headers(headers);
    return !Object.keys(headers).some((name) => reserved.test(name));
  } catch {
    return false;
  }
}
